"""Boosting is the SAMME of scikit-learn, and stops where nothing is left to learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError


def boosted(rounds, depth=1, **settings):
    tree = {"max_depth": depth, "random_state": 0}
    stump = build("learner", "sklearn", classifier="DecisionTreeClassifier", settings=tree)
    boosting = build("decomposer", "boosting", rounds=rounds, **settings)
    return DivideAndConquerClassifier(boosting, stump, "vote", random_state=0)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_members_weights_and_labels_are_those_of_scikit_learn(n_classes):
    X, y = make_classification(
        400, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=1
    )
    ours = boosted(20).fit(X[:300], y[:300])
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=20)
    theirs.fit(X[:300], y[:300])
    (group,) = ours.model_.committee.groups
    np.testing.assert_allclose(group.weights, theirs.estimator_weights_, rtol=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99  # ties may be decided otherwise


def test_a_perfect_member_ends_it():
    X, y = load_iris(return_X_y=True)
    clf = boosted(20, depth=9).fit(X, y)
    assert len(clf.model_.committee.members) == 1
    assert clf.score(X, y) == 1.0


def test_a_member_no_better_than_chance_is_left_out():
    y = np.arange(80) % 2
    clf = boosted(5).fit(np.zeros((80, 1)), y)
    assert len(clf.model_.committee.members) == 1


def test_a_learner_that_refuses_weights_is_refused_before_training():
    neighbours = build("learner", "sklearn", classifier="KNeighborsClassifier")
    clf = DivideAndConquerClassifier("boosting", neighbours, "vote")
    with pytest.raises(CompositionError, match="'boosting', which gives rows unequal weights"):
        clf.fit(*load_iris(return_X_y=True))
