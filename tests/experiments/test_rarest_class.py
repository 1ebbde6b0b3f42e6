"""The rarest class on the first screen: its scores, and a warning where it is missed."""

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier
from dcsvm.experiments.run.run_messages import describe_rarest_class, find_rarest_class

CLASSES = np.array(["fine", "fraud"])


def model(classes=CLASSES, **settings):
    fitted = DivideAndConquerClassifier(**settings)
    fitted.classes_ = classes
    return fitted


def found(right, n=1000, rare=20, probabilities=None):
    truth = np.where(np.arange(n) < rare, "fraud", "fine")
    answers = np.where(np.arange(n) < right, "fraud", "fine")
    return find_rarest_class(truth, answers, CLASSES, probabilities)


def test_a_missed_class_is_warned_of():
    sentence, warning = describe_rarest_class(found(right=3), model())
    assert sentence == ("the rarest class, fraud (2.0% of the rows): recall 0.15, precision 1.00")
    assert warning.startswith(
        "warning: the accuracy hides that most rows of this class are missed"
    )
    assert 'threshold = "best f1" with probability = "auto"' in warning


@pytest.mark.parametrize(
    "decided",
    [
        model(threshold="best f1"),
        model(costs=[[0, 1], [5, 0]]),
        model(np.array(["fine", "fraud", "late"])),
    ],
)
def test_a_threshold_is_not_advised_where_there_is_one_or_can_be_none(decided):
    _, warning = describe_rarest_class(found(right=3), decided)
    assert "threshold" not in warning
    assert warning.endswith("to choose parameters by average_precision or balanced_accuracy")


def test_a_class_that_is_found_is_told_of_without_a_warning():
    probabilities = np.column_stack([np.arange(1000), np.arange(1000)[::-1]]) / 999
    (sentence,) = describe_rarest_class(found(right=15, probabilities=probabilities), model())
    assert sentence.endswith("recall 0.75, precision 1.00, average precision 1.00")


def test_a_class_that_is_never_answered_has_no_precision():
    assert found(right=0).precision == 0.0


@pytest.mark.parametrize("rare", [0, 50, 400])
def test_common_classes_are_not_told_of(rare):
    assert list(describe_rarest_class(found(right=rare, rare=rare), model())) == []
