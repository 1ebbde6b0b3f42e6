"""Pairs, rests, grids and large problems: shared work gives what separate work gives."""

import itertools
import time

import numpy as np
import pytest
from dual_formulas import gap
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm.numeric.expansion.expansion import prepare
from dcsvm.numeric.expansion.pair_votes import vote
from dcsvm_plugins.learners.kernel_svm import large_solver as large
from dcsvm_plugins.learners.kernel_svm import multiclass
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve
from dcsvm_plugins.learners.kernel_svm.gram import as_gram
from dcsvm_plugins.learners.kernel_svm.large_solver import solve_large
from dcsvm_plugins.learners.kernel_svm.multiclass import (
    PairLayout,
    RestLayout,
    solve_all,
    solve_grid,
)
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_pairs_large


def classes(rows=150, count=4, features=3, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(count, size=rows)
    y[:count] = np.arange(count)
    return random.normal(size=(count, features))[y] + random.normal(size=(rows, features)), y


def solve_on_matrix(K, y, kind, C, **options):
    """The solution of one C on a kernel matrix."""
    layout = kind.of(y)
    betas, outcomes = solve_all(as_gram(K), layout, [C], **options)
    return layout.cell(betas[0], outcomes[0])


def test_pairs_have_libsvms_coefficients_and_biases(either):
    X, y = classes()
    model = SVC(C=5.0, gamma=0.3, tol=1e-6).fit(X, y)
    pairs = solve_on_matrix(Kernel("rbf", gamma=0.3)(X), y, PairLayout, 5.0, tol=1e-6).compress()
    np.testing.assert_array_equal(pairs.order, model.support_)
    np.testing.assert_array_equal(pairs.counts, model.n_support_)
    np.testing.assert_allclose(pairs.coefficients, model.dual_coef_.T, atol=1e-3)
    np.testing.assert_allclose(pairs.biases, model.intercept_, atol=1e-3)


def test_a_grid_equals_single_solves_cell_by_cell(either):
    X, y = classes(rows=90)
    pairs = list(itertools.combinations(range(4), 2))
    cells = solve_grid(Kernel("rbf"), X, y, [0.1, 1.0, 100.0], [0.05, 2.0], tol=1e-5)
    for C, gamma, cell in cells:
        K = Kernel("rbf", gamma=gamma)(X)
        for pair, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((y == a) | (y == b))
            alone = solve(K[np.ix_(rows, rows)], np.where(y[rows] == a, 1, -1), C, tol=1e-5)
            assert cell.objectives[pair] == pytest.approx(alone.objective, rel=1e-6)
            assert cell.biases[pair] == pytest.approx(alone.bias, abs=2e-3)


@pytest.mark.parametrize("kind", ["rbf", "laplacian", "poly", "linear", "trbf", "callable"])
def test_every_kernel_has_its_grid(either, kind):
    X, y = classes(rows=60)
    function = (lambda A, B: A @ B.T) if kind == "callable" else None
    kernel = Kernel(kind, coef0=1.0, degree=2, function=function)
    cells = list(solve_grid(kernel, X, y, [0.1, 1.0], [0.1, 0.5], scheme="rest"))
    assert [(C, gamma) for C, gamma, _ in cells] == [(0.1, 0.1), (1, 0.1), (0.1, 0.5), (1, 0.5)]
    for C, gamma, cell in cells:
        one = Kernel(kind, gamma=gamma, coef0=1.0, degree=2, function=function)
        expected = solve_on_matrix(one(X), y, RestLayout, C)
        np.testing.assert_allclose(cell.objectives, expected.objectives, rtol=1e-3)
        assert cell.converged.all()


def test_sparse_rows_have_the_grid_of_dense_ones(either):
    X, y = classes(rows=60)
    X[X < 0.2] = 0.0
    dense = list(solve_grid(Kernel("rbf"), X, y, [1.0], [0.1, 0.5]))
    thin = list(solve_grid(Kernel("rbf"), sparse.csr_matrix(X), y, [1.0], [0.1, 0.5]))
    for (_, _, a), (_, _, b) in zip(dense, thin, strict=True):
        np.testing.assert_allclose(a.objectives, b.objectives, rtol=1e-5)


def test_one_against_rest_is_each_class_against_the_others(either):
    X, y = classes(rows=80)
    K = Kernel("rbf", gamma=0.3)(X)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=80)
    rest = solve_on_matrix(K, y, RestLayout, 2.0, weights=weights, tol=1e-5)
    for k in range(4):
        signs = np.where(y == k, 1.0, -1.0)
        alone = solve(K, signs, 2.0 * weights, tol=1e-5)
        assert rest.objectives[k] == pytest.approx(alone.objective, rel=1e-6)
        assert (rest.coefficients[:, k] * signs >= 0).all()


def test_two_classes_and_a_missing_class_are_fine(either):
    X, y = classes(count=2)
    assert solve_on_matrix(Kernel("rbf")(X), y, PairLayout, 1.0).coefficients.shape == (150, 1)
    pairs = solve_on_matrix(Kernel("rbf")(X), 2 * y, PairLayout, 1.0)
    assert pairs.counts[1] == 0
    assert pairs.converged.all()


def test_an_unknown_scheme_is_refused():
    X, y = classes()
    with pytest.raises(ValueError, match="'pairs' or 'rest'"):
        next(solve_grid(Kernel("rbf"), X, y, [1.0], [1.0], scheme="codes"))


@pytest.fixture
def small_working_sets(monkeypatch):
    """Working sets so small that some hundred rows are a large problem."""
    monkeypatch.setattr(large, "LEAST_WORKING_SET", 64)


