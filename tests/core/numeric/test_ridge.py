"""Kernel ridge regression against scikit-learn's and against leaving rows out for real."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from dcsvm.numeric import Kernel
from dcsvm.numeric.ridge import decompose, ridge_grid, solve_ridge


def rows(count=40, features=3, outputs=2, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, features)), random.normal(size=(count, outputs))


@pytest.mark.parametrize("gamma", [1e-4, 0.3, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_grid_equals_scikit_learn_cell_by_cell(gamma, weighted):
    X, Y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X)) if weighted else None
    for ridge, width, model in ridge_grid(
        Kernel("rbf"), X, Y, [1e-3, 0.1, 10.0], [gamma], weights=weights
    ):
        expected = KernelRidge(alpha=ridge, kernel="rbf", gamma=width)
        expected.fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(
            Kernel("rbf", gamma=width)(X) @ model.coefficients, expected.predict(X), atol=1e-7
        )


@pytest.mark.parametrize("gamma", [1e-4, 0.3, 100.0])
def test_left_out_rows_are_predicted_as_by_a_fit_without_them(gamma):
    X, Y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    K = Kernel("rbf", gamma=gamma)(X)
    model = solve_ridge(decompose(K, Y, weights), 0.1)
    for row in (0, 7, 39):
        kept = np.delete(np.arange(len(X)), row)
        part = decompose(K[np.ix_(kept, kept)], Y[kept], weights[kept])
        predicted = K[row, kept] @ solve_ridge(part, 0.1).coefficients
        np.testing.assert_allclose(model.left_out[row], predicted, atol=1e-7)


def test_a_matrix_of_low_rank_is_decomposed_by_its_factor():
    X, Y = rows(count=60, features=2)
    spectrum = decompose(Kernel("linear")(X), Y)
    assert len(spectrum.values) <= 3
    expected = KernelRidge(alpha=0.5, kernel="linear").fit(X, Y).predict(X)
    fitted = X @ X.T @ solve_ridge(spectrum, 0.5).coefficients
    np.testing.assert_allclose(fitted, expected, atol=1e-9)


def test_wrong_arguments_are_refused_with_the_reason():
    _, Y = rows()
    with pytest.raises(ValueError, match="weigh nothing"):
        decompose(np.eye(40), Y, np.zeros(40))
    with pytest.raises(ValueError, match="do not fit"):
        decompose(np.eye(3), Y)
    with pytest.raises(ValueError, match="positive, not 0"):
        solve_ridge(decompose(np.eye(40), Y), 0.0)
