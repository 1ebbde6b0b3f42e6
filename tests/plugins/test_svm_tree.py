"""The SVM tree: one side grows, the other is of one class."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from dcsvm import DivideAndConquerClassifier, Problem, SettingError, Task, build
from dcsvm.inspection import compile_tree

X, Y = make_moons(600, noise=0.15, random_state=0)


def fitted(learner="majority", **settings):
    tree = build("decomposer", "svm_tree", **settings)
    return DivideAndConquerClassifier(tree, learner, random_state=0).fit(X, Y)


def tree_of(classifier):
    return classifier.model_.committee.groups[0].router.tree


def test_only_one_side_of_each_hyperplane_grows():
    children = tree_of(fitted()).children
    assert len(children) > 2
    assert ((children < 0).sum(axis=1)[:-1] == 1).all()
    assert (children[-1] < 0).all()


def test_every_leaf_but_the_last_holds_one_class_of_the_rows_learned():
    tree = tree_of(fitted())
    leaf = tree.route(X)[0]
    for number in range(tree.n_leaves - 1):
        assert len(np.unique(Y[leaf == number])) == 1


def test_with_a_machine_at_its_end_it_does_better_than_that_machine_alone():
    linear = DivideAndConquerClassifier("whole", "linear_svm").fit(X, Y).score(X, Y)
    assert fitted("linear_svm", smallest=0.001, nodes=30).score(X, Y) > linear + 0.02


def test_the_last_node_may_be_a_kernel_machines():
    svm = fitted("kernel_svm", nodes=3)
    assert svm.score(X, Y) > fitted(nodes=3).score(X, Y)
    evaluations = svm.cost(X).kernel_evaluations
    assert (evaluations == 0).any()
    assert (evaluations > 0).any()


def test_hyperplanes_that_send_out_too_few_rows_end_it():
    assert len(tree_of(fitted(smallest=0.3)).thresholds) < len(tree_of(fitted()).thresholds)
    assert tree_of(fitted(smallest=1.0)).n_leaves == 1


def test_it_can_be_compiled():
    classifier = fitted()
    assert (compile_tree(classifier).predict(X) == classifier.predict(X)).all()


def test_a_splitter_without_hyperplanes_is_refused():
    with pytest.raises(SettingError, match=r"svm_tree: splitter must learn hyperplanes.*Kernel"):
        fitted(splitter="kernel_svm")


def test_the_largest_class_is_the_one_of_most_weight():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 1, 1])
    for weights, largest in ((None, 0), (np.array([1.0, 1.0, 1.0, 1.0, 5.0, 5.0]), 1)):
        problem = Problem(X, y, 2, weights=weights)
        first, _ = next(build("decomposer", "svm_tree").divide(problem))
        assert first.task == Task((1 - largest,), (largest,))
