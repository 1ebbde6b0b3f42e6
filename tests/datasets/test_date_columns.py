"""Dates, encodings and decimal commas in data files, when a model learns them and later on."""

import datetime
import re

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from dcsvm import DataError, DivideAndConquerClassifier, TablePreparation
from dcsvm.cli.data_hints import suggest_options
from dcsvm.datasets.loading import read
from dcsvm.experiments.predict.row_reader import open_rows

DATES = "size,when,kind\n" + "".join(
    f"{i % 7},2024-0{1 + i % 3}-{1 + i:02} 00:0{i % 5}:00,{'xy'[i % 2]}\n" for i in range(28)
)


@pytest.fixture
def written(tmp_path):
    """Write a file and give its path."""

    def write(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_date_column_becomes_year_month_day_weekday_and_seconds(written):
    data = read(written(DATES), "kind", dates=["when"])
    assert data.features == ("size", "when month", "when day", "when weekday", "when seconds")
    assert data.X[5].tolist() == [5, 3, 6, 2, 0]
    kinds = {fact.column: fact.kind for fact in data.facts}
    assert kinds["when"] == "date"
    assert kinds["when year"] == "constant"
    assert read(written(DATES), -1, dates=[2]).features == data.features


def test_missing_dates_are_told_by_the_column_of_the_file(written):
    path = written(DATES + "1,,x\n")
    with pytest.raises(DataError, match=r"rows\.csv:30: a value is missing in column 'when';"):
        read(path, "kind", dates=["when"])
    data = read(path, "kind", dates=["when"], missing="impute")
    assert np.isnan(data.X[-1, 1:]).all()


def test_wrong_dates_are_told_with_the_other_mistakes_of_a_file(written):
    path = written(DATES + "red,2024-02-30,x\n2,soon,y\n")
    with pytest.raises(DataError) as caught:
        read(path, "kind", dates=["when"])
    first, second = sorted(str(caught.value).split("\n"))
    assert "'2024-02-30' in column 'when', which is listed in `dates`, is not a date" in first
    assert "'red' in column 'size' is not a number" in second


def test_only_day_first_says_what_a_date_with_slashes_means(written):
    path = written("when,kind\n03/04/2024,x\n05/06/2023,y\n")
    with pytest.raises(DataError, match="`day_first = true` or `day_first = false`"):
        read(path, "kind", dates=["when"])
    data = read(path, "kind", dates=["when"], day_first=True, numeric=[])
    assert data.X[0, :3].tolist() == [2024, 4, 3]


def test_dates_have_no_other_role(written):
    with pytest.raises(DataError, match="is the target and cannot be in `dates`"):
        read(written(DATES), "kind", dates=["kind"])
    with pytest.raises(DataError, match="column 'when' cannot be listed in `dates`: it is listed"):
        read(written(DATES), "kind", dates=["when"], drop=["when"])
    with pytest.raises(DataError, match="no column of `dates`"):
        read(written("1 1:2\n", "a.svm"), dates=["when"])


def test_a_decimal_comma_is_read_if_said_so(written):
    path = written("größe;ort;kind\n1,5;a,b;x\n-2,25;c;y\n3;c;x\n".encode("latin-1"))
    data = read(path, "kind", decimal=",", encoding="latin-1")
    assert data.X.tolist() == [[1.5, 0], [-2.25, 1], [3, 1]]
    assert data.features == ("größe", "ort")
    assert data.schema.features[1].levels == ("a,b", "c")


def test_a_decimal_point_among_decimal_commas_is_a_mistake(written):
    path = written("a;kind\n1,5;x\n1.234;y\n3,5;x\n")
    message = "'1.234' in column 'a' has a point, but numbers have a decimal comma"
    with pytest.raises(DataError, match=re.escape(message)):
        read(path, "kind", decimal=",")
    with pytest.raises(DataError, match=r"'1\.234,5' in column 'a' has a thousands separator"):
        read(written("a;kind\n1,5;x\n1.234,5;y\n3,5;x\n"), "kind", decimal=",")


def test_a_header_that_is_not_utf_8_is_told_before_columns_are_looked_for(written):
    path = written("größe,rückläufer\n1,x\n2,y\n".encode("latin-1"))
    with pytest.raises(DataError) as caught:
        read(path, "rückläufer")
    told = str(suggest_options(caught.value))
    assert told.startswith(f"{path}:1: not UTF-8 (")
    assert told.endswith("""`encoding = "latin-1"` (--set data.encoding=latin-1)""")


def test_other_encodings_are_read_block_by_block(written, monkeypatch):
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 7)
    path = written("größe,kind\nö,x\nß,y\nö,y\n".encode("utf-16"))
    data = read(path, "kind", encoding="utf-16")
    assert data.schema.features[0].levels == ("ß", "ö")


