"""The rows near another class are kept, and some of every class."""

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, GranularitySearch, Problem, build
from dcsvm.numeric import duplicate_rows, merge_duplicates


def line(*sizes: int) -> Problem:
    """Classes one after the other on a line, one row per unit."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return Problem(np.arange(float(len(y)))[:, None], y, len(sizes))


def kept(problem: Problem, **settings) -> np.ndarray:
    (stage,) = list(build("decomposer", "concept_boundary", **settings).divide(problem))
    return stage[0].rows


def test_rows_near_another_class_are_kept_and_those_far_away_are_not():
    rows = kept(line(5000, 5000), neighbours=40, mass=1.0).tolist()
    assert set(range(4980, 5020)) <= set(rows)  # those with the other class in their lists
    assert len(rows) == 80  # and some at random, a list's length of each class


def test_less_mass_keeps_the_nearest_rows_only():
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(20000, 2))
    problem = Problem(X, (X[:, 0] > 0).astype(int), 2)
    all_near, nearest = (kept(problem, neighbours=20, mass=mass) for mass in (1.0, 0.5))
    assert len(nearest) < 0.6 * len(all_near) < 0.6 * len(X)
    assert np.abs(X[nearest, 0]).mean() < 0.6 * np.abs(X[all_near, 0]).mean()


def test_a_class_that_touches_no_other_keeps_as_many_rows_as_a_list_is_long():
    problem = line(30, 30, 30)
    X = problem.X.copy()
    X[60:] += 1e6
    apart = Problem(X, problem.y, 3)
    assert np.bincount(apart.y[kept(apart, neighbours=5)]).tolist() == [5, 5, 5]


def test_rows_that_are_not_kept_are_declared_as_held_back():
    work = build("decomposer", "concept_boundary", neighbours=4).divide(line(50, 50))
    (part,) = next(work)
    try:
        work.send([object()])
    except StopIteration as stop:
        held_back = stop.value.held_back
    assert sorted([*held_back, *part.rows]) == list(range(100))


@pytest.mark.parametrize("neighbours", [3, 20, 100])
def test_rows_that_repeat_count_as_often_as_they_are_there(neighbours, monkeypatch):
    random = np.random.default_rng(0)
    which = random.choice(300, size=6000, p=random.dirichlet(np.full(300, 0.3)))
    X = random.random((300, 3))[which]
    y = (X[:, 0] + 0.2 * random.normal(size=300)[which] > 0.5).astype(int)
    finder = build("decomposer", "concept_boundary", neighbours=neighbours)
    monkeypatch.setattr(duplicate_rows, "LARGE", 100)
    assert merge_duplicates(X, y) is not None
    once = finder._score_rows(Problem(X, y, 2))
    monkeypatch.setattr(duplicate_rows, "LARGE", 10**9)
    each = finder._score_rows(Problem(X, y, 2))
    # Which copy of a row is in a list is left to chance where not all are: their sum is not.
    sums, wanted = (np.bincount(which, scores) for scores in (once, each))
    assert wanted.max() > 0
    np.testing.assert_allclose(sums, wanted, rtol=1e-9, atol=1e-9)


def test_rows_that_are_all_alike_end_well():
    problem = Problem(np.zeros((40, 2)), np.arange(40) % 2, 2)
    assert 0 < len(kept(problem, neighbours=5)) <= 40


def test_its_parameters_can_be_searched():
    problem = line(300, 300)
    clf = DivideAndConquerClassifier(build("decomposer", "concept_boundary", neighbours=10))
    grid = {"learner__C": [1.0, 100.0], "learner__gamma": [1e-4, 1e-2]}
    search = GranularitySearch(clf, grid, random_state=0).fit(problem.X, problem.y)
    assert search.stopped_ == "all 4 combinations were tried"
    assert search.score(problem.X, problem.y) > 0.98
