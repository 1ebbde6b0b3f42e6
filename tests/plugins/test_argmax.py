"""The class whose own member is surest wins."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from dcsvm import DcsvmError, DivideAndConquerClassifier

X, Y = load_iris(return_X_y=True)


def test_it_predicts_as_one_against_the_rest_does() -> None:
    ours = DivideAndConquerClassifier("class_rest", "kernel_svm", "argmax").fit(X, Y)
    theirs = OneVsRestClassifier(SVC()).fit(X, Y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9
    )


def test_it_refuses_class_pairs() -> None:
    with pytest.raises(DcsvmError, match=r"^combiner 'argmax' does not fit decomposer"):
        DivideAndConquerClassifier("class_pairs", "kernel_svm", "argmax").fit(X, Y)
