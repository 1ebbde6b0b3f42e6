"""The probabilities of paths are products, and sum to one."""

import attrs
import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits, load_iris

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError
from dcsvm.toolbox import Hyperplanes

X, y = load_iris(return_X_y=True)
TREES = [0, [1, 2]], [[0, 1], 2]


def test_a_class_has_the_product_along_its_path():
    tree = build("decomposer", "class_tree", hierarchy=[0, [1, 2]])
    path = build("combiner", "class_path", steepness=3.0)
    clf = DivideAndConquerClassifier(tree, "kernel_svm", path).fit(X, y)
    root, inner = (expit(3.0 * m.scores(X)[:, 0]) for m in clf.model_.committee.members)
    expected = np.column_stack([root, (1 - root) * inner, (1 - root) * (1 - inner)])
    shares = (clf.decision_function(X) + 1) / 2
    np.testing.assert_allclose(shares, expected)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_several_trees_are_averaged():
    trees = [
        build("decomposer", "class_tree", hierarchy=each) for each in ([0, [1, 2]], [[0, 1], 2])
    ]
    one, two, both = (
        DivideAndConquerClassifier(each, "kernel_svm", "class_path").fit(X, y).decision_function(X)
        for each in (*trees, trees[0] + trees[1])
    )
    np.testing.assert_allclose(both, (one + two) / 2)


def test_other_combiners_do_not_fit_a_class_tree():
    clf = DivideAndConquerClassifier("class_tree", "kernel_svm", "vote")
    with pytest.raises(CompositionError, match=r"yields class tree: .*that fit: class_path"):
        clf.fit(X, y)


@pytest.mark.parametrize("trees", [1, 3])
@pytest.mark.parametrize("learner", ["linear_svm", "kernel_svm"])
@pytest.mark.parametrize("split", ["similarity", "random"])
def test_labels_ask_fewer_nodes_and_are_those_of_all(learner, split, trees):
    rows, labels = load_digits(return_X_y=True)
    tree = build("decomposer", "class_tree", split=split)
    clf = DivideAndConquerClassifier(trees * tree, learner, "class_path", random_state=0)
    clf.fit(rows[:600] / 16, labels[:600])
    tested, nodes = rows[600:] / 16, 9 * trees
    np.testing.assert_array_equal(
        clf.predict(tested), clf.decision_function(tested).argmax(axis=1)
    )
    counted = clf.model_.committee.with_counter(len(tested))
    clf.model_.combination.labels(counted, tested)
    asked = [len(counted.cost_counter.members_of(row)) for row in range(0, len(tested), 20)]
    assert max(asked) <= nodes
    assert np.mean(asked) < 0.6 * nodes
    cost = counted.cost_counter.cost(counted.members)
    np.testing.assert_array_equal(clf.cost(tested).hyperplanes, cost.hyperplanes)
    np.testing.assert_array_equal(clf.cost(tested).kernel_evaluations, cost.kernel_evaluations)
    all_asked = clf.model_.answer(tested)[1]
    for count in ("hyperplanes", "kernel_evaluations"):
        assert (getattr(cost, count) <= getattr(all_asked, count)).all()
    assert cost.hyperplanes.sum() + cost.kernel_evaluations.sum() < 0.8 * (
        all_asked.hyperplanes.sum() + all_asked.kernel_evaluations.sum()
    )


@pytest.mark.parametrize("biases", [(0, 0, 0), (1e-13, 0, 0), (0, 1e-13, 1e-12), (5, 1, 0)])
def test_the_first_of_equally_likely_classes_wins_and_has_asked_all_nodes(biases):
    tree = build("decomposer", "class_tree", hierarchy=[[2, 3], [0, 1]])
    clf = DivideAndConquerClassifier(tree, "linear_svm", "class_path")
    committee = clf.fit(np.eye(4)[np.arange(80) % 4], np.arange(80) % 4).model_.committee
    members = {
        number: attrs.evolve(
            committee.members[number], model=Hyperplanes(np.zeros((4, 1)), np.array([bias]))
        )
        for number, bias in enumerate(biases)
    }
    clf = clf.with_committee(committee.replace(members))
    rows = np.eye(4)[np.arange(40) % 4]
    scores = clf.decision_function(rows)
    np.testing.assert_array_equal(clf.predict(rows), scores.argmax(axis=1))
    if not any(biases):
        np.testing.assert_array_equal(scores, np.full((40, 4), -0.5))
    tied = max(biases) < 1e-9
    assert ((clf.cost(rows).hyperplanes >= 3) == tied).all()
