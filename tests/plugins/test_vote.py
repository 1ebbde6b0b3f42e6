"""One vote for each member; ties go to the larger mean score."""

import numpy as np
from sklearn.datasets import load_iris, make_blobs

from dcsvm import DivideAndConquerClassifier, build


def test_class_pairs_win_by_number_of_votes() -> None:
    X, y = make_blobs(200, centers=4, cluster_std=3.0, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    votes = np.zeros((len(X), 4))
    for member in clf.model_.committee.members:
        said = member.answer(X)[0][:, 0]
        winner = np.where(said > 0, member.code[0].argmax(), member.code[0].argmin())
        votes[np.arange(len(X)), winner] += 1
    np.testing.assert_array_equal(np.round(clf.decision_function(X)), votes)


def test_bags_of_all_classes_vote_once_each() -> None:
    X, y = load_iris(return_X_y=True)
    bags = build("decomposer", "bootstrap", samples=7)
    clf = DivideAndConquerClassifier(bags, "krr", "vote", random_state=0).fit(X, y)
    votes = np.round(clf.decision_function(X))
    assert (votes.sum(axis=1) == 7).all()


def test_a_tie_goes_to_the_class_that_its_voters_are_surer_of() -> None:
    X, y = make_blobs(300, centers=3, cluster_std=6.0, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    scores = clf.decision_function(X)
    ties = np.flatnonzero((np.round(scores) == 1).all(axis=1))
    assert len(ties)
    means = DivideAndConquerClassifier("class_pairs", "kernel_svm", "mean").fit(X, y)
    expected = means.decision_function(X[ties]).argmax(axis=1)
    np.testing.assert_array_equal(scores[ties].argmax(axis=1), expected)
