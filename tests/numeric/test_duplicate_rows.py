"""Rows that repeat: condensed against `np.unique`, and left alone where that does not pay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dcsvm.numeric import duplicate_rows, merge_duplicates


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let matrices of any size be worth a look."""
    monkeypatch.setattr(duplicate_rows, "LARGE", 1)
    monkeypatch.setattr(duplicate_rows, "ONE_OF", 1)


def repeated(n=3000, kinds=200, features=5, classes=3, seed=0, dtype=np.float64):
    """Rows of so many kinds, some of them under several labels."""
    generator = np.random.default_rng(seed)
    base = generator.normal(size=(kinds, features)).astype(dtype)
    y = generator.integers(classes, size=n) * (generator.random(n) < 0.1)
    return base[generator.integers(kinds, size=n)], y


def by_unique(X, y, weights):
    """Row and label, how often it is there and what it weighs, in a known order."""
    both = np.column_stack([X, y])
    found, kind, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    return np.column_stack([found, counts, np.bincount(kind, weights)])


def in_order(few):
    table = np.column_stack([few.X, few.y, few.counts, few.weights])
    return table[np.lexsort(table.T[-3::-1])]


def agrees(X, y, weights=None):
    few = merge_duplicates(X, y, weights)
    assert few is not None
    assert few.X.dtype == X.dtype
    assert np.allclose(in_order(few), by_unique(X, y, weights), rtol=1e-12, atol=0)
    assert (np.diff(few.y) >= 0).all()
    return True


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("classes", [1, 2, 3, 300])
def test_each_row_is_kept_once_with_each_of_its_labels(dtype, order, classes):
    X, y = repeated(classes=classes, dtype=dtype)
    assert agrees(np.asarray(X, order=order), y)


def test_weights_are_added_up():
    X, y = repeated()
    assert agrees(X, y, np.random.default_rng(1).random(len(y)) + 0.5)


@given(seed=st.integers(0, 2**32), levels=st.integers(1, 4), scale=st.sampled_from([1, 1e-9, 256]))
def test_few_round_values_are_told_apart(seed, levels, scale):
    generator = np.random.default_rng(seed)
    X = generator.integers(-levels, levels, size=(2000, 2), endpoint=True) * float(scale) + 0.0
    assert agrees(X, generator.integers(2, size=2000))


@pytest.mark.slow
def test_rows_of_zeros_and_ones_are_told_apart():
    X = (np.arange(2**16)[:, None] >> np.arange(16) & 1).astype(float)
    assert agrees(np.tile(X, (3, 1)), np.zeros(3 * 2**16, dtype=int))


def test_rows_that_seldom_repeat_are_left_alone():
    X, y = repeated(kinds=100_000)
    assert merge_duplicates(X, y) is None
    halved, labels = repeated(n=3000, kinds=3000, classes=1)
    assert len(np.unique(halved, axis=0)) > 1500
    assert merge_duplicates(halved, labels) is None


def test_a_sample_says_whether_it_is_worth_asking(monkeypatch):
    monkeypatch.setattr(duplicate_rows, "ONE_OF", 64)
    X, y = repeated(n=20_000)
    assert merge_duplicates(X, y) is not None
    monkeypatch.setattr(duplicate_rows, "_groups", lambda hashes: pytest.fail("asked all rows"))
    assert merge_duplicates(*repeated(n=20_000, kinds=1_000_000)) is None


def test_few_rows_and_sparse_ones_are_left_alone(monkeypatch):
    X, y = repeated()
    assert merge_duplicates(sparse.csr_array(X), y) is None
    monkeypatch.setattr(duplicate_rows, "LARGE", len(X) + 1)
    assert merge_duplicates(X, y) is None


def test_different_rows_with_one_hash_are_noticed(monkeypatch):
    X, y = repeated(classes=1)
    monkeypatch.setattr(duplicate_rows, "_hashes", lambda X, y: np.zeros(len(X), dtype=np.uint64))
    assert merge_duplicates(X, y) is None


def test_how_many_kinds_it_takes_to_stand_for_so_many_rows():
    X = np.repeat(np.arange(4.0), [50, 30, 15, 5])[:, None]
    few = merge_duplicates(X, np.zeros(100, dtype=int))
    assert [few.at_least(rows) for rows in (1, 50, 51, 80, 81, 95, 96, 100, 101)] == [
        *(1, 1, 2, 2, 3, 3, 4, 4, 5),
    ]
