"""Bins of features: exact where there are few values, as full as each other where not."""

import numpy as np
import pytest

from dcsvm.numeric import FeatureBins, native
from dcsvm.numeric.native import numpy_only
from dcsvm.numeric.trees import feature_bins
from dcsvm.numeric.trees.feature_bins import MOST_BINS, to_single


def bins_of(column):
    return FeatureBins.of(np.asarray(column, dtype=float)[:, None])


def test_few_values_have_a_bin_each():
    values = np.random.default_rng(0).integers(MOST_BINS, size=5000) / 7.0
    found = bins_of(values)
    assert found.exact.tolist() == [1]
    assert np.array_equal(found.uppers, np.unique(values.astype(np.float32)))
    assert np.array_equal(found.uppers[found.codes[:, 0]], values.astype(np.float32))


def test_many_values_fill_their_bins_evenly():
    values = np.random.default_rng(0).normal(size=20_000)
    found = bins_of(values)
    counts = np.bincount(found.codes[:, 0])
    assert found.exact.tolist() == [0]
    assert 250 <= len(counts) <= MOST_BINS
    assert counts.min() > 20_000 / MOST_BINS / 2
    assert counts.max() < 20_000 / MOST_BINS * 2
    below = np.concatenate([[-np.inf], found.uppers[:-1]])[found.codes[:, 0]]
    single = values.astype(np.float32)
    assert (below < single).all()
    assert (single <= found.uppers[found.codes[:, 0]]).all()


def test_a_frequent_value_has_a_bin_of_its_own_and_leaves_the_others_their_share():
    generator = np.random.default_rng(0)
    values = np.where(generator.random(20_000) < 0.9, 0.0, generator.normal(size=20_000))
    found = bins_of(values)
    counts = np.bincount(found.codes[:, 0])
    assert counts.max() == (values == 0).sum()
    assert len(counts) > 200


def test_a_missing_value_has_the_last_bin_and_huge_ones_are_finite():
    values = np.concatenate([np.random.default_rng(0).normal(size=1000), [np.nan, 1e300, -1e300]])
    found = bins_of(values)
    assert found.codes[-3, 0] == len(found.uppers) - 1
    assert (found.codes[:, 0] == found.codes[-3, 0]).sum() == 1
    assert found.codes[-2, 0] == found.codes[:, 0].max() - 1
    assert found.codes[-1, 0] == 0
    assert np.isfinite(to_single(values[-2:])).all()


@pytest.mark.parametrize("rare", [7.5, np.nan, 1e9])
@pytest.mark.parametrize("distinct", [3, MOST_BINS - 1, MOST_BINS])
def test_values_that_the_sample_did_not_show_are_found(monkeypatch, rare, distinct):
    monkeypatch.setattr(feature_bins, "SAMPLE_ROWS", 2000)
    values = np.tile(np.arange(distinct, dtype=float), 40_000 // distinct)
    values[-7] = rare
    found = bins_of(values)
    assert found.exact.tolist() == [int(distinct < MOST_BINS)]
    assert found.codes.max() < len(found.uppers)
    if distinct < MOST_BINS:
        assert found.uppers[found.codes[-7, 0]] == to_single(np.array([rare]))[0]


@pytest.mark.skipif(native.library is None, reason="the compiled library is not built")
def test_numpy_and_c_give_the_same_bins():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 6))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] *= 1e-44
    X[:, 3] *= 1e300
    X[generator.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 1.0
    X[:, 5] = np.nan
    ours = FeatureBins.of(X)
    with numpy_only():
        theirs = FeatureBins.of(X)
    for name in ("codes", "starts", "uppers", "exact"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
