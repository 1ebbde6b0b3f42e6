"""Nested dichotomies: trees at random, by similarity and by hand, all of them trees."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from dcsvm import DivideAndConquerClassifier, Problem, SettingError, build

X, y = load_digits(return_X_y=True)
X = X / 16.0


def codes_of(problem, **settings):
    (parts,) = list(build("decomposer", "class_tree", **settings).divide(problem))
    for each in parts:
        used = np.isin(problem.y, each.task.plus + each.task.minus)
        assert each.rows.tolist() == np.flatnonzero(used).tolist()
    return [each.task for each in parts]


def expect_tree(tasks, classes):
    """Each node's classes are all of them, or one side of exactly one other node."""
    sides = [set(side) for task in tasks for side in (task.plus, task.minus)]
    assert len(tasks) == len(classes) - 1
    assert set(tasks[0].plus + tasks[0].minus) == set(classes)
    for task in tasks[1:]:
        assert sides.count(set(task.plus + task.minus)) == 1
    assert sorted(side for each in sides if len(each) == 1 for side in each) == sorted(classes)


@pytest.mark.parametrize("split", ["random", "similarity"])
def test_ten_classes_make_a_tree_of_nine_tasks(split):
    expect_tree(codes_of(Problem(X, y, 10), split=split), list(range(10)))


def test_near_classes_are_told_apart_last():
    centres = np.array([0.0, 1.0, 100.0, 101.0])
    labels = np.arange(40) % 4
    tasks = codes_of(Problem(centres[labels][:, None], labels, 4))
    assert [set(task.plus) for task in tasks[:1]] in ([{0, 1}], [{2, 3}])


def test_equal_means_make_a_tree_all_the_same():
    labels = np.arange(20) % 4
    expect_tree(codes_of(Problem(np.ones((20, 2)), labels, 4)), [0, 1, 2, 3])


def test_a_hierarchy_is_followed_and_checked():
    labels = np.arange(30) % 3
    problem = Problem(np.random.default_rng(0).normal(size=(30, 2)), labels, 4)
    tasks = codes_of(problem, hierarchy=[[2, 3], [0, 1]])  # class 3 has no rows
    assert [(task.plus, task.minus) for task in tasks] == [((2,), (0, 1)), ((0,), (1,))]
    for wrong in ([0, 1], [0, [1, [2, 2]]]):
        with pytest.raises(SettingError, match="hierarchy must name each of the classes"):
            codes_of(problem, hierarchy=wrong)
    with pytest.raises(SettingError, match="a node of hierarchy has two sides"):
        codes_of(problem, hierarchy=[0, 1, 2])


def test_an_ensemble_of_trees_is_as_good_as_pairs():
    trees = 5 * build("decomposer", "class_tree", split="random")
    learner = build("learner", "kernel_svm", C=10.0, gamma=0.3)
    clf = DivideAndConquerClassifier(trees, learner, "class_path", random_state=0)
    pairs = DivideAndConquerClassifier("class_pairs", learner, "vote")
    test = slice(600, 1200)
    scores = [each.fit(X[:600], y[:600]).score(X[test], y[test]) for each in (clf, pairs)]
    assert scores[0] > scores[1] - 0.02
