"""Linear SVMs by their dual: at the optimum of the objective that they promise to minimise."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from dcsvm.numeric import Float32Rows
from dcsvm.numeric.native import numpy_only
from dcsvm_plugins.decomposers.oblique_tree.dual_coordinate_descent import (
    DualSettings,
    fit_linear_dual,
)


def blobs(n=120, d=4):
    generator = np.random.default_rng(0)
    signs = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return generator.normal(size=(n, d)) + 0.7 * signs[:, None], signs


def objective(w, bias, X, signs, masses, regularization):
    hinge = np.maximum(0.0, 1.0 - signs * (X @ w + bias))
    return 0.5 * regularization * (w @ w + bias**2) + np.average(hinge, weights=masses)


def least(X, signs, masses, regularization):
    """The optimum by LIBLINEAR, whose bias is penalised in the same way."""
    C = 1.0 / (regularization * len(signs))
    exact = LinearSVC(C=C, loss="hinge", tol=1e-8, max_iter=1_000_000, random_state=0)
    exact.fit(X, signs, masses / masses.mean())
    return objective(exact.coef_[0], exact.intercept_[0], X, signs, masses, regularization)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("implementation", ["compiled", "numpy"])
@pytest.mark.parametrize("regularization", [1e-2, 1e-1])
def test_the_optimum_is_reached_within_a_thousandth(form, implementation, regularization):
    X, signs = blobs()
    masses = 1.0 + np.arange(len(signs)) % 4
    settings = DualSettings(regularization, 1e-4, 2000)
    if implementation == "numpy":
        with numpy_only():
            plane = fit_linear_dual(Float32Rows.of(form(X)), signs, masses, settings)
    else:
        plane = fit_linear_dual(Float32Rows.of(form(X)), signs, masses, settings)
    found = objective(plane.weights, plane.bias, X, signs, masses, regularization)
    best = least(X, signs, masses, regularization)
    assert best - 1e-6 <= found <= best * 1.001


def test_the_scale_of_the_weights_does_not_matter():
    X, signs = blobs()
    masses = 1.0 + np.arange(len(signs)) % 4
    planes = [
        fit_linear_dual(Float32Rows.of(X), signs, k * masses, DualSettings(1e-2))
        for k in (1.0, 8.0)
    ]
    np.testing.assert_array_equal(planes[0].weights, planes[1].weights)


def test_passes_are_bounded():
    X, signs = blobs()
    assert (
        fit_linear_dual(Float32Rows.of(X), signs, None, DualSettings(1e-4, 0.0, 7)).iterations == 7
    )
