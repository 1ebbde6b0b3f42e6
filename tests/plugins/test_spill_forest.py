"""Spill trees: both sides share the band, and weights change evenly across it."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from dcsvm import DivideAndConquerClassifier, Problem, build
from dcsvm.base.seed import Seed

X, y = make_moons(400, noise=0.2, random_state=0)


def fitted(**settings):
    forest = build("decomposer", "spill_forest", **settings)
    clf = DivideAndConquerClassifier(forest, "kernel_svm", "mean", random_state=0, keep_rows=True)
    return clf.fit(X, y)


def test_a_row_asks_exactly_the_leaves_that_learned_it():
    committee = fitted(trees=2, ceiling=100, overlap=0.2).model_.committee
    for group in committee.groups:
        routing = group.router.route(X)
        for row in range(400):
            asked = set(routing.member[routing.row == row].tolist())
            learned = {
                number - group.first
                for number in range(group.first, group.last)
                if row in committee.members[number].rows
            }
            assert asked == learned
        np.testing.assert_allclose(np.bincount(routing.row, routing.weight), 1.0)


def test_without_overlap_it_is_a_partition():
    committee = fitted(trees=1, ceiling=100, overlap=0.0).model_.committee
    rows = np.concatenate([member.rows for member in committee.members])
    assert sorted(rows) == list(range(400))
    assert max(member.n_rows for member in committee.members) <= 100


def test_weights_grow_evenly_across_the_band():
    decomposer = build("decomposer", "spill_forest", trees=1, ceiling=60, overlap=0.3)
    line = np.linspace(-1, 1, 100)[:, None]
    router = decomposer._grow(Problem(line, np.arange(100) % 2, 2, Seed(0)))[0]
    away = np.linspace(-1, 1, 9)
    width, border = router.widths[0], router.borders[0]
    rows = ((border + away * width) / router.directions[0, 0])[:, None]
    np.testing.assert_allclose(router.lean(rows, 0), (away + 1) / 2)


def test_a_router_from_a_file_is_checked():
    router = fitted(trees=1, ceiling=100).model_.committee.groups[0].router
    router.check_stored(features=2, members=len(router.borders) + 1)
    for wrong in (np.full_like(router.children, 0), np.full_like(router.children, 99)):
        changed = type(router)(router.directions, router.borders, router.widths, wrong)
        with pytest.raises(ValueError, match=r"SpillRouter\.children must name every node"):
            changed.check_stored(features=2, members=len(router.borders) + 1)
