"""Data files of any content: read, or refused by a DataError, and never anything else.

A few hundred cases at each run; `DCSVM_FUZZ=10000 python -m pytest tests -k fuzz` tries that many
of each kind, as a nightly run does.
"""

import bz2
import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from fakes import Average, Centroids, Everything
from fuzzing import fuzzed, in_time
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import DataError
from dcsvm.datasets.loading import read
from dcsvm.experiments.predict.predictor import predict_file
from dcsvm.toolbox import Column, TablePreparation, TableSchema

some = fuzzed(60)

GOOD = {
    ".csv": b'id,a,colour,kind\n1,2.5,red,x\n2,3.5,blue,y\n3,-1e3,red,x\n4,0,"li,ght",y\n',
    ".tsv": b"a\tb\tkind\n1\t2\tx\n3\t4\ty\n5\t6\tx\n",
    ".svm": b"1 1:0.5 3:2 # comment\n-1 2:1\n1 qid:3 1:4\n",
    ".arff": (
        b"@relation r\n@attribute a real\n@attribute c {red,'light blue'}\n@attribute kind {x,y}\n"
        b"@data\n1,red,x\n2,'light blue',y\n{0 3, 2 y}\n?,red,x\n"
    ),
}
SNIPPETS = [
    *(b",", b";", b"\t", b"\n", b"\r", b"\r\n", b'"', b"'", b"{", b"}", b"%", b"\\", b":", b"#"),
    *(b"nan", b"inf", b"-", b"1e999", b"1_0", b"?", b"\0", b"\xff", b"\xef\xbb\xbf", b"9" * 40),
    *(b"2024-01-01", b"3,5", b"kind", b"@data", b"@attribute", b"qid:", b"1:", b" ", b"\xc3\xa9"),
]


def mutated(content: bytes) -> st.SearchStrategy[bytes]:
    """A good file after some cuts, insertions and repetitions."""

    def change(edits: list[tuple[int, int, bytes]]) -> bytes:
        changed = content
        for start, length, inserted in edits:
            start %= len(changed) + 1
            changed = changed[:start] + inserted + changed[start + length :]
        return changed

    places = st.integers(0, len(content))
    edit = st.tuples(places, st.integers(0, 12), st.sampled_from([b"", *SNIPPETS]))
    return st.lists(edit, min_size=1, max_size=6).map(change)


def contents(ending: str) -> st.SearchStrategy[bytes]:
    pieces = st.lists(st.sampled_from([*SNIPPETS, b"a", b"x", b"1"]), max_size=40).map(b"".join)
    return st.one_of(mutated(GOOD[ending]), pieces, st.binary(max_size=200))


def read_or_refused(name: str, content: bytes, **options: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            with in_time():
                data = read(path, **options)
        except DataError:
            return
        finally:
            assert path.read_bytes() == content
    assert data.X.shape[0] == len(data.y) > 0
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    assert not np.isinf(values).any()
    if options.get("missing", "error") == "error":
        assert not np.isnan(values).any()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".arff"])
def test_any_text_file_is_read_or_refused(ending):
    @some
    @given(
        contents(ending),
        st.sampled_from(["kind", "a", 1, -1]),
        st.booleans(),
        st.sampled_from(["error", "impute"]),
        st.sampled_from([[], [1], ["a"]]),
    )
    def check(content, target, header, missing, categorical):
        read_or_refused(
            f"rows{ending}",
            content,
            target=target,
            header=header,
            missing=missing,
            categorical=categorical,
        )

    check()


@some
@given(contents(".svm"))
def test_any_file_of_sparse_rows_is_read_or_refused(content):
    read_or_refused("rows.svm", content)


@some
@given(mutated(gzip.compress(GOOD[".csv"])), mutated(bz2.compress(GOOD[".svm"])))
def test_any_damaged_compressed_file_is_read_or_refused(zipped, packed):
    read_or_refused("rows.csv.gz", zipped, target="kind")
    read_or_refused("rows.svm.bz2", packed)


def some_npz() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.npz")
        np.savez(
            path, X=np.arange(6.0).reshape(3, 2), y=np.arange(3) % 2, classes=np.array(["a", "b"])
        )
        return path.read_bytes()


@some
@given(mutated(some_npz()))
def test_any_damaged_npz_file_is_read_or_refused(content):
    read_or_refused("rows.npz", content)


arrays = st.one_of(
    st.lists(st.integers(-2, 5), max_size=6).map(np.array),
    st.lists(st.floats(), max_size=6).map(np.array),
    st.lists(st.text(max_size=3), max_size=6).map(np.array),
    st.tuples(st.integers(0, 4), st.integers(0, 4)).map(np.ones),
    st.integers(-1, 3).map(np.array),
)
KEYS = [
    *("X", "y", "X_train", "y_train", "X_test", "y_test", "classes", "categorical", "levels_0"),
    *("feature_names", "data", "indices", "indptr", "shape", "train_data", "test_data"),
]


@some
@given(st.dictionaries(st.sampled_from(KEYS), arrays))
def test_any_arrays_are_read_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, "a.npz"), **content)
        raw = Path(folder, "a.npz").read_bytes()
    read_or_refused("rows.npz", raw)


def model():
    schema = TableSchema((Column("a"), Column("colour", ("blue", "red"))), "kind")
    X = np.array([[1.0, 0], [2, 1], [3, 0], [4, 1]])
    prepare = TablePreparation(missing="impute", schema=schema)
    classifier = DivideAndConquerClassifier(Everything(), Centroids(), Average())
    return make_pipeline(prepare, classifier).fit(X, ["x", "x", "y", "y"])


MODEL = model()


BEFORE = b"answers of the day before\n"


@some
@given(contents(".csv"), st.booleans())
def test_any_text_file_is_answered_or_refused_and_nothing_half_is_left(content, there):
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "rows.csv"), Path(folder, "out.csv")
        path.write_bytes(content)
        if there:
            out.write_bytes(BEFORE)
        try:
            with in_time():
                summary = predict_file(MODEL, path, out)
        except DataError:
            assert sorted(os.listdir(folder)) == ["out.csv"] * there + ["rows.csv"]
            assert not there or out.read_bytes() == BEFORE
        else:
            assert out.read_bytes().count(b"\n") == summary.n_rows + 1
            assert sorted(os.listdir(folder)) == ["out.csv", "rows.csv"]
        assert path.read_bytes() == content


def some_table(ending: str) -> bytes:
    """A good file of typed columns, as pyarrow writes it."""
    arrow = pytest.importorskip("pyarrow", reason="pip install 'dcsvm[arrow]'")
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(
        {"a": [1.5, None, 3.0, 4.0], "colour": ["red", "blue", "red", "red"], "kind": list("xyxy")}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        if ending == ".parquet":
            parquet.write_table(table, path)
        else:
            feather.write_feather(table, path, compression="uncompressed")
        return path.read_bytes()


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_any_damaged_file_of_typed_columns_is_read_or_refused(ending):
    @some
    @given(mutated(some_table(ending)), st.sampled_from(["error", "impute"]))
    def check(content, missing):
        read_or_refused(f"rows{ending}", content, target="kind", missing=missing)

    check()
