"""Kernels and explicit feature maps against brute force."""

import itertools
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dcsvm.numeric import Kernel, manhattan_distances, products, squared_distances

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


def value(kernel, x, y):
    """k(x, y) spelled out for two vectors."""
    inner, gamma = float(x @ y), kernel.gamma
    if kernel.kind == "rbf":
        return np.exp(-gamma * np.sum((x - y) ** 2))
    if kernel.kind == "laplacian":
        return np.exp(-gamma * np.sum(np.abs(x - y)))
    if kernel.kind == "poly":
        return (gamma * inner + kernel.coef0) ** kernel.degree
    if kernel.kind == "sigmoid":
        return np.tanh(gamma * inner + kernel.coef0)
    if kernel.kind == "trbf":
        series = sum((2 * gamma * inner) ** k / factorial(k) for k in range(kernel.degree + 1))
        return np.exp(-gamma * (x @ x + y @ y)) * series
    return inner**2 if kernel.kind == "callable" else inner


def rows(count, features, seed=0):
    return np.random.default_rng(seed).normal(size=(count, features))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
def test_every_kernel_equals_its_formula(kernel):
    X, Y = rows(9, 4), rows(6, 4, seed=1)
    expected = [[value(kernel, x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
def test_the_diagonal_is_that_of_the_matrix(kernel):
    X = rows(9, 4)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
def test_sparse_rows_give_what_dense_ones_give(kernel):
    X, Y = rows(9, 4), rows(6, 4, seed=1)
    X[X < 0.3] = 0.0
    Y[Y < 0.3] = 0.0
    left, right = sparse.csr_matrix(X), sparse.csr_array(Y)
    for a, b in ((left, right), (X, right), (left, Y)):
        np.testing.assert_allclose(kernel(a, b), kernel(X, Y), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(left), kernel.diagonal(X), rtol=1e-10)
    expected = [[value(kernel, x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(left, right), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
def test_blocks_put_together_are_the_matrix(kernel):
    X, Y = rows(50, 4), rows(6, 4, seed=1)
    blocks = list(kernel.in_blocks(X, Y, budget_bytes=1000))
    assert len(blocks) > 5
    assert [part.start for part, _ in blocks] == [0, *(part.stop for part, _ in blocks[:-1])]
    np.testing.assert_allclose(np.vstack([block for _, block in blocks]), kernel(X, Y), rtol=1e-12)


def test_a_precomputed_kernel_may_be_sparse():
    gram = np.where(rows(5, 5) > 0, rows(5, 5), 0.0)
    kernel, thin = Kernel("precomputed"), sparse.csr_matrix(gram)
    np.testing.assert_array_equal(kernel(thin), gram)
    np.testing.assert_array_equal(kernel(thin, np.array([3, 0])), gram[:, [3, 0]])
    np.testing.assert_array_equal(kernel.diagonal(thin), np.diagonal(gram))


def test_a_precomputed_kernel_takes_columns_of_the_given_matrix():
    gram = rows(4, 7)
    kernel = Kernel("precomputed")
    np.testing.assert_array_equal(kernel(gram), gram)
    np.testing.assert_array_equal(kernel(gram, np.array([2, 5])), gram[:, [2, 5]])
    np.testing.assert_array_equal(kernel.diagonal(gram[:4, :4]), np.diagonal(gram))


@given(scale=st.sampled_from([1e-6, 1.0, 1e6]), shift=st.sampled_from([0.0, 1.0, 1e5]))
@settings(deadline=None)
def test_squared_distances_keep_their_digits(scale, shift):
    X = rows(12, 3) * scale + shift * scale
    X[5] = X[2]
    X[7] = X[2] + 1e-9 * scale
    exact = ((X[:, None] - X[None]) ** 2).sum(-1)
    for result in (squared_distances(X), squared_distances(X, X.copy())):
        assert (result >= 0).all()
        assert result[5, 2] == 0.0
        np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-20 * scale**2)
    assert (np.diagonal(squared_distances(X)) == 0.0).all()


def test_distances_are_shared_by_every_gamma():
    X, Y = rows(9, 4), rows(6, 4, seed=1)
    for kind, shared in (("rbf", squared_distances), ("laplacian", manhattan_distances)):
        for gamma in (1e-6, 1.0, 1e6):
            kernel = Kernel(kind, gamma=gamma)
            np.testing.assert_array_equal(kernel.from_distances(shared(X, Y)), kernel(X, Y))
            np.testing.assert_array_equal(kernel.from_common(kernel.common(X, Y)), kernel(X, Y))


def test_products_are_shared_by_every_degree():
    X, Y = rows(9, 4), rows(6, 4, seed=1)
    kernel = Kernel("poly", degree=2)
    np.testing.assert_array_equal(kernel.from_common(products(X, Y)), kernel(X, Y))


@pytest.mark.parametrize("features", [1, 2, 5])
@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_the_truncated_map_has_the_kernel_as_its_products(features, order):
    X, Y = rows(8, features), rows(5, features, seed=1)
    kernel = Kernel("trbf", gamma=0.3, degree=order)
    left, right = kernel.feature_map(X), kernel.feature_map(sparse.csr_matrix(Y))
    assert left.shape == (8, comb(features + order, order))
    np.testing.assert_allclose(left @ right.T, kernel(X, Y), rtol=1e-11, atol=1e-14)


def test_the_truncated_map_holds_every_monomial_by_its_formula():
    X, gamma, order = rows(6, 3), 0.3, 3
    mapped = Kernel("trbf", gamma=gamma, degree=order).feature_map(X)
    powers = [p for p in itertools.product(range(order + 1), repeat=3) if sum(p) <= order]
    powers.sort(key=lambda p: (sum(p), tuple(-exponent for exponent in p)))
    for column, p in zip(mapped.T, powers, strict=True):
        weight = (2 * gamma) ** sum(p) / np.prod([factorial(exponent) for exponent in p])
        expected = np.exp(-gamma * (X**2).sum(axis=1)) * np.sqrt(weight) * np.prod(X**p, axis=1)
        np.testing.assert_allclose(column, expected, rtol=1e-12, atol=1e-15)


def test_a_long_series_is_the_rbf_kernel():
    X = rows(8, 3)
    exact = Kernel("rbf", gamma=0.3)(X)
    np.testing.assert_allclose(Kernel("trbf", gamma=0.3, degree=40)(X), exact, rtol=1e-9)


def test_a_wrong_kernel_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="kind"):
        Kernel("gaussian")
    with pytest.raises(ValueError, match="no other kind"):
        Kernel("rbf", function=lambda X, Y: X @ Y.T)
    with pytest.raises(ValueError, match="'trbf' has one"):
        Kernel("rbf").feature_map(rows(2, 2))
    with pytest.raises(ValueError, match="not a function of a distance"):
        Kernel("linear").from_distances(rows(2, 2))


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 0), (0, 4, 2), (37, 50, 7), (130, 21, 3)])
def test_manhattan_distances_are_sums_of_absolute_differences(shape):
    n, m, features = shape
    X, Y = rows(n, features), rows(m, features, seed=1)
    X[:, :1] = Y[:, :1] = 0.5  # a column that counts for nothing
    expected = np.abs(X[:, None] - Y[None]).sum(axis=2)
    assert np.allclose(manhattan_distances(X, Y), expected, rtol=1e-13, atol=0.0)
    assert np.array_equal(
        manhattan_distances(sparse.csr_array(X), sparse.csr_array(Y)), manhattan_distances(X, Y)
    )
