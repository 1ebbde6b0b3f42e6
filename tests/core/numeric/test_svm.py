"""The dual solver against libsvm, against its optimality conditions, and at the extremes."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from dcsvm.numeric import ConvergenceWarning, Kernel, as_gram, backend, rbf_gram, solve, solve_path
from dcsvm.numeric.svm import feasible

TOL = 1e-3


def problem(rows, features, seed, noise=0.1):
    """Rows of two overlapping classes, some labels flipped, some rows repeated."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=rows) > 0, 1.0, -1.0)
    y[random.uniform(size=rows) < noise] *= -1
    X[: rows // 10] = X[rows // 2 : rows // 2 + rows // 10]
    y[:2] = 1.0, -1.0
    return X, y


def objective(K, y, alphas):
    beta = y * alphas
    return 0.5 * beta @ K @ beta - alphas.sum()


def gap(K, y, alphas, C):
    """The largest violation of the optimality conditions, by direct formula."""
    beta = y * alphas
    gradient = K @ beta - y
    upper, lower = np.where(y > 0, C, 0.0), np.where(y > 0, 0.0, -C)
    return gradient[beta > lower].max(initial=-np.inf) - gradient[beta < upper].min(initial=np.inf)


def libsvm(K, y, C, tol):
    """Alphas and decision values that libsvm gives for a precomputed kernel."""
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=float), y.shape))
    model = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=500).fit(
        K, y, sample_weight=bounds
    )
    alphas = np.zeros(len(y))
    alphas[model.support_] = np.abs(model.dual_coef_[0])
    return alphas, model.decision_function(K)


def check_against_libsvm(K, y, C):
    """Objective, optimality and labels, as good as libsvm's in the exact matrix."""
    moderate = np.max(C) <= 1e3
    # At libsvm's usual tolerance two good answers may differ by more than 1e-5 in a tiny problem.
    tol = 1e-5 if moderate else TOL
    expected, decisions = libsvm(K, y, C, tol)
    theirs = objective(K, y, expected)
    precise = solve(K, y, C, tol=1e-5)
    ours = objective(K, y, precise.alphas)
    assert moderate or ours <= theirs + 1e-7 * abs(theirs)
    if moderate:
        assert abs(ours - theirs) <= 1e-5 * abs(theirs)
        own = K @ (y * precise.alphas) + precise.bias
        away = np.abs(decisions) > 0.01
        assert (np.sign(own[away]) == np.sign(decisions[away])).all()

    solution = solve(K, y, C, tol=TOL)
    bounds = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
    assert solution.converged
    assert (solution.alphas >= 0).all()
    assert (solution.alphas <= bounds * (1 + 1e-12)).all()
    assert abs(y @ solution.alphas) <= 1e-9 * bounds.max() * len(y)
    assert solution.objective == pytest.approx(objective(K, y, solution.alphas), rel=1e-5)
    theirs = gap(K, y, libsvm(K, y, C, TOL)[0], bounds)
    assert gap(K, y, solution.alphas, bounds) <= max(TOL, theirs) * 1.05


@given(
    rows=st.integers(4, 120),
    features=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-6, 0.01, 1.0, 10.0, 100.0, 1e3, 1e4]),
    gamma=st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6]),
)
@settings(max_examples=200, deadline=None)
def test_it_is_as_good_as_libsvm_on_random_problems(rows, features, seed, C, gamma):
    X, y = problem(rows, features, seed)
    check_against_libsvm(Kernel("rbf", gamma=gamma)(X), y, C)


@given(rows=st.integers(4, 60), seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 10.0, 1e3]))
@settings(max_examples=40, deadline=None)
def test_the_numpy_solver_is_as_good_as_libsvm(rows, seed, C):
    X, y = problem(rows, 3, seed)
    with backend.numpy_only():
        check_against_libsvm(Kernel("rbf", gamma=0.5)(X), y, C)


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["linear", "poly", "laplacian", "trbf"]),
    C=st.sampled_from([0.1, 10.0]),
)
@settings(max_examples=40, deadline=None)
def test_other_kernels_and_weighted_rows_agree_with_libsvm(seed, kind, C):
    X, y = problem(60, 4, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, size=60)
    check_against_libsvm(Kernel(kind, gamma=0.3, degree=2, coef0=1.0)(X), y, C * weights)


@pytest.mark.parametrize("C", [1.0, 100.0, 1e5])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_real_leaves_are_solved_as_well_as_by_libsvm(dataset, gamma, C):
    data = dataset("covtype")
    X = data["X"][:700].astype(float)
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1)
    check_against_libsvm(Kernel("rbf", gamma=gamma)(X), np.where(data["y"][:700] == 4, 1.0, -1), C)


def test_both_implementations_reach_the_same_optimum():
    if backend.implementation() != "native":
        pytest.skip("the compiled library is not built here")
    X, y = problem(150, 3, seed=5)
    for gamma, C in ((0.01, 1e3), (1.0, 1.0), (1.0, 1e4), (50.0, 10.0)):
        gram = rbf_gram(X, gamma)
        native = solve(gram, y, C, tol=1e-5)
        with backend.numpy_only():
            plain = solve(gram, y, C, tol=1e-5)
        assert native.objective == pytest.approx(plain.objective, rel=1e-7)
        assert native.bias == pytest.approx(plain.bias, abs=1e-3)


