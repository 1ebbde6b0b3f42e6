"""The rows nearest to boxes: compiled and by numpy, against asking every row."""

import numpy as np
import pytest
from scipy import sparse

from dcsvm_plugins.decomposers.tree.box_neighbors import BoxNeighbors


def boxes_of(X, cuts):
    """Rows sorted into slabs of the first feature, and a second cut in the last slab."""
    home = np.searchsorted(cuts, X[:, 0])
    low = np.full((len(cuts) + 2, X.shape[1]), -np.inf)
    high = -low
    low[1 : len(cuts) + 1, 0] = high[: len(cuts), 0] = cuts
    low[-1, 0] = cuts[-1]
    high[-2, 1] = low[-1, 1] = 0.0
    home[(home == len(cuts)) & (X[:, 1] > 0)] += 1
    return [np.flatnonzero(home == box) for box in range(len(low))], low, high


def by_asking_all(X, inside, low, high, counts):
    for rows, bottom, top, count in zip(inside, low, high, counts, strict=True):
        gaps = np.maximum(np.maximum(bottom - X, X - top), 0)
        distance = (gaps**2).sum(axis=1)
        outside = np.setdiff1d(np.arange(len(X)), rows)
        yield np.sort(outside[np.argsort(distance[outside], kind="stable")[:count]])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e40, 1e120])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 100.0])
def test_the_nearest_rows_are_those_found_by_asking_all(scale, share):
    X = scale * np.random.default_rng(0).normal(size=(500, 3))
    inside, low, high = boxes_of(X, scale * np.array([-1.0, -0.2, 0.1, 0.9]))
    counts = np.array([round(share * len(rows)) for rows in inside])
    found = BoxNeighbors(X, inside, low, high).nearest(counts)
    for rows, expected in zip(found, by_asking_all(X, inside, low, high, counts), strict=True):
        assert np.array_equal(rows, expected)


def test_of_rows_at_one_distance_the_first_are_taken():
    X = np.random.default_rng(1).integers(-3, 4, size=(400, 2)).astype(float)
    inside, low, high = boxes_of(X, np.array([-1.5, 0.5]))
    counts = np.full(len(inside), 45)
    found = BoxNeighbors(X, inside, low, high).nearest(counts)
    for rows, expected in zip(found, by_asking_all(X, inside, low, high, counts), strict=True):
        assert np.array_equal(rows, expected)


def test_sparse_rows_and_the_numpy_implementation_find_the_same(monkeypatch):
    X = np.random.default_rng(2).normal(size=(300, 4)).round(1)
    X[np.abs(X) < 0.5] = 0.0
    inside, low, high = boxes_of(X, np.array([-0.55, 0.75]))
    counts = np.array([len(rows) // 2 for rows in inside])
    compiled = BoxNeighbors(X, inside, low, high).nearest(counts)
    thin = BoxNeighbors(sparse.csr_array(X), inside, low, high).nearest(counts)
    monkeypatch.setattr("dcsvm.numeric.native.library", None)
    plain = BoxNeighbors(X, inside, low, high).nearest(counts)
    for first, second, third in zip(compiled, thin, plain, strict=True):
        assert np.array_equal(first, second)
        assert np.array_equal(first, third)


def test_a_single_box_has_nothing_around_it():
    X = np.ones((5, 2))
    box = BoxNeighbors(X, [np.arange(5)], np.full((1, 2), -np.inf), np.full((1, 2), np.inf))
    assert [rows.tolist() for rows in box.nearest(np.array([3]))] == [[]]
