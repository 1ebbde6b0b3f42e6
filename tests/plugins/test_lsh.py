"""Buckets of random hyperplanes: bits halve the rows, and near rows collide more often."""

import numpy as np
import pytest

from dcsvm import Problem, build
from dcsvm.base.seed import Seed

X = np.random.default_rng(0).normal(size=(600, 4))


def divided(seed=0, **settings):
    problem = Problem(X, np.arange(600) % 2, 2, Seed(seed))
    work = build("decomposer", "lsh", **settings).divide(problem)
    parts = next(work)
    with pytest.raises(StopIteration) as stop:
        work.send([])
    return [each.rows for each in parts], stop.value.value


def test_each_bit_halves_the_rows_and_a_bucket_has_equal_bits():
    rows, router = divided(bits=3, smallest=1)
    bits = router.bits(X)
    assert (bits.sum(axis=0) == 300).all()
    assert len(rows) == 8
    for each, bucket in zip(rows, router.buckets, strict=True):
        assert (bits[each] == bucket).all()


def test_rows_of_small_buckets_join_the_one_with_the_nearest_bits():
    rows, router = divided(bits=8, smallest=10)
    assert sorted(np.concatenate(rows)) == list(range(600))
    bits = router.bits(X)
    differ = (bits[:, None] != router.buckets).sum(axis=2)
    assert (router.route(X).member == differ.argmin(axis=1)).all()


def test_the_share_of_equal_bits_falls_with_the_angle():
    directions = np.hstack([divided(seed, bits=30)[1].directions for seed in range(40)])
    one, other = np.array([1.0, 0, 0, 0]), np.array([1.0, 1.0, 0, 0])  # 45 degrees apart
    collide = ((one @ directions > 0) == (other @ directions > 0)).mean()
    assert collide == pytest.approx(1 - 45 / 180, abs=0.04)  # Charikar's formula
