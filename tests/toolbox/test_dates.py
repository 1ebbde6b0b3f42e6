"""Dates and times as numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dcsvm import DataError
from dcsvm.toolbox import Column, TableSchema
from dcsvm.toolbox.dates import split_date

MONDAY = (2024.0, 12.0, 30.0, 0.0)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024-12-30", (*MONDAY, 0.0)),
        ("2024/12/30", (*MONDAY, 0.0)),
        ("2024-12-30 01:02:03", (*MONDAY, 3723.0)),
        ("2024-12-30T01:02:03.5Z", (*MONDAY, 3723.5)),
        ("2024-12-30T01:02+02:00", (*MONDAY, 3720.0)),
        ("30.12.2024", (*MONDAY, 0.0)),
        ("2024-12", (2024.0, 12.0, 1.0, 6.0, 0.0)),
    ],
)
def test_a_date_becomes_five_numbers(text, parts):
    assert split_date(text) == parts


def test_the_day_comes_first_if_said_so():
    assert split_date("30/12/2024", True)[:3] == (2024, 12, 30)
    assert split_date("12/30/2024", False)[:3] == (2024, 12, 30)


def test_a_time_alone_has_seconds_only():
    *others, seconds = split_date("00:01:30")
    assert np.isnan(others).all()
    assert seconds == 90


@pytest.mark.parametrize(
    "text", ["2024-13-01", "2023-02-29", "yesterday", "2024-01-01 25:00", "1"]
)
def test_other_texts_are_no_dates(text):
    assert split_date(text) is None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dates_of_a_data_frame_are_split_as_in_a_file(frame):
    schema = TableSchema(
        (Column("size"), Column("when day"), Column("when year")), dates=("when",)
    )
    days = ["2024-12-30", "2023-01-02"]
    expected = [[1, 30, 2024], [2, 2, 2023]]
    texts = frame({"when": days, "size": [1, 2]})
    assert schema.matrix(texts).tolist() == expected
    typed = frame({"when": pd.to_datetime(days).to_pydatetime().tolist(), "size": [1, 2]})
    assert schema.matrix(typed).tolist() == expected


def test_a_data_frame_without_the_dates_or_with_others_is_refused():
    schema = TableSchema((Column("when day"),), dates=("when",))
    with pytest.raises(DataError, match="X has no column 'when'"):
        schema.matrix(pd.DataFrame({"size": [1]}))
    with pytest.raises(DataError, match="column 'when' holds 'soon', which is not a date"):
        schema.matrix(pd.DataFrame({"when": ["soon"]}))
    missing = schema.matrix(pd.DataFrame({"when": [None, pd.NaT, "2024-01-05"]}))
    assert np.isnan(missing[:2]).all()
    assert missing[2] == 5
