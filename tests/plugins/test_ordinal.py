"""Ordered classes: thermometer codes, and errors that stay near."""

import numpy as np

from dcsvm import DivideAndConquerClassifier, build


def test_step_by_step_all_rows_are_asked_whether_they_are_above():
    y = np.array([0, 2, 5, 9] * 10)
    X = y[:, None] + np.random.default_rng(0).normal(scale=0.1, size=(40, 1))
    clf = DivideAndConquerClassifier("ordinal", "kernel_svm", "decode").fit(X, y)
    assert clf.model_.committee.code.toarray().tolist() == [
        [-1, 1, 1, 1],
        [-1, -1, 1, 1],
        [-1, -1, -1, 1],
    ]
    assert (clf.predict(X) == y).all()


def test_on_a_line_it_makes_smaller_mistakes_than_one_against_the_rest():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 5, size=600)
    X = (y + generator.normal(scale=0.8, size=600))[:, None]
    learner = build("learner", "kernel_svm", kernel="linear")
    errors = []
    for division, combiner in (("ordinal", "decode"), ("class_rest", "argmax")):
        clf = DivideAndConquerClassifier(division, learner, combiner).fit(X[:400], y[:400])
        errors.append(np.abs(clf.predict(X[400:]) - y[400:]).mean())
    assert errors[0] < errors[1]