def test_a_path_over_c_gives_what_single_solves_give(either):
    X, y = problem(100, 3, seed=1)
    K, Cs = Kernel("rbf", gamma=0.5)(X), [0.01, 0.1, 1.0, 10.0, 1000.0]
    for C, solution in zip(Cs, solve_path(K, y, Cs, tol=1e-5), strict=True):
        assert solution.converged
        assert solution.objective == pytest.approx(solve(K, y, C, tol=1e-5).objective, rel=1e-7)
        assert gap(K, y, solution.alphas, C) < 2e-5


def test_a_warm_start_at_the_solution_needs_no_work(either):
    X, y = problem(100, 3, seed=2)
    K = Kernel("rbf", gamma=0.5)(X)
    cold = solve(K, y, 10.0)
    warm = solve(K, y, 10.0, start=cold.alphas)
    assert warm.iterations <= 2 < cold.iterations
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1e-3, 1.0, 1e3]))
@settings(max_examples=50, deadline=None)
def test_any_start_is_made_feasible(seed, scale):
    random = np.random.default_rng(seed)
    X, y = problem(30, 2, seed)
    bounds = random.uniform(0.0, 2.0, size=30)
    start = scale * random.normal(size=30)
    projected = feasible(start, y, bounds)
    assert (projected >= 0).all()
    assert (projected <= bounds).all()
    assert abs(y @ projected) < 1e-12
    K = Kernel("rbf")(X)
    expected = solve(K, y, bounds, tol=1e-6).objective
    assert solve(K, y, bounds, start=start, tol=1e-6).objective == pytest.approx(expected, 1e-6)


def test_a_feasible_start_is_left_as_it_is():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    alphas = np.array([1.0, 0.25, 0.75, 0.5])
    np.testing.assert_array_equal(feasible(alphas, y, np.ones(4)), alphas)


def test_one_class_gives_its_own_sign_everywhere(either):
    K = Kernel("rbf")(np.arange(5.0)[:, None])
    for sign in (1.0, -1.0):
        solution = solve(K, np.full(5, sign), 1.0)
        assert solution.converged
        assert not solution.alphas.any()
        assert solution.bias == sign


def test_no_rows_are_solved_too(either):
    assert len(solve(np.empty((0, 0)), [], 1.0).alphas) == 0


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_hard_parts_end_well(either, C, gamma):
    random = np.random.default_rng(0)
    repeated = np.repeat(random.normal(size=(20, 3)), 3, axis=0)
    contradicting = np.tile([1.0, -1.0, 1.0], 20)
    constant = np.ones((60, 3))
    tiny = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    for X, y in (
        (repeated, contradicting),
        (constant, contradicting),
        (tiny, np.array([1.0, -1.0])),
        (repeated, np.where(repeated[:, 0] > 0, 1.0, -1.0)),
    ):
        K = Kernel("rbf", gamma=gamma)(X)
        solution = solve(K, y, C, max_seconds=20.0)
        assert solution.converged
        assert np.isfinite(solution.alphas).all()
        assert gap(K, y, solution.alphas, C) < 1.1e-3
        assert np.isfinite(solution.bias)


def test_a_matrix_that_is_not_positive_semidefinite_ends_too(either):
    X, y = problem(60, 3, seed=3)
    solution = solve(Kernel("sigmoid", gamma=2.0, coef0=-1.0)(X), y, 1.0)
    assert solution.converged


def test_a_limit_of_iterations_warns_instead_of_hanging(either):
    X, y = problem(100, 2, seed=4, noise=0.3)
    with pytest.warns(ConvergenceWarning, match="1 of 1 problems reached a limit"):
        solution = solve(Kernel("rbf")(X), y, 1e6, max_iterations=50)
    assert not solution.converged
    assert solution.gap > TOL
    assert (solution.alphas >= 0).all()


def test_a_limit_of_time_warns_instead_of_hanging(either):
    X, y = problem(400, 2, seed=4, noise=0.3)
    begin = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="limit of iterations or time"):
        solve(Kernel("rbf")(X), y, 1e8, max_seconds=1e-3, tol=1e-9)
    assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60])
def test_the_scale_of_the_kernel_is_only_a_unit(either, scale):
    X, y = problem(60, 3, seed=6)
    K = Kernel("poly", degree=3, coef0=1.0)(X)
    plain, scaled = solve(K, y, 0.1), solve(K * scale, y, 0.1 / scale)
    assert plain.converged
    np.testing.assert_array_equal(scaled.alphas * scale, plain.alphas)


def test_a_constant_added_to_the_matrix_changes_nothing(either):
    X, y = problem(80, 3, seed=7)
    K = Kernel("rbf", gamma=0.2)(X)
    np.testing.assert_allclose(
        solve(K + 1e3, y, 5.0, tol=1e-5).objective, solve(K, y, 5.0, tol=1e-5).objective, rtol=1e-6
    )


def test_the_same_call_gives_the_same_bits(either):
    X, y = problem(150, 3, seed=8)
    first, second = (solve(rbf_gram(X, 1.0), y, 100.0) for _ in range(2))
    np.testing.assert_array_equal(first.alphas, second.alphas)
    assert first.bias == second.bias


def test_wrong_arguments_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="is square"):
        as_gram(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not finite"):
        as_gram(np.array([[np.nan]]))
    with pytest.raises(ValueError, match=r"\+1 and -1"):
        solve(np.eye(2), [0, 1], 1.0)
    with pytest.raises(ValueError, match="positive and increasing"):
        solve_path(np.eye(2), [1, -1], [1.0, 0.1])
