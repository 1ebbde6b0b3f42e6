"""Splits at the median with a band: how many values are on both sides."""

import numpy as np
import pytest

from dcsvm.numeric import split_with_overlap

VALUES = np.random.default_rng(0).normal(size=1000)


@pytest.mark.parametrize("overlap", [0.0, 0.1, 0.4])
def test_both_sides_hold_the_band_and_half_of_the_rest(overlap):
    border, width, left, right = split_with_overlap(VALUES, overlap)
    assert np.sum(border > VALUES) in (499, 500, 501)
    assert set(left) | set(right) == set(range(1000))
    assert len(set(left) & set(right)) == pytest.approx(1000 * overlap, abs=2)
    assert np.abs(VALUES[np.intersect1d(left, right)] - border).max(initial=0.0) < width + 1e-12
    assert (VALUES[left] < border + width).all() or width == 0.0


def test_values_that_are_alike_are_not_split():
    assert split_with_overlap(np.full(9, 3.0), 0.2) is None


def test_no_side_is_empty_or_holds_all_values():
    generator = np.random.default_rng(1)
    for _ in range(300):
        values = np.round(generator.normal(size=generator.integers(2, 9)), 1)
        split = split_with_overlap(values, generator.uniform(0.0, 0.5))
        if len(np.unique(values)) > 1:
            _, _, left, right = split
            assert 0 < len(left) < len(values)
            assert 0 < len(right) < len(values)
