"""Gram matrices and cached rows of the solvers against brute force."""

import numpy as np
import pytest
from scipy import sparse

from dcsvm.numeric import Kernel, distances_within, products
from dcsvm_plugins.learners.kernel_svm.gram import as_gram, gram_from_distances, rbf_gram, rbf_rows
from dcsvm_plugins.learners.kernel_svm.row_cache import KernelRows

KERNELS = [
    Kernel("rbf", gamma=0.3),
    Kernel("linear"),
    Kernel("poly", gamma=0.5, degree=3, coef0=0.0),
    Kernel("poly", gamma=0.5, degree=2, coef0=1.5),
    Kernel("laplacian", gamma=0.2),
    Kernel("sigmoid", gamma=0.1, coef0=-0.3),
    Kernel("trbf", gamma=0.4, degree=3),
    Kernel("callable", function=lambda X, Y: np.asarray(products(X, Y)) ** 2),
]


def rows(n, features, seed=0):
    return np.random.default_rng(seed).normal(size=(n, features))


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 30.0, 1e6])
def test_a_gram_matrix_holds_the_kernel_to_single_and_its_entries_to_double_precision(
    either, gamma
):
    X = rows(40, 5)
    X[7] = X[3]
    expected = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    every = np.arange(40)
    distances = distances_within(X)
    np.testing.assert_allclose(distances, ((X[:, None] - X[None]) ** 2).sum(-1), rtol=1e-9)
    for gram in (
        rbf_gram(X, gamma),
        gram_from_distances(distances, gamma),
        as_gram(expected),
    ):
        full = gram.scale * (gram.values.astype(float) + gram.shift)
        np.testing.assert_allclose(full, expected, atol=1.2e-7)
        exact = gram.scale * (gram.exact(every, every) + gram.shift)
        np.testing.assert_allclose(exact, expected, atol=1e-14)
    # Of a tiny gamma all digits are kept: what the solver works on is the matrix less one.
    tiny = np.array([[np.expm1(-gamma * np.sum((x - y) ** 2)) for y in X] for x in X])
    np.testing.assert_allclose(rbf_rows(X, None, gamma), tiny, rtol=4e-7, atol=1e-30)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("cache_bytes", [0, 1 << 20])
def test_kernel_rows_of_large_problems_are_those_of_the_matrix(either, kernel, cache_bytes):
    X = rows(50, 4)
    for form in (X, sparse.csr_matrix(X)):
        kept = KernelRows(kernel, form, cache_bytes, 5, None)
        expected = kernel(X) - kept.shift
        chosen = np.array([3, 40, 7, 7 + 20, 11])
        size = np.abs(expected).max()
        square = kept.square(chosen)[:, :5]
        np.testing.assert_allclose(square, expected[np.ix_(chosen, chosen)], atol=2e-7 * size)
        steps, f = np.random.default_rng(0).normal(size=50), np.zeros(kept.stride)
        kept.add(np.arange(50), steps, f)
        np.testing.assert_allclose(f[:50], steps @ expected, atol=3e-6 * size)
