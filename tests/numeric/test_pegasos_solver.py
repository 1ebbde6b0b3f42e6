"""Pegasos against the optimum of its own objective, and C against numpy."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from dcsvm.numeric import (
    Float32Rows,
    PegasosSettings,
    best_bias,
    fit_pegasos,
    implementation,
    solve_pegasos,
)
from dcsvm.numeric.linear.pegasos_solver import _random_batches
from dcsvm.numeric.native import numpy_only

LAMBDA = 0.01


def overlapping(n=200, d=5, seed=0):
    generator = np.random.default_rng(seed)
    signs = np.where(generator.random(n) < 0.3, 1.0, -1.0)
    return generator.normal(size=(n, d)) + 0.8 * signs[:, None], signs


def objective(weights, bias, X, signs, masses):
    hinge = np.maximum(0.0, 1.0 - signs * (X @ weights + bias))
    return LAMBDA / 2 * weights @ weights + (masses * hinge).sum() / masses.sum()


def learned(X, signs, masses=None, **settings):
    order = np.random.default_rng(1).permutation(len(signs))
    wanted = PegasosSettings(LAMBDA, **{"iterations": 20_000, "bias_rate": 1.0, **settings})
    return fit_pegasos(Float32Rows.of(X), signs, masses, order, wanted)


@pytest.mark.parametrize("batch", [1, 16, 1000])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_objective_comes_within_one_percent_of_the_primal_optimum(weighted, batch):
    X, signs = overlapping()
    masses = 0.25 + np.arange(200) % 4 if weighted else np.ones(200)
    # The same problem for a dual solver whose bias is free: C of row i is masses[i] / (lambda M).
    exact = SVC(kernel="linear", C=1.0 / (LAMBDA * masses.sum()), tol=1e-8)
    exact.fit(X, signs, masses)
    least = objective(exact.coef_[0], exact.intercept_[0], X, signs, masses)
    found = learned(X, signs, masses, batch=batch)
    reached = objective(found.weights, found.bias, X, signs, masses)
    assert least - 1e-7 <= reached <= 1.01 * least


def test_weights_count_by_their_proportions_only():
    X, signs = overlapping()
    masses = 1.0 + np.arange(200) % 3
    one, other = learned(X, signs, masses), learned(X, signs, 8 * masses)
    assert (one.weights == other.weights).all()


def test_sparse_rows_are_learned_as_dense_ones():
    X, signs = overlapping()
    X[np.abs(X) < 0.5] = 0.0
    dense, csr = learned(X, signs), learned(sparse.csr_array(X), signs)
    np.testing.assert_allclose(csr.weights, dense.weights, atol=0.02)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("average", [True, False], ids=["averaged", "last"])
@pytest.mark.parametrize("project", [True, False], ids=["projected", "free"])
def test_numpy_takes_the_steps_of_c(average, project, form):
    if implementation() == "numpy":
        pytest.skip("the library is not built")
    X, signs = overlapping()
    settings = {"iterations": 50, "batch": 32, "average": average, "project": project}
    compiled = learned(form(X), signs, **settings)
    with numpy_only():
        twin = learned(form(X), signs, **settings)
    np.testing.assert_allclose(twin.weights, compiled.weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(twin.bias, compiled.bias, rtol=1e-3, atol=1e-3)
    assert twin.iterations == compiled.iterations == 50


def test_the_normal_stays_in_the_ball_that_holds_the_optimum():
    X, signs = overlapping()
    first = learned(100 * X, signs, iterations=1, average=False)
    free = learned(100 * X, signs, iterations=1, average=False, project=False)
    assert np.linalg.norm(first.weights) == pytest.approx(1 / np.sqrt(LAMBDA), rel=1e-5)
    assert np.linalg.norm(free.weights) > 2 / np.sqrt(LAMBDA)


@pytest.mark.parametrize("in_numpy", [False, True])
def test_a_step_smaller_than_the_tolerance_is_the_last(in_numpy):
    X, signs = overlapping()
    settings = {"batch": 200, "iterations": 2000, "tolerance": 0.05}
    if in_numpy:
        with numpy_only():
            found = learned(X, signs, **settings)
    else:
        found = learned(X, signs, **settings)
    assert 1 < found.iterations < 2000


def test_the_best_bias_is_better_than_any_other():
    X, signs = overlapping()
    masses = 1.0 + np.arange(200) % 3
    scores = X @ np.ones(5) / 5
    best = best_bias(scores, signs, masses)

    def loss(bias):
        return (masses * np.maximum(0.0, 1.0 - signs * (scores + bias))).sum()

    assert all(loss(best) <= loss(bias) + 1e-9 for bias in np.linspace(-4, 4, 2001))


def test_numbers_too_large_for_single_precision_are_clipped():
    rows = Float32Rows.of(np.array([[1e300, -1e300, 1.0]]))
    largest = np.finfo(np.float32).max
    assert rows.dense[0, :3].tolist() == [largest, -largest, 1.0]
    assert Float32Rows.of(sparse.csr_array([[1e300, 0.0]])).sparse.data.tolist() == [largest]


def run_equations(X, pulls, regularization, steps, tolerance, tau):
    """Equations (8) and (9) of the H-LSVM paper with batches of all rows, step by step."""
    w, b, signs = np.zeros(X.shape[1]), 0.0, np.sign(pulls)
    for t in range(1, steps + 1):
        inside = signs * (X @ w + b) < 1
        eta, before = 1 / (regularization * t), w
        w = w - eta * (regularization * w - (pulls * inside) @ X / len(X))
        b = b + tau * eta * (pulls * inside).sum() / len(X)
        size = np.linalg.norm(w)
        w = w if size <= 1 / np.sqrt(regularization) else w / (np.sqrt(regularization) * size)
        if np.linalg.norm(w - before) <= tolerance:
            break
    return w, b, t


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(8))
def test_full_batches_take_the_steps_of_the_paper_to_the_last_one(seed, form):
    generator = np.random.default_rng(seed)
    n, d = int(generator.integers(5, 200)), int(generator.integers(1, 20))
    signs = np.where(generator.random(n) < 0.4, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    X = generator.normal(size=(n, d)) + generator.uniform(0, 2) * signs[:, None] + 0.3
    X = X.astype(np.float32).astype(float)
    pulls = (signs / (2 * np.where(signs > 0, (signs > 0).sum(), (signs < 0).sum()))).astype(
        np.float32
    )
    regularization = 10.0 ** -generator.integers(2, 7)
    w, b, steps = run_equations(X, pulls, regularization, 20_000, 1e-4, 0.01)
    settings = PegasosSettings(regularization, n, 20_000, 1e-4, 0.01, True, False, random=1)
    found = solve_pegasos(Float32Rows.of(form(X)), pulls, np.arange(n), settings)
    assert found.iterations == steps
    np.testing.assert_allclose(found.weights, w, atol=1e-6 * np.linalg.norm(w))
    assert found.bias == pytest.approx(b, abs=1e-5)


def test_random_batches_are_drawn_alike_in_numpy_and_find_the_optimum():
    X, signs = overlapping()
    exact = learned(X, signs, batch=200, average=True)
    drawn = learned(X, signs, batch=20, random=3)
    other = learned(X, signs, batch=20, random=4)
    np.testing.assert_allclose(drawn.weights, exact.weights, atol=0.03)
    assert (drawn.weights != other.weights).any()
    few = {"batch": 20, "random": 3, "iterations": 30}
    compiled = learned(X, signs, **few)
    with numpy_only():
        twin = learned(X, signs, **few)
    np.testing.assert_allclose(twin.weights, compiled.weights, rtol=1e-3, atol=1e-3)


def test_a_batch_of_random_rows_holds_each_row_once():
    batches = _random_batches(50, 20, 9)
    drawn = np.array([next(batches) for _ in range(2000)])
    assert all(len(set(batch)) == 20 for batch in drawn[:100])
    counts = np.bincount(drawn.ravel(), minlength=50)
    assert counts.min() > 700
    assert counts.max() < 900
