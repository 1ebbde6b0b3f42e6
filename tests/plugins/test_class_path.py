"""The probabilities of paths are products, and sum to one."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError

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
