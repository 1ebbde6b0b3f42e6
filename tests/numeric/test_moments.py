"""Means, covariances and their directions, against NumPy's."""

import numpy as np
import pytest
from scipy import sparse

from dcsvm.numeric import block_products, covariance, directions, means

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 5)) @ GENERATOR.normal(size=(5, 5)) + 2.0
HOME = np.arange(300) % 3
WEIGHTS = 1 + np.arange(300) % 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_means_and_covariances_count_a_weight_as_repeats(form):
    rows, again = form(X), np.repeat(X, WEIGHTS, axis=0)
    weights = WEIGHTS.astype(float)
    np.testing.assert_allclose(means(rows, weights)[0], again.mean(axis=0))
    around = covariance(rows, weights, means(rows, weights))
    np.testing.assert_allclose(around, np.cov(again.T, bias=True))


def test_rows_may_have_homes():
    centres = means(X, None, HOME, 4)
    expected = [X[home == HOME].mean(axis=0) for home in range(3)]
    np.testing.assert_allclose(centres[:3], expected)
    assert (centres[3] == 0).all()
    within = np.mean([np.cov(X[home == HOME].T, bias=True) for home in range(3)], axis=0)
    np.testing.assert_allclose(covariance(X, None, centres, HOME), within)


def test_directions_come_by_their_values_with_a_sign_of_their_own():
    S = np.cov(X.T)
    V = directions(S)
    values = np.diag(V.T @ S @ V)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S)[::-1])
    assert (V[np.abs(V).argmax(axis=0), np.arange(5)] > 0).all()
    assert V.flags.c_contiguous


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_block_products_are_summed_inner_products(form):
    place, block = np.array([0, 1, 2, 0, 1]), np.array([0, 0, 0, 1, 1])
    padded = np.zeros((2, 300, 3))
    padded[block, :, place] = X.T
    expected = np.einsum("n,inb,jnb->ij", WEIGHTS, padded, padded)
    found = block_products(form(X), WEIGHTS.astype(float), place, block, 2, 3)
    np.testing.assert_allclose(found, expected)