@pytest.mark.usefixtures("small_working_sets")
@pytest.mark.parametrize("kind", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("cache_bytes", [0, 1 << 24])
def test_working_sets_reach_the_optimum_of_the_full_matrix(either, kind, cache_bytes):
    X, y = classes(rows=400, count=2)
    signs, kernel = np.where(y == 0, 1.0, -1.0), Kernel(kind, gamma=0.5)
    bounds = np.random.default_rng(0).uniform(0.5, 3.0, size=400)
    full = solve(kernel(X), signs, bounds, tol=1e-4)
    parts = solve_large(kernel, X, signs, bounds, tol=1e-4, cache_bytes=cache_bytes)
    assert parts.converged
    assert parts.objective == pytest.approx(full.objective, rel=1e-5)
    assert parts.bias == pytest.approx(full.bias, abs=1e-2)
    assert abs(signs @ parts.alphas) < 1e-9


@pytest.mark.usefixtures("small_working_sets")
def test_a_large_problem_can_start_from_any_alphas(either):
    X, y = classes(rows=400, count=2)
    signs, kernel = np.where(y == 0, 1.0, -1.0), Kernel("rbf", gamma=0.5)
    cold = solve_large(kernel, X, signs, 2.0)
    warm = solve_large(kernel, X, signs, 2.0, start=cold.alphas)
    assert warm.iterations < 10 < cold.iterations
    wild = solve_large(kernel, sparse.csr_matrix(X), signs, 2.0, start=np.full(400, 5.0))
    assert wild.objective == pytest.approx(cold.objective, rel=1e-3)


@pytest.mark.usefixtures("small_working_sets")
def test_threads_do_not_change_a_bit(either, monkeypatch):
    monkeypatch.setattr("dcsvm_plugins.learners.kernel_svm.size_dispatch.FULL_ROWS", 300)
    X, y = classes(rows=600, count=3)
    alone = solve_pairs_large(Kernel("rbf"), X, y, 3.0)
    many = solve_pairs_large(Kernel("rbf"), X, y, 3.0, threads=3)
    np.testing.assert_array_equal(alone.coefficients, many.coefficients)
    signs = np.where(y == 0, 1.0, -1.0)
    one, two = (solve_large(Kernel("rbf"), X, signs, 3.0, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.alphas, two.alphas)


def test_whole_data_sets_are_solved_as_by_libsvm(either, monkeypatch):
    monkeypatch.setattr("dcsvm_plugins.learners.kernel_svm.size_dispatch.FULL_ROWS", 150)
    monkeypatch.setattr(large, "LEAST_WORKING_SET", 64)
    X, y = classes(rows=300, count=3)
    model = SVC(C=5.0, gamma=0.3, tol=1e-5).fit(X, y)
    pairs = solve_pairs_large(Kernel("rbf", gamma=0.3), X, y, 5.0, tol=1e-5)
    np.testing.assert_allclose(pairs.biases, model.intercept_, atol=1e-3)
    again = solve_pairs_large(Kernel("rbf", gamma=0.3), X, y, 5.0, start=pairs)
    assert again.iterations.sum() < 10
    small = pairs.compress()
    expansion = prepare(
        *(Kernel("rbf", gamma=0.3), X[small.order], small.coefficients),
        *(small.biases, small.counts),
    )
    assert (vote(expansion, X) != model.predict(X)).mean() < 0.01


@pytest.mark.usefixtures("small_working_sets")
def test_a_large_problem_that_reaches_a_limit_warns():
    X, y = classes(rows=400, count=2)
    with pytest.warns(ConvergenceWarning, match="solve_large: 1 of 1"):
        solve_large(Kernel("rbf"), X, np.where(y == 0, 1, -1), 100.0, max_iterations=5)


@pytest.mark.usefixtures("small_working_sets")
def test_a_large_problem_that_runs_out_of_time_warns(either):
    X, y = classes(rows=600, count=2)
    begin = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="limit of iterations or time"):
        solution = solve_large(
            Kernel("rbf"), X, np.where(y == 0, 1, -1), 1e6, tol=1e-9, max_seconds=0.05
        )
    assert not solution.converged
    assert time.monotonic() - begin < 20.0


@pytest.mark.parametrize("kind", ["rbf", "laplacian", "poly"])
def test_the_gap_of_a_large_problem_is_that_of_the_exact_kernel(kind):
    X, y = classes(rows=500, count=2, features=2)
    signs, kernel = np.where(y == 0, 1.0, -1.0), Kernel(kind, gamma=0.3, degree=2, coef0=1.0)
    for C in (1e3, 1e5):
        for rows in (X, sparse.csr_matrix(X)):
            solution = solve_large(kernel, rows, signs, C)
            assert solution.converged
            assert gap(kernel(X), signs, solution.alphas, C) < 1e-3


@pytest.mark.parametrize("scheme", ["pairs", "rest"])
def test_a_flat_kernel_starts_from_the_gamma_before(either, monkeypatch, scheme):
    random = np.random.default_rng(3)
    labels = random.integers(3, size=90)
    X = random.random((90, 2)) + 0.3 * labels[:, None]
    Cs, gammas = [1.0, 10.0, 100.0, 1000.0], [0.001, 0.01, 0.1]

    def solved():
        cells = list(solve_grid(Kernel("rbf"), X, labels, Cs, gammas, scheme=scheme))
        objectives = np.array([cell.objectives for _, _, cell in cells])
        assert all(cell.converged.all() for _, _, cell in cells)
        return objectives, sum(int(cell.iterations.sum()) for _, _, cell in cells)

    objectives, iterations = solved()
    monkeypatch.setattr(multiclass, "FLAT", 1.0)
    alone, more = solved()
    np.testing.assert_allclose(objectives, alone, rtol=1e-5)
    assert iterations < 0.9 * more
