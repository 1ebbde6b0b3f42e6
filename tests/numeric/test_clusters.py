"""Kernel k-means against every way to cluster a few rows, and prices that keep clusters small."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from dcsvm.numeric import Kernel, kernel_kmeans
from dcsvm.numeric.clusters import fair_prices, nearest


def distortion(gram, assignment):
    """The sum of squared distances to the means in feature space, straight from the definition."""
    total = 0.0
    for label in set(assignment):
        mine = np.flatnonzero(np.asarray(assignment) == label)
        inside = gram[np.ix_(mine, mine)]
        total += np.trace(inside) - inside.sum() / len(mine)
    return total


def least_distortion(gram, clusters):
    """The best of all ways to give each row one of the clusters."""
    return min(
        distortion(gram, (0, *others)) for others in product(range(clusters), repeat=len(gram) - 1)
    )


@pytest.mark.parametrize("kernel", [Kernel("rbf", gamma=0.7), Kernel("linear"), Kernel("poly")])
@pytest.mark.parametrize("clusters", [2, 3])
def test_the_best_of_many_starts_is_the_best_of_all_ways_to_cluster(kernel, clusters):
    for seed in range(4):
        generator = np.random.default_rng(seed)
        gram = kernel(generator.normal(size=(8, 2)))
        found = kernel_kmeans(gram, clusters, generator, starts=60)
        assert found.distortion == pytest.approx(least_distortion(gram, clusters), abs=1e-9)
        assert found.distortion == pytest.approx(distortion(gram, found.assignment), abs=1e-9)


def test_with_the_linear_kernel_it_is_k_means():
    generator = np.random.default_rng(3)
    X = np.concatenate([generator.normal(centre, 0.3, size=(40, 2)) for centre in (0, 4, 9)])
    found = kernel_kmeans(X @ X.T, 3, generator, starts=5)
    assert found.distortion == pytest.approx(KMeans(3, n_init=5, random_state=0).fit(X).inertia_)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**16),
    st.integers(1, 40),
    st.integers(1, 6),
    st.sampled_from([1.0, 1.5, np.inf]),
)
def test_every_row_is_where_distance_and_price_are_least(seed, rows, clusters, balance):
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(rows, 2)))
    gram = Kernel("rbf", gamma=0.5)(X)
    found = kernel_kmeans(gram, clusters, generator, balance=balance)
    costs = np.diagonal(gram)[:, None] - 2.0 * gram @ found.means + found.inner
    np.testing.assert_array_equal(found.assignment, nearest(costs + found.prices))
    np.testing.assert_allclose(found.means.sum(axis=0), 1.0)
    np.testing.assert_allclose(
        found.inner, np.diagonal(found.means.T @ gram @ found.means), atol=1e-12
    )
    assert set(found.assignment) == set(range(len(found.prices)))
    assert len(found.prices) <= clusters


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 80), st.integers(2, 8), st.floats(1.0, 3.0))
def test_prices_leave_no_column_too_many_rows(seed, rows, columns, balance):
    costs = np.random.default_rng(seed).random((rows, columns)) * np.arange(1, columns + 1)
    capacity = np.ceil(balance * rows / columns)
    prices = fair_prices(costs, capacity)
    assert np.bincount(nearest(costs + prices)).max() <= capacity


def test_columns_that_are_not_too_full_cost_nothing():
    assert fair_prices(np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0).tolist() == [0.0, 0.0]


def test_rows_that_are_alike_stay_together_whatever_the_balance():
    gram = np.ones((10, 10))
    found = kernel_kmeans(gram, 3, np.random.default_rng(0), balance=1.0)
    assert found.assignment.tolist() == [0] * 10
    assert fair_prices(np.tile([[0.0, 1.0]], (6, 1)), 3.0).shape == (2,)


def test_balanced_clusters_are_alike_in_size():
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.normal(0, 0.2, size=(180, 2)), generator.normal(5, 1, (20, 2))])
    gram = Kernel("rbf", gamma=0.5)(X)
    free = np.bincount(kernel_kmeans(gram, 4, np.random.default_rng(1)).assignment)
    fair = np.bincount(kernel_kmeans(gram, 4, np.random.default_rng(1), balance=1.2).assignment)
    assert free.max() > 1.2 * 50
    assert fair.max() <= 1.2 * 50


def test_of_equal_distances_the_first_counts_rounding_aside():
    assert nearest(np.array([[1.0 + 1e-15, 1.0], [2.0, 1.0], [1.0, 1.0 + 1e-15]])).tolist() == [
        0,
        1,
        0,
    ]
