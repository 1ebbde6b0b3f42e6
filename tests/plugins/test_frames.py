"""Data frames given to a model that knows its columns: by name, and levels by their texts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from dcsvm import DataError, DivideAndConquerClassifier
from dcsvm.toolbox import Column, TablePreparation, TableSchema

SCHEMA = TableSchema(
    (Column("size"), Column("colour", ("blue", "red")), Column("number", ("1", "2")))
)
ROWS = {
    "number": [1, 2, 2, 1, 1, 2],
    "colour": ["blue", "red", "red", "blue", "red", "blue"],
    "note": ["a", "b", "c", "d", "e", "f"],
    "size": [1.0, 5.0, 6.0, 2.0, 5.5, 1.5],
}
X = np.array([[1, 0, 0], [5, 1, 1], [6, 1, 1], [2, 0, 0], [5.5, 1, 0], [1.5, 0, 1]])
Y = ["small", "large", "large", "small", "large", "small"]


@pytest.fixture
def model():
    inner = DivideAndConquerClassifier("whole", "kernel_svm", "route")
    return make_pipeline(TablePreparation(missing="impute", schema=SCHEMA), inner).fit(X, Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_go_by_name_and_levels_by_their_texts(model, frame):
    assert np.array_equal(SCHEMA.matrix(frame(ROWS)), X)
    np.testing.assert_array_equal(model.decision_function(frame(ROWS)), model.decision_function(X))


def test_a_classifier_learns_frames_by_name_too(model):
    again = clone(model).fit(pd.DataFrame(ROWS), Y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_numbers_that_are_no_level_are_places_in_the_levels(model):
    coded = pd.DataFrame(X[:, [1, 0, 2]], columns=["colour", "size", "number"])
    coded["number"] += 1
    assert np.array_equal(SCHEMA.matrix(coded), X)


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_missing_levels_are_missing(nothing):
    frame = pd.DataFrame(ROWS)
    frame["colour"] = pd.Series([nothing, *ROWS["colour"][1:]], dtype=object)
    assert np.isnan(SCHEMA.matrix(frame)[0, 1])


def test_a_level_that_no_row_had_is_told(model):
    frame = pd.DataFrame(ROWS | {"colour": ["green"] * 6})
    with pytest.warns(UserWarning, match=r"6 values of column 'colour' .*'green'"):
        assert (SCHEMA.matrix(frame)[:, 1] == -1).all()


def test_a_missing_column_and_a_text_for_a_number_are_refused(model):
    frame = pd.DataFrame(ROWS)
    with pytest.raises(DataError, match=r"X has no column 'size', .*'sizes'"):
        model.predict(frame.rename(columns={"size": "sizes"}))
    with pytest.raises(DataError, match=r"column 'size' holds values that are not numbers"):
        model.predict(frame.assign(size=["large"] * 6))


def test_dates_are_refused_with_their_column():
    frame = pd.DataFrame({"a": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route")
    with pytest.raises(DataError, match="dates or times in column 'when'"):
        clf.fit(frame, [0, 1])
