"""The weighted sum is that of the members' scores, and -1 for classes that a member lacks."""

import numpy as np
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, Member, build
from dcsvm.toolbox import Constant

X, y = load_iris(return_X_y=True)


def test_scores_are_summed_with_the_weights_of_the_members():
    boosting = build("decomposer", "boosting", rounds=3)
    clf = DivideAndConquerClassifier(boosting, "linear_svm", "weighted_sum", random_state=0)
    committee = clf.fit(X, y).model_.committee
    (group,) = committee.groups
    expected = sum(
        weight * member.scores(X)
        for weight, member in zip(group.weights, committee.members, strict=True)
    )
    np.testing.assert_allclose(clf.decision_function(X), expected)


def test_a_class_that_a_member_lacks_gets_minus_one_from_it():
    clf = DivideAndConquerClassifier("chunks", "krr", "weighted_sum", random_state=0)
    committee = clf.fit(X, y).model_.committee
    two = committee.replace({0: Member(Constant(0.25), np.array([[-1, 1, 0]]))})
    rest = sum(member.scores(X) for member in committee.members[1:])
    np.testing.assert_allclose(
        clf.with_committee(two).decision_function(X), rest + np.array([-0.25, 0.25, -1.0])
    )
