"""The dual solver against its optimality conditions, at the extremes, and from any start."""

import itertools
import time

import numpy as np
import pytest
from dual_formulas import exact_rbf, gap
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from dcsvm import Problem, build
from dcsvm.base.seed import Seed
from dcsvm.numeric import Kernel, native
from dcsvm_plugins.learners.kernel_svm.dual_solvers import make_feasible, solve, solve_path
from dcsvm_plugins.learners.kernel_svm.gram import as_gram, rbf_gram

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


def test_both_implementations_reach_the_same_optimum():
    if native.implementation() != "native":
        pytest.skip("the compiled library is not built here")
    X, y = problem(150, 3, seed=5)
    for gamma, C in ((0.01, 1e3), (1.0, 1.0), (1.0, 1e4), (50.0, 10.0)):
        gram = rbf_gram(X, gamma)
        compiled = solve(gram, y, C, tol=1e-5)
        with native.numpy_only():
            plain = solve(gram, y, C, tol=1e-5)
        assert compiled.objective == pytest.approx(plain.objective, rel=1e-7)
        assert compiled.bias == pytest.approx(plain.bias, abs=1e-3)


@pytest.mark.parametrize("kind", ["rbf", "linear", "poly", "laplacian", "trbf"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_margins_obey_the_optimality_conditions_row_by_row(either, kind, C):
    X, y = problem(120, 3, seed=11)
    K = Kernel(kind, gamma=0.4, degree=2, coef0=1.0)(X)
    bounds = C * np.random.default_rng(1).uniform(0.2, 1.0, size=120)
    solution = solve(K, y, bounds)
    alphas = solution.alphas
    margins = y * (K @ (y * alphas) + solution.bias)
    assert (margins[alphas == 0.0] >= 1.0 - TOL).all()
    assert (margins[alphas == bounds] <= 1.0 + TOL).all()
    assert (np.abs(margins[(alphas > 0.0) & (alphas < bounds)] - 1.0) <= TOL).all()
    assert {0.0} < set(alphas)
    assert solution.gap == pytest.approx(gap(K, y, alphas, bounds), abs=0.1 * TOL)
    # Nothing in reach is better: the objective does not fall towards any other feasible point.
    beta, random = y * alphas, np.random.default_rng(2)
    gradient = K @ beta - y
    for _ in range(50):
        other = y * make_feasible(random.uniform(size=120) * bounds, y, bounds)
        assert gradient @ (other - beta) >= -TOL * np.abs(other - beta).sum()


def test_a_path_over_c_gives_what_single_solves_give(either):
    X, y = problem(100, 3, seed=1)
    K, Cs = Kernel("rbf", gamma=0.5)(X), [0.01, 0.1, 1.0, 10.0, 1000.0]
    for C, solution in zip(Cs, solve_path(K, y, Cs, tol=1e-5), strict=True):
        assert solution.converged
        assert solution.objective == pytest.approx(solve(K, y, C, tol=1e-5).objective, rel=1e-7)
        assert gap(K, y, solution.alphas, C) < 1e-5


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
    projected = make_feasible(start, y, bounds)
    assert (projected >= 0).all()
    assert (projected <= bounds).all()
    assert abs(y @ projected) < 1e-12
    K = Kernel("rbf")(X)
    expected = solve(K, y, bounds, tol=1e-6).objective
    assert solve(K, y, bounds, start=start, tol=1e-6).objective == pytest.approx(expected, 1e-6)


def test_a_feasible_start_is_left_as_it_is():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    alphas = np.array([1.0, 0.25, 0.75, 0.5])
    np.testing.assert_array_equal(make_feasible(alphas, y, np.ones(4)), alphas)


@pytest.mark.parametrize("C", [1e5, 1e6])
def test_directions_without_curvature_do_not_run_in_circles(C):
    if native.implementation() != "native":
        pytest.skip("too slow without the compiled library")
    # One feature and a wide kernel: a matrix of rank ten or so, whose float32 copy has full rank.
    for seed, gamma in itertools.product(range(2), (0.1, 1.0, 5.0)):
        X, y = problem(150, 1, seed, noise=0.2)
        K = exact_rbf(X, gamma)
        for gram in (K, rbf_gram(X, gamma)):
            solution = solve(gram, y, C)
            assert solution.converged
            assert gap(K, y, solution.alphas, C) < TOL


def test_the_stop_is_the_stricter_the_fewer_the_rows(either):
    gaps = {}
    for rows in (40, 400):
        X, y = problem(rows, 3, seed=9)
        K = exact_rbf(X, 0.5)
        gaps[rows] = gap(K, y, solve(K, y, 1.0).alphas, 1.0)
    assert gaps[40] < 0.2 * TOL
    assert gaps[400] < 0.5 * TOL


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
        assert gap(K, y, solution.alphas, C) < 1e-3
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
    with pytest.raises(ValueError, match="must be square"):
        as_gram(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not finite"):
        as_gram(np.array([[np.nan]]))
    with pytest.raises(ValueError, match=r"\+1 and -1"):
        solve(np.eye(2), [0, 1], 1.0)
    with pytest.raises(ValueError, match="positive and increasing"):
        solve_path(np.eye(2), [1, -1], [1.0, 0.1])


@pytest.mark.parametrize("implementation", ["native", "numpy"])
def test_newton_steps_help_where_few_rows_stay_active(implementation, monkeypatch):
    if implementation == "numpy":
        monkeypatch.setattr(native, "library", None)
    x = np.array([1.30400005, 0.94708096, -0.70373524, -1.26542147, -0.62327446])
    x = np.append(x, [0.04132598, -2.32503077])
    labels = np.array([0, 0, 2, 0, 0, 1, 0])
    y = np.concatenate([labels, labels[::-1]])  # every row occurs with two labels
    rows = Problem(np.tile(x, 2)[:, None], y, 3, Seed(0))
    model = build("learner", "kernel_svm", kernel="linear", tol=1e-8).fit(rows)
    assert model.facts["iterations"] < 100_000
