"""Voronoi cells: each row is in the cell of its nearest landmark."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dcsvm import Problem, build
from dcsvm.base.seed import Seed

X = np.random.default_rng(0).normal(size=(500, 3))
PROBLEM = Problem(X, np.arange(500) % 2, 2, Seed(1))


def divided(**settings):
    work = build("decomposer", "landmark_voronoi", **settings).divide(PROBLEM)
    parts = next(work)
    with pytest.raises(StopIteration) as stop:
        work.send([])
    return [each.rows for each in parts], stop.value.value


def test_cells_are_those_of_the_nearest_landmarks():
    rows, router = divided(size=50)
    landmarks = router.affinity.weights.T / 2
    assert len(rows) == len(landmarks) == 10
    assert (cdist(landmarks, X).min(axis=1) < 1e-12).all()  # landmarks are rows
    home = cdist(X, landmarks).argmin(axis=1)
    assert [each.tolist() for each in rows] == [
        np.flatnonzero(home == cell).tolist() for cell in range(10)
    ]


def test_every_row_is_within_the_radius_of_a_landmark_and_landmarks_are_not():
    _, router = divided(radius=1.2)
    landmarks = router.affinity.weights.T / 2
    assert cdist(X, landmarks).min(axis=1).max() <= 1.2
    apart = cdist(landmarks, landmarks) + 9 * np.eye(len(landmarks))
    assert apart.min() > 1.2


def test_overlap_adds_the_nearest_rows_from_outside():
    plain, overlapping = (divided(size=100, overlap=each)[0] for each in (0.0, 0.5))
    for own, wide in zip(plain, overlapping, strict=True):
        assert set(own) < set(wide)
        assert len(wide) == len(own) + round(0.5 * len(own))
