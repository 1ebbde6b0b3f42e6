"""Samples are added one by one, and no longer than they help."""

import numpy as np
import pytest

from dcsvm import DataError, DivideAndConquerClassifier, Part, Problem, build
from dcsvm.base.member import Member
from dcsvm.base.models import Hyperplanes


def noisy(rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 2))
    y = (X[:, 0] + 0.5 * generator.normal(size=rows) > 0).astype(int)
    return X, y


def driven(rights: list[int], **settings) -> tuple[list[Part], object]:
    """The parts asked for, and the division, where member i gets the first `rights[i]` right."""
    rows = np.arange(100.0)
    problem = Problem(rows[:, None], np.ones(100, dtype=int), 2)
    bags = build("decomposer", "growing_bags", held_back=tuple(range(50)), size=20, **settings)
    work, parts = bags.divide(problem), []
    try:
        stage = next(work)
        while True:
            parts += stage
            cut = rights[len(parts) - 1] - 0.5
            weight = np.array([[-1e3 * (100.0 ** len(parts))]])
            model = Hyperplanes(weight, -cut * weight[0])
            stage = work.send([Member(model, np.array([[-1, 1]]), part=stage[0])])
    except StopIteration as stop:
        return parts, stop.value


def test_samples_are_added_while_each_gains_enough():
    # The score that decides between equal votes grows: the last member is always the surest.
    parts, division = driven([10, 20, 20])
    assert len(parts) == 3
    assert len(division.members) == 3


def test_a_last_sample_that_does_harm_is_left_out():
    parts, division = driven([30, 10])
    assert len(parts) == 2
    assert len(division.members) == 1


def test_there_are_never_more_samples_than_the_most():
    parts, division = driven([10, 20, 30, 40], most=2)
    assert len(parts) == len(division.members) == 2


def test_rows_held_back_are_learned_by_no_sample():
    parts, division = driven([10, 20, 20])
    assert division.held_back.tolist() == list(range(50))
    for each in parts:
        assert len(np.unique(each.rows)) == 20
        assert each.rows.min() >= 50


def test_learning_samples_abreast_changes_nothing():
    X, y = noisy()
    scores = []
    for abreast in (1, 3):
        bags = build("decomposer", "growing_bags", size=60, abreast=abreast, min_gain=0.001)
        clf = DivideAndConquerClassifier(bags, "krr", "vote", random_state=1).fit(X, y)
        scores.append([member.support.tolist() for member in clf.model_.committee.members])
    assert len(scores[0]) > 1
    assert scores[0] == scores[1]


def test_a_share_of_the_rows_can_be_held_back():
    X, y = noisy()
    bags = build("decomposer", "growing_bags", size=100, held_back=0.5, most=3)
    clf = DivideAndConquerClassifier(bags, "kernel_svm", "vote", random_state=0).fit(X, y)
    assert [record.rows for record in clf.ledger_] == [100] * len(clf.ledger_)
    assert clf.score(X, y) > 0.8


@pytest.mark.parametrize("numbers", [(), (600,), (-1,), tuple(range(600))])
def test_numbers_of_rows_that_are_not_some_of_them_are_refused(numbers):
    X, y = noisy()
    bags = build("decomposer", "growing_bags", held_back=numbers)
    with pytest.raises(DataError) as refused:
        DivideAndConquerClassifier(bags, "kernel_svm", "vote").fit(X, y)
    assert str(refused.value) == (
        "growing_bags: held_back must name some but not all of the rows 0 to 599"
    )
