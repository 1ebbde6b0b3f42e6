"""CB-SVM: clusters open near the border until the model is that of all rows there."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build
from dcsvm_plugins.decomposers.cb_svm import split

X, y = make_blobs(1200, centers=[[0, 0], [4, 0]], cluster_std=1.0, random_state=0)


def fitted(**settings):
    clusters = build("decomposer", "cb_svm", **settings)
    learner = build("learner", "kernel_svm", kernel="linear")
    clf = DivideAndConquerClassifier(clusters, learner, "route", random_state=0)
    return clf.fit(X, y)


def test_a_split_is_into_halves_of_every_row_once():
    sets = split(X, np.arange(100), 10)
    assert sorted(np.concatenate(sets)) == list(range(100))
    assert {len(rows) for rows in sets} <= {6, 7}


def test_clusters_far_from_the_border_stay_closed_and_the_plane_is_that_of_all_rows():
    clf = fitted(size=32)
    sizes = [record.rows for record in clf.ledger_]
    assert sizes == sorted(sizes)
    assert sizes[0] == 64
    assert sizes[-1] < 200  # of 1200
    exact = SVC(kernel="linear").fit(X, y)
    apart, squashed = (
        np.abs(each.decision_function(X) - exact.decision_function(X)).max()
        for each in (clf, fitted(size=32, rounds=0))
    )
    assert apart < squashed / 10
    assert (clf.predict(X) == exact.predict(X)).mean() > 0.995


def test_without_rounds_it_is_squashing_with_the_weights_of_the_clusters():
    clf = fitted(size=32, rounds=0)
    assert len(clf.ledger_) == 1
    sets = [rows for label in (0, 1) for rows in split(X, np.flatnonzero(y == label), 32)]
    middles = [
        rows[np.linalg.norm(X[rows] - X[rows].mean(axis=0), axis=1).argmin()] for rows in sets
    ]
    exact = SVC(kernel="linear").fit(X[middles], y[middles], [len(rows) for rows in sets])
    np.testing.assert_allclose(clf.decision_function(X), exact.decision_function(X), atol=0.02)


def test_rows_count_by_their_weights():
    weights = np.where(y == 0, 1.0, 5.0)
    clusters = build("decomposer", "cb_svm", size=32)
    clf = DivideAndConquerClassifier(clusters, "linear_svm", "route", random_state=0)
    light = (clf.fit(X, y).predict(X) == 1).mean()
    assert (clf.fit(X, y, weights).predict(X) == 1).mean() > light
