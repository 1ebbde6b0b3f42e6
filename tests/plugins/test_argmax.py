"""The class whose own member is surest wins."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from dcsvm import DcsvmError, DivideAndConquerClassifier, build

X, Y = load_iris(return_X_y=True)


def test_it_predicts_as_one_against_the_rest_does() -> None:
    svm = build("learner", "kernel_svm", tol=1e-8)
    ours = DivideAndConquerClassifier("class_rest", svm, "argmax").fit(X, Y)
    theirs = OneVsRestClassifier(SVC(tol=1e-8)).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_it_refuses_class_pairs() -> None:
    with pytest.raises(DcsvmError, match=r"^combiner 'argmax' does not fit decomposer"):
        DivideAndConquerClassifier("class_pairs", "kernel_svm", "argmax").fit(X, Y)


def test_the_trace_tells_what_the_surest_members_said() -> None:
    clf = DivideAndConquerClassifier("class_rest", "krr", "argmax").fit(X, Y)
    scores = clf.decision_function(X[:1])[0]
    told = clf.model_.combination.trace(clf.model_.committee, X[:1])
    best = scores.argmax()
    assert told[0] == f"class {best}: its own member says {scores[best]:.4g}"
    assert len(told) == 3
