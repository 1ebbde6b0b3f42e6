"""Balls cover the rows; with balls of all rows there is a single model."""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build

X, y = make_moons(300, noise=0.2, random_state=0)


def fitted(**settings):
    balls = build("decomposer", "balls", **settings)
    learner = build("learner", "kernel_svm", C=10.0, gamma=1.0)
    pipeline = DivideAndConquerClassifier(balls, learner, "route", random_state=0, keep_rows=True)
    return pipeline.fit(X, y)


def test_every_row_is_answered_by_a_ball_of_its_nearest_rows():
    committee = fitted(neighbours=30, cover=10).model_.committee
    assert len(committee.members) >= 300 / 10
    home = committee.groups[0].router.route(X).member
    for row, member in enumerate(home):
        rows = committee.members[member].rows
        assert row in rows
        assert len(rows) == 30
    for member in committee.members:  # a ball is the nearest rows of one of its rows
        apart = np.linalg.norm(X[member.rows][:, None] - X, axis=2)
        balls = {frozenset(order[:30]) for order in np.argsort(apart, axis=1, kind="stable")}
        assert frozenset(member.rows) in balls


def test_balls_of_all_rows_are_the_svm_of_libsvm():
    clf = fitted(neighbours=300, cover=300)
    assert len(clf.model_.committee.members) == 1
    expected = SVC(C=10.0, gamma=1.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(clf.decision_function(X), expected, atol=0.01)


def test_equal_rows_belong_to_one_ball():
    balls = build("decomposer", "balls", neighbours=3, cover=2)
    clf = DivideAndConquerClassifier(balls, "kernel_svm", "route", keep_rows=True)
    committee = clf.fit(np.repeat([[0.0], [1.0]], 20, axis=0), np.arange(40) % 2).model_.committee
    assert [len(member.rows) for member in committee.members] == [20, 20]
