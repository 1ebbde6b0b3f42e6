"""Bad data: one clear sentence each, the line where there is one, and exit code 4."""

import numpy as np
import pytest

RECIPE = """
decomposer = "whole"
learner = "kernel_svm"
combiner = "route"
data = { path = "FILE", target = "kind" }
"""
GOOD = "a,b,kind\n" + "".join(f"{i},{i * i},{'xy'[i % 2]}\n" for i in range(40))

CASES = {
    "a missing file": (None, "data file 'rows.csv' does not exist"),
    "an empty file": ("", "data file 'rows.csv' is empty"),
    "no target": (
        GOOD.replace("kind", "knd"),
        "rows.csv has no column 'kind', which [data] names as the target; "
        "did you mean 'knd'? available: a, b, knd",
    ),
    "one class only": (
        GOOD.replace("y", "x"),
        "rows.csv has one class only (x): a classifier needs two classes or more",
    ),
    "a header and no rows": ("a,b,kind\n", "rows.csv has a header but no rows"),
    "a target and no features": (
        "kind\nx\ny\n",
        "rows.csv has no features: no column is left beside the target",
    ),
    "a column of text": (
        GOOD.replace("\n3,", "\nred,"),
        "rows.csv:5: 'red' in column 'a' is not a number; only the target may hold text",
    ),
    "a missing value": (
        GOOD.replace("\n3,9,", "\n3,,"),
        "rows.csv:5: a value is missing in column 'b'; "
        "fill it in or leave out the row or the column",
    ),
    "a missing value in words": (
        GOOD.replace("\n3,9,", "\n3,NA,"),
        "rows.csv:5: a value is missing in column 'b'; "
        "fill it in or leave out the row or the column",
    ),
    "a missing label": (
        GOOD.replace("\n3,9,y", "\n3,9,"),
        "rows.csv:5: the target 'kind' is missing",
    ),
    "an infinite value": (
        GOOD.replace("\n3,9,", "\n3,inf,"),
        "rows.csv:5: 'inf' in column 'b' is not finite",
    ),
    "a ragged row": (
        GOOD.replace("\n3,9,", "\n3,"),
        "rows.csv:5: 2 values in a row, but the header has 3",
    ),
    "an open quote": (
        GOOD.replace("\n3,9,", '\n"3,9,'),
        "rows.csv:41: not CSV: unexpected end of data",
    ),
    "two columns of one name": (
        GOOD.replace("a,b", "a,a"),
        "rows.csv:1: two columns are called 'a'; rename one",
    ),
    "bytes that are not text": (
        b"a,b,kind\n\xff,2,x\n",
        "data file 'rows.csv' is not text in UTF-8: invalid start byte",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_bad_csv_file_is_told_in_one_sentence(dcsvm, recipe, tmp_path, content, sentence):
    if content is not None:
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "rows.csv").write_bytes(raw)
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.csv")))
    assert result.stderr == f"error: {sentence}\n"
    assert result.stdout == ""
    assert result.exit_code == 4


X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
NPZ_CASES = {
    "no y": ({"X": X}, "rows.npz has no array 'y'; available: X"),
    "no test labels": (
        {"X_train": X, "y_train": Y, "X_test": X},
        "rows.npz has no array 'y_test'; available: X_test, X_train, y_train",
    ),
    "shapes that do not match": (
        {"X": X, "y": Y[:-1]},
        "rows.npz: X must be (n, d) and y (n,), but their shapes are (20, 2) and (19,)",
    ),
    "halves of unequal width": (
        {"X_train": X, "y_train": Y, "X_test": X[:, :1], "y_test": Y},
        "rows.npz: X_train has 2 columns, but X_test has 1",
    ),
    "text for numbers": (
        {"X": X.astype(str), "y": Y},
        "rows.npz: X must hold numbers, not <U32",
    ),
    "numbers for labels": (
        {"X": X, "y": Y + 0.5},
        "rows.npz: y must hold whole numbers or texts, not float64",
    ),
    "a missing value": (
        {"X": np.where(X == 5, np.nan, X), "y": Y},
        "rows.npz: X[2, 1] is nan, not a finite number",
    ),
}


@pytest.mark.parametrize(("arrays", "sentence"), NPZ_CASES.values(), ids=NPZ_CASES.keys())
def test_a_bad_npz_file_is_told_in_one_sentence(dcsvm, recipe, tmp_path, arrays, sentence):
    np.savez(tmp_path / "rows.npz", **arrays)
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.npz")))
    assert result.stderr == f"error: {sentence}\n"
    assert result.exit_code == 4


@pytest.mark.parametrize("content", [b"nonsense", b"PK\x03\x04 cut short"])
def test_a_file_that_only_claims_to_be_npz(dcsvm, recipe, tmp_path, content):
    (tmp_path / "rows.npz").write_bytes(content)
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.npz")))
    assert result.stderr == "error: data file 'rows.npz' is not an NPZ file of plain arrays\n"
    assert result.exit_code == 4


def test_an_npz_file_with_a_pickle_inside_is_refused(dcsvm, recipe, tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.array([object()] * 3), y=np.arange(3))
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.npz")))
    assert result.stderr == "error: data file 'rows.npz' is not an NPZ file of plain arrays\n"
    assert result.exit_code == 4


def test_a_data_file_that_is_a_directory(dcsvm, recipe, tmp_path):
    (tmp_path / "rows.csv").mkdir()
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.csv")))
    assert result.stderr == "error: data file 'rows.csv' is a directory, not a file\n"
    assert result.exit_code == 4


def test_fewer_rows_than_parts(dcsvm, recipe):
    text = """
    decomposer = { use = "chunks", parts = 500 }
    learner = "krr"
    combiner = "mean"
    data = { use = "iris" }
    """
    result = dcsvm("run", recipe(text))
    assert result.stderr == (
        "error: chunks cannot deal 112 rows into 500 parts; set parts to 112 or less\n"
    )
    assert result.exit_code == 4


def test_a_test_share_that_leaves_nothing_to_test_on(dcsvm, recipe):
    text = RECIPE.replace('{ path = "FILE", target = "kind" }', '{ use = "iris" }')
    result = dcsvm("run", recipe(text + "split = { test = 0.001 }\n"))
    assert result.stderr == (
        "error: iris: a test share of 0.001 leaves 150 of 150 rows to learn from and 0 to test "
        "on; both need some\n"
    )
    assert result.exit_code == 4


def test_a_share_for_data_that_come_with_their_own_test_rows(dcsvm, recipe, tmp_path):
    np.savez(tmp_path / "rows.npz", X_train=X, y_train=Y, X_test=X, y_test=Y)
    text = RECIPE.replace("FILE", "rows.npz") + "split = { test = 0.5 }\n"
    result = dcsvm("run", recipe(text))
    assert result.stderr == (
        "error: rows.npz comes with its own test rows: leave out `test` in [split]\n"
    )
    assert result.exit_code == 4
