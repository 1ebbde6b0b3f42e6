"""Neighbours train scikit-learn's SVM of the nearest rows, for each new row."""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

import dcsvm
from dcsvm import DivideAndConquerClassifier, build

X, y = make_moons(240, noise=0.25, random_state=0)


def fitted(count):
    learner = build("learner", "kernel_svm", C=10.0, gamma=1.0)
    near = build("decomposer", "neighbours", count=count)
    return DivideAndConquerClassifier(near, learner, "route").fit(X[:200], y[:200])


def test_labels_are_those_of_libsvm_on_the_nearest_rows():
    found = fitted(25).predict(X[200:])
    nearest = NearestNeighbors(n_neighbors=25).fit(X[:200]).kneighbors(X[200:])[1]
    for row, (near, label) in enumerate(zip(nearest, found, strict=True), start=200):
        classes = np.unique(y[near])
        if len(classes) == 1:
            assert label == classes[0]
        else:
            svm = SVC(C=10.0, gamma=1.0).fit(X[near], y[near])
            if abs(svm.decision_function(X[[row]])[0]) > 0.01:
                assert label == svm.predict(X[[row]])[0]


def test_one_neighbour_is_the_nearest_neighbour_rule():
    nearest = NearestNeighbors(n_neighbors=1).fit(X[:200]).kneighbors(X[200:])[1][:, 0]
    assert (fitted(1).predict(X[200:]) == y[nearest]).all()


def test_a_lazy_classifier_is_saved_with_its_learner(tmp_path):
    clf = fitted(25)
    dcsvm.save(clf, tmp_path / "model")
    loaded = dcsvm.load(tmp_path / "model")
    assert (loaded.decision_function(X[200:]) == clf.decision_function(X[200:])).all()