def test_encodings_that_are_unknown_or_wrong_are_told(written):
    with pytest.raises(DataError, match="no encoding is called 'latin-99'; common ones"):
        read(written(DATES), "kind", encoding="latin-99")
    with pytest.raises(DataError, match=r"is not ascii: .*; name its encoding as `encoding`"):
        read(written("größe,kind\nö,x\n"), "kind", encoding="ascii")
    with pytest.raises(DataError, match="decimal is for CSV and TSV files only"):
        read(written("@relation a", "a.arff"), decimal=",")


def test_a_model_reads_new_rows_as_it_read_the_old_ones(written):
    pytest.importorskip("dcsvm_plugins", reason="the model is made of built-in plugins")
    text = DATES.replace(",", ";").replace("size", "größe")
    path = written(text.encode("latin-1"))
    data = read(path, "kind", dates=["when"], decimal=",", encoding="latin-1")
    prepare = TablePreparation(schema=data.schema).fit(data.X)
    model = DivideAndConquerClassifier("whole", "majority", "route")
    model.fit(prepare.transform(data.X), data.y)
    rows = open_rows(Pipeline([("prepare", prepare), ("classify", model)]), path)
    (block,) = rows.blocks(["when"])
    assert np.array_equal(block.X, data.X)
    assert block.kept[0][0] == "2024-01-01 00:00:00"
    path.write_bytes(text.replace("2024-01-01", "2024-99-01").encode("latin-1"))
    with pytest.raises(DataError, match=r"rows\.csv:2: '2024-99-01 00:00:00' in column 'when'"):
        list(rows.blocks([]))


TWO = "born,size,since,kind\n" + "".join(
    f"19{70 + i}-01-02,{i % 7},2024-03-{1 + i:02},{'xy'[i % 2]}\n" for i in range(28)
)


def test_all_columns_that_look_like_dates_are_told_at_once(written):
    path = written(TWO)
    with pytest.raises(DataError) as caught:
        read(path, "kind")
    assert str(caught.value) == (
        f"{path}:2: '1970-01-02' in column 'born' looks like a date or a time, and so does "
        '\'since\'; say `dates = ["born", "since"]` to learn from their year, month, day, '
        "weekday and seconds, or list them in `drop`"
    )
    assert str(suggest_options(caught.value)).endswith(
        """ (--set 'data.dates=["born", "since"]')"""
    )
    with pytest.raises(DataError) as caught:
        read(path, "kind", dates=["born"])  # the list names what is listed already
    told = str(suggest_options(caught.value))
    assert """ or list it in `drop` (--set 'data.dates=["born", "since"]')""" in told
    assert "born year" in read(path, "kind", dates=["born", "since"]).features


def test_columns_of_a_date_type_become_features(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    days = [datetime.date(2024, 1 + i % 3, 1 + i) for i in range(20)]
    times = [None, *(datetime.datetime(2023, 1, 1 + i, 7, i) for i in range(19))]
    path = tmp_path / "rows.parquet"
    columns = {"size": list(range(3)) * 6 + [0, 1], "born": days, "since": times}
    parquet.write_table(pyarrow.table({**columns, "kind": list("xy") * 10}), path)
    data = read(path, "kind", missing="impute")
    assert data.schema.dates == ("born", "since")
    assert data.X[1, data.features.index("born month")] == 2
    assert data.X[1, data.features.index("since seconds")] == 7 * 3600
    assert "since day" not in read(path, "kind", drop=["since"]).features
    assert read(path, "kind", categorical=["born"], missing="impute").schema.dates == ("since",)
