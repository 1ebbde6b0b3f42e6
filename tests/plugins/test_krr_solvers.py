"""Kernel ridge regression against scikit-learn's and against leaving rows out for real."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.krr.ridge_path import decompose, ridge_path
from dcsvm_plugins.learners.krr.shifted_systems import (
    FEW_COLUMNS,
    ONE_BY_ONE,
    Factors,
    solve_shifted,
)


def rows(count=40, features=3, outputs=2, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, features)), random.normal(size=(count, outputs))


@pytest.mark.parametrize("gamma", [1e-4, 0.3, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_equals_scikit_learn_cell_by_cell(gamma, weighted):
    X, Y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X)) if weighted else None
    gram = Kernel("rbf", gamma=gamma)(X)
    for model in ridge_path(gram, Y, [1e-3, 0.1, 10.0], weights):
        expected = KernelRidge(alpha=model.ridge, kernel="rbf", gamma=gamma)
        expected.fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(gram @ model.coefficients, expected.predict(X), atol=1e-7)


@pytest.mark.parametrize("gamma", [1e-4, 0.3, 100.0])
def test_left_out_rows_are_predicted_as_by_a_fit_without_them(gamma):
    X, Y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    K = Kernel("rbf", gamma=gamma)(X)
    [model] = ridge_path(K, Y, [0.1], weights)
    for row in (0, 7, 39):
        kept = np.delete(np.arange(len(X)), row)
        [part] = ridge_path(K[np.ix_(kept, kept)], Y[kept], [0.1], weights[kept])
        predicted = K[row, kept] @ part.coefficients
        np.testing.assert_allclose(model.left_out[row], predicted, atol=1e-7)


def test_a_matrix_of_low_rank_is_decomposed_by_its_factor():
    X, Y = rows(count=60, features=2)
    spectrum = decompose(Kernel("linear")(X))
    assert len(spectrum.values) <= 3
    expected = KernelRidge(alpha=0.5, kernel="linear").fit(X, Y).predict(X)
    [model] = ridge_path(Kernel("linear")(X), Y, [0.5])
    np.testing.assert_allclose(X @ X.T @ model.coefficients, expected, atol=1e-9)
    inverse = np.linalg.inv(X @ X.T + 0.5 * np.eye(60))
    np.testing.assert_allclose(spectrum.diagonal(0.5), np.diagonal(inverse), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, ONE_BY_ONE + 3, FEW_COLUMNS + 3])
@pytest.mark.parametrize("gamma", 10.0 ** np.arange(-4, 5))
def test_every_ridge_is_solved_as_well_as_by_a_direct_solver(outputs, gamma):
    X, Y = rows(count=300, features=2, outputs=outputs)
    X[250:] = X[:50]
    K = Kernel("rbf", gamma=gamma)(X)
    ridges = 10.0 ** np.arange(-4, 5)
    for ridge, found in zip(ridges, solve_shifted(K, Y, ridges), strict=True):
        whole = K + ridge * np.eye(300)
        error = np.linalg.norm(whole @ found - Y, axis=0)
        scale = np.linalg.norm(K, 2) * np.linalg.norm(found, axis=0) + np.linalg.norm(Y, axis=0)
        assert (error <= 1e-14 * scale).all()
        expected = np.linalg.solve(whole, Y)
        np.testing.assert_allclose(K @ found, K @ expected, atol=1e-6)


def test_targets_that_repeat_or_vanish_are_solved_too():
    X, Y = rows(count=100, outputs=1)
    K = Kernel("rbf", gamma=0.5)(X)
    right = np.hstack([Y, Y, 0.0 * Y])
    for ridge, found in zip((1e-3, 1.0), solve_shifted(K, right, [1e-3, 1.0]), strict=True):
        expected = np.linalg.solve(K + ridge * np.eye(100), right)
        np.testing.assert_allclose(found, expected, atol=1e-8)
        np.testing.assert_array_equal(Factors(K).solve(0.0 * Y, ridge), 0.0 * Y)


@pytest.mark.filterwarnings("error")
def test_huge_entries_and_an_indefinite_matrix_are_solved_without_single_precision():
    _, Y = rows(count=30, outputs=1)
    huge = 1e60 * np.eye(30)
    np.testing.assert_allclose(Factors(huge).solve(Y, 1e60), Y / 2e60, rtol=1e-12)
    indefinite = np.diag(np.linspace(-3.0, 5.0, 30))
    np.testing.assert_allclose(
        Factors(indefinite).solve(Y, 0.1)[:, 0], Y[:, 0] / (np.diagonal(indefinite) + 0.1)
    )


def test_wrong_arguments_are_refused_with_the_reason():
    _, Y = rows()
    with pytest.raises(ValueError, match="rows of weight zero"):
        ridge_path(np.eye(40), Y, [1.0], np.zeros(40))
    with pytest.raises(ValueError, match="do not fit"):
        ridge_path(np.eye(3), Y, [1.0])
    with pytest.raises(ValueError, match="positive, got 0"):
        ridge_path(np.eye(40), Y, [0.0])
