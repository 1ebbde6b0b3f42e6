"""One decomposer several times; the class lives in the core, behind the operator `*`."""

import pytest

from dcsvm import DivideAndConquerClassifier, SettingError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.trials import try_out
from dcsvm.toolbox import Repeat


def test_multiplying_repeats_from_both_sides():
    chunks = build("decomposer", "chunks")
    for repeat in (3 * chunks, chunks * 3):
        assert isinstance(repeat, Repeat)
        assert (repeat.decomposer, repeat.times) == (chunks, 3)


def test_every_time_has_its_own_seed():
    trial = try_out(3 * build("decomposer", "chunks", parts=2), easy_problem())
    dealt = {tuple(group.members[0].part.rows) for group in trial.groups}
    assert len(dealt) == 3


def test_it_says_what_the_repeated_one_says_and_groups():
    assert (2 * build("decomposer", "tree")).yields == {"groups", "regions"}
    assert (2 * build("decomposer", "bootstrap")).covers is False


def test_the_repeated_one_may_be_given_by_name():
    problem = easy_problem()
    forest = build("decomposer", "repeat", decomposer="tree", times=2)
    clf = DivideAndConquerClassifier(forest, "krr", "mean").fit(problem.X, problem.y)
    assert len(clf.model_.committee.groups) == 2


def test_it_needs_something_to_repeat():
    with pytest.raises(SettingError, match=r"^repeat needs the setting 'decomposer'$"):
        build("decomposer", "repeat")
