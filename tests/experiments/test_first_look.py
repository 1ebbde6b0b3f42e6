"""What `auto` says of the data before anything is tried."""

import numpy as np
import pytest
from scipy import sparse

from dcsvm.datasets.dataset import Dataset
from dcsvm.experiments.run.run_messages import describe_first_look, measure_repeats


def build(X, y):
    return Dataset("rows.csv", X, np.asarray(y), ())


def test_uneven_classes_are_told_with_a_score_that_sees_them():
    data = build(np.arange(100.0)[:, None], ["yes"] * 2 + ["no"] * 98)
    told = "uneven classes: no has 98.0% of the rows, yes 2.0%"
    assert list(describe_first_look(data, "balanced_accuracy")) == [told]
    assert list(describe_first_look(data, "accuracy")) == [
        f"{told}; accuracy hardly sees it: --score balanced_accuracy counts all classes alike"
    ]


def test_many_classes_are_uneven_only_far_below_an_even_share():
    X = np.arange(420.0)[:, None]
    assert list(describe_first_look(build(X, np.arange(420) % 200), "accuracy")) == []
    labels = np.where(np.arange(420) < 1, 99, np.arange(420) % 20)
    (told,) = describe_first_look(build(X, labels), "accuracy")
    assert told.startswith("uneven classes: 1 has 5.0% of the rows, 99 0.2%")


def test_repeated_rows_are_told():
    X = np.column_stack([np.arange(100.0) % 80, np.zeros(100)])
    X[3, 1], X[83, 1] = 0.0, -0.0
    data = build(X, np.arange(100) % 2)
    assert measure_repeats(data) == pytest.approx(0.2)
    (told,) = describe_first_look(data, "accuracy")
    assert told.startswith("20% of the rows have the features of another row")


def test_nothing_is_told_of_even_classes_and_distinct_rows():
    data = build(np.arange(100.0)[:, None], np.arange(100) % 2)
    assert list(describe_first_look(data, "accuracy")) == []
    assert measure_repeats(build(sparse.eye(4, format="csr"), [0, 1, 0, 1])) == 0.0
