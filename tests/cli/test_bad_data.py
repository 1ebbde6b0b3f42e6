"""Bad data: one clear sentence each, the line where there is one, and exit code 4."""

import bz2
import gzip

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
        "rows.csv:5: 'red' in column 'a' is not a number, but most of its values are; correct it, "
        "or list the column in `categorical`",
    ),
    "a missing value": (
        GOOD.replace("\n3,9,", "\n3,,"),
        "rows.csv:5: a value is missing in column 'b'; "
        'fill it in, drop the column, or say `missing = "impute"`',
    ),
    "a missing value in words": (
        GOOD.replace("\n3,9,", "\n3,NA,"),
        "rows.csv:5: a value is missing in column 'b' ('NA' counts as missing, see "
        "`missing_values`); "
        'fill it in, drop the column, or say `missing = "impute"`',
    ),
    "several mistakes": (
        GOOD.replace("\n3,9,", "\n,red,").replace("\n5,25,", "\n5,,"),
        "rows.csv:5: 'red' in column 'b' is not a number, but most of its values are; correct it, "
        "or list the column in `categorical`\nrows.csv:5: a value is missing in column 'a' (and "
        "in 'b'); fill it in, drop the column, or say `missing = \"impute\"`",
    ),
    "ragged rows and other mistakes": (
        GOOD.replace("\n3,9,", "\n3,red,")
        .replace("\n5,25,", '\n5,"2\n5,"",""",7,')
        .replace("\n20,400,x", "\n20"),
        "rows.csv:5: 'red' in column 'b' is not a number, but most of its values are; correct it, "
        "or list the column in `categorical`\n"
        "rows.csv:7: 4 values in a row, but the first line has 3\n"
        "rows.csv:23: one value in a row, but the first line has 3",
    ),
    "more ragged rows than are told": (
        GOOD.replace(",x", ",x,x"),
        "\nerror: ".join(
            f"rows.csv:{line}: 4 values in a row, but the first line has 3"
            for line in range(2, 22, 2)
        ).replace("error: ", ""),
    ),
    "only ragged rows": (
        "a,b,kind\n1,x\n",
        "rows.csv:2: 2 values in a row, but the first line has 3",
    ),
    "a missing label": (
        GOOD.replace("\n3,9,y", "\n3,9,"),
        "rows.csv:5: the target 'kind' is missing; fill it in, or leave the row out: "
        '`missing_target = "drop"`',
    ),
    "missing labels": (
        GOOD.replace(",x", ","),
        "rows.csv:2: the target 'kind' is missing in 20 of 40 rows (lines 2, 4, 6, ...); fill it "
        'in, or leave these rows out: `missing_target = "drop"`',
    ),
    "no labels at all": (
        GOOD.replace(",x", ",").replace(",y", ","),
        "rows.csv:2: the target 'kind' is missing in 40 of 40 rows (lines 2, 3, 4, ...)",
    ),
    "an infinite value": (
        GOOD.replace("\n3,9,", "\n3,inf,"),
        "rows.csv:5: 'inf' in column 'b' is not finite",
    ),
    "a ragged row": (
        GOOD.replace("\n3,9,", "\n3,"),
        "rows.csv:5: 2 values in a row, but the first line has 3",
    ),
    "an open quote": (
        GOOD.replace("\n3,9,", '\n"3,9,'),
        "rows.csv:5: a quote is never closed",
    ),
    "something after a quote": (
        GOOD.replace("\n3,9,", '\n3,"9"x,'),
        "rows.csv:5: something follows a closing quote; a quote inside a field is written twice",
    ),
    "one value in a row": (
        GOOD.replace("\n3,9,y", "\n3"),
        "rows.csv:5: one value in a row, but the first line has 3",
    ),
    "a ragged row after a field of two lines": (
        GOOD.replace("\n1,1,y", '\n1,1,"y\ny"').replace("\n3,9,", "\n3,9,9,"),
        "rows.csv:6: 4 values in a row, but the first line has 3",
    ),
    "a decimal comma": (
        GOOD.replace(",", ";").replace("\n3;9;", "\n3;9,5;"),
        "rows.csv:5: '9,5' in column 'b' has a comma; "
        "write numbers without thousands separators and with a decimal point, or say "
        '`decimal = ","`',
    ),
    "decimal commas everywhere": (
        "a;kind\n" + "".join(f"{i},5;{'xy'[i % 2]}\n" for i in range(40)),
        "rows.csv:2: '0,5' in column 'a' has a comma; "
        "write numbers without thousands separators and with a decimal point, or say "
        '`decimal = ","`',
    ),
    "dates": (
        "day,kind\n" + "".join(f"2024-01-{i + 1:02},{'xy'[i % 2]}\n" for i in range(30)),
        "rows.csv:2: '2024-01-01' in column 'day' looks like a date or a time; list the "
        "column in `dates` to learn from its year, month, day, weekday and seconds, or in `drop`",
    ),
    "no header": (
        "1,2,3\n4,5,6\n",
        "rows.csv:1: the first line holds numbers, not column names; "
        "say `header = false` if it is a row",
    ),
    "no header, with texts among the numbers": (
        "5.1,3,setosa\n4.9,2,virginica\n5.0,1,setosa\n",
        "rows.csv:1: the first line looks like a row, not like column names: 'setosa' is "
        "a value of column 3; say `header = false` if it is a row",
    ),
    "no header, and texts only": (
        "p,x,s\ne,x,y\np,b,s\n",
        "rows.csv:1: the first line looks like a row, not like column names: 'p' is a "
        "value of column 1; say `header = false` if it is a row",
    ),
    "a target of quantities": (
        "a,kind\n" + "".join(f"{i % 7},{i / 8}\n" for i in range(40)),
        "rows.csv: the target 'kind' has 40 different values in 40 rows; "
        "a classifier needs classes, not quantities or names",
    ),
    "a target of quantities with gaps": (
        "a,kind\n" + "".join(f"{i % 7},{i / 8 if i else ''}\n" for i in range(40)),
        "rows.csv:2: the target 'kind' is missing; its 39 different numbers look like "
        "measurements, not like classes",
    ),
    "a target of fractions that return, with a gap": (
        "a,kind\n" + "".join(f"{i % 7},{i % 30 / 8 if i else ''}\n" for i in range(90)),
        "rows.csv:2: the target 'kind' is missing; its 30 different numbers look like "
        "measurements, not like classes",
    ),
    "a target of many numbered classes, with a gap": (
        "a,kind\n" + "".join(f"{i % 7},{i % 30 if i else ''}\n" for i in range(90)),
        "rows.csv:2: the target 'kind' is missing; fill it in, or leave the row out: "
        '`missing_target = "drop"`',
    ),
    "names of rows only": (
        "who,kind\n" + "".join(f"n{i},{'xy'[i % 2]}\n" for i in range(40)),
        "rows.csv has no features: no column is left beside the target; left out: 'who' (id)",
    ),
    "a zero byte": (
        GOOD.replace("\n3,9", "\n3,\0"),
        "rows.csv:5: zero byte; this is not a text file",
    ),
    "text in UTF-16": (
        GOOD.encode("utf-16"),
        "data file 'rows.csv' is UTF-16; save it as UTF-8, or say `encoding = \"utf-16\"`",
    ),
    "blank lines": ("\n\n  \n", "data file 'rows.csv' holds blank lines only"),
    "several mistakes, the earliest first": (
        GOOD.replace("\n9,81,", "\nred,,").replace("\n3,9,", "\n3,,"),
        "rows.csv:5: a value is missing in column 'b'; "
        'fill it in, drop the column, or say `missing = "impute"`\n'
        "rows.csv:11: 'red' in column 'a' is not a number, but most of its values are; correct "
        "it, or list the column in `categorical`",
    ),
    "two columns of one name": (
        GOOD.replace("a,b", "a,a"),
        "rows.csv:1: two columns are called 'a'; rename one",
    ),
    "bytes that are not text": (
        b"a,b,kind\n\xff,2,x\n",
        "rows.csv:2: not UTF-8 (invalid start byte); save the file as UTF-8, or name its "
        'encoding, such as `encoding = "latin-1"`',
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


ARFF = """% a comment
@relation rows
@attribute a numeric
@attribute 'the colour' {red, 'light blue'}
@attribute kind {x, y}
@data
1, red, x
2, 'light blue', y
"""
OTHER_CASES = {
    "a column number that is none": (
        "rows.csv",
        GOOD,
        "target = 4",
        "rows.csv has no column number 4, which [data] names as the target; "
        "it has 3, and the first is 1",
    ),
    "a category that is no column": (
        "rows.csv",
        GOOD,
        'target = "kind", categorical = ["c"]',
        "rows.csv has no column 'c', which [data] names as categorical; available: a, b, kind",
    ),
    "a target that is dropped": (
        "rows.csv",
        GOOD,
        'target = "kind", drop = ["kind"]',
        "rows.csv: 'kind' is the target and cannot be dropped",
    ),
    "a broken gzip file": (
        "rows.csv.gz",
        gzip.compress(GOOD.encode())[:-12],
        'target = "kind"',
        "data file 'rows.csv.gz' cannot be decompressed: it is damaged or cut short",
    ),
    "a broken bzip2 file": (
        "rows.svm.bz2",
        bz2.compress(b"1 1:2\n" * 9)[:-9] + b"123456789",
        "",
        "data file 'rows.svm.bz2' cannot be decompressed: it is damaged or cut short",
    ),
    "a label that is a word": (
        "rows.svm",
        "1 1:2\n\nspam 1:3\n",
        "",
        "rows.svm:3: the label 'spam' is not a number",
    ),
    "a label that is a quantity": (
        "rows.svm",
        "1 1:2\n2.5 1:3\n",
        "",
        "rows.svm:2: the label '2.5' is not an integer; a classifier needs classes",
    ),
    "a label beyond all bounds": (
        "rows.svm",
        "1 1:2\n99999999999999999999 1:3\n",
        "",
        "rows.svm:2: the label '99999999999999999999' is too large: it must be below 2**53",
    ),
    "a pair without a value": (
        "rows.svm",
        "1 1:2\n2 1:3 4\n",
        "",
        "rows.svm:2: '4' is not index:value with a finite value",
    ),
    "a sparse value that is infinite": (
        "rows.svm",
        "1 1:2\n2 1:inf\n",
        "",
        "rows.svm:2: '1:inf' is not index:value with a finite value",
    ),
    "features out of order": (
        "rows.svm",
        "1 1:2 3:4\n2 3:1 1:2\n",
        "",
        "rows.svm:2: feature 1 comes after 3; numbers must increase",
    ),
    "a feature beyond all bounds": (
        "rows.svm",
        "1 1:2\n2 999999999:1\n",
        "",
        "rows.svm:2: feature 999999999 is larger than the limit, 100000000",
    ),
    "an undeclared level": (
        "rows.arff",
        ARFF.replace("2, 'light blue'", "2, 'dark blue'"),
        "",
        "rows.arff:8: 'dark blue' in column 'the colour' is none of its levels: red, light blue",
    ),
    "an ARFF row that is too short": (
        "rows.arff",
        ARFF + "3, red\n",
        "",
        "rows.arff:9: 2 values in a row, but the header has 3",
    ),
    "a sparse ARFF row that points nowhere": (
        "rows.arff",
        ARFF + "{0 3, 7 x}\n",
        "",
        "rows.arff:9: '7 x' must be an attribute number, 0 to 2, and its value",
    ),
    "an attribute without a type": (
        "rows.arff",
        ARFF.replace("a numeric", "a"),
        "",
        "rows.arff:3: an attribute needs a name and a type",
    ),
    "an attribute of an unknown type": (
        "rows.arff",
        ARFF.replace("a numeric", "a relational"),
        "",
        "rows.arff:3: attribute 'a' has type 'relational'; numeric, nominal, string "
        "and date attributes can be read",
    ),
    "ARFF without data": (
        "rows.arff",
        ARFF.partition("@data")[0],
        "",
        "data file 'rows.arff' is not ARFF: it has no line @data",
    ),
    "a strange line in an ARFF header": (
        "rows.arff",
        ARFF.replace("@relation", "@relatio"),
        "",
        "rows.arff:2: '@relatio rows' is not an ARFF header",
    ),
}


@pytest.mark.parametrize(
    ("name", "content", "keys", "sentence"), OTHER_CASES.values(), ids=OTHER_CASES.keys()
)
def test_a_bad_file_of_any_kind_is_told_in_one_sentence(
    dcsvm, recipe, tmp_path, name, content, keys, sentence
):
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(raw)
    data = ", ".join(filter(None, [f'path = "{name}"', keys]))
    text = RECIPE.replace('path = "FILE", target = "kind"', data)
    result = dcsvm("run", recipe(text))
    assert result.stderr == f"error: {sentence}\n"
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
        "rows.npz: X must hold numbers, got <U32",
    ),
    "numbers for labels": (
        {"X": X, "y": Y + 0.5},
        "rows.npz: y must hold integers or strings, got float64",
    ),
    "a missing value": (
        {"X": np.where(X == 5, np.nan, X), "y": Y},
        'rows.npz: X[2, 1] is nan, not finite; fill it in, or say `missing = "impute"`',
    ),
    "labels beyond the classes": (
        {"X": X, "y": Y, "classes": np.array(["a"])},
        "rows.npz: y must hold indices 0 to 0",
    ),
    "names of too few features": (
        {"X": X, "y": Y, "feature_names": np.array(["a"])},
        "rows.npz: feature_names must be 2 different names, one for each column of X",
    ),
    "levels of too few codes": (
        {"X": X, "y": Y, "categorical": np.array([1]), "levels_1": np.array(["a"])},
        "rows.npz: levels_1 names 1 levels, but column 1 of X has codes up to 39",
    ),
    "a category beyond the columns": (
        {"X": X, "y": Y, "categorical": np.array([2])},
        "rows.npz: categorical must hold column numbers, 0 to 1",
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
    assert result.stderr.startswith("error: the folder 'rows.csv' holds no file that ends in ")
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
        "error: chunks: cannot split 112 rows into 500 parts; set parts to 112 or less\n"
    )
    assert result.exit_code == 4


def test_a_test_share_that_leaves_nothing_to_test_on(dcsvm, recipe):
    text = RECIPE.replace('{ path = "FILE", target = "kind" }', '{ use = "iris" }')
    result = dcsvm("run", recipe(text + "split = { test = 0.001 }\n"))
    assert result.stderr == (
        "error: iris: a test share of 0.001 gives 150 training rows and 0 test rows of 150; "
        "both must have at least one\n"
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


def test_published_rows_of_one_class_to_learn_from(dcsvm, recipe, tmp_path):
    ones = np.ones(len(X), dtype=int)
    np.savez(tmp_path / "rows.npz", X_train=X, y_train=ones, X_test=X, y_test=Y)
    result = dcsvm("run", recipe(RECIPE.replace("FILE", "rows.npz")))
    assert result.stderr == (
        f"error: rows.npz: all {len(X)} training rows (of {2 * len(X)}) have class 1, and only "
        "test rows have other classes: a classifier needs two classes or more\n"
    )
    assert result.exit_code == 4


def test_rows_of_one_class_left_to_learn_from_in_a_search(dcsvm, recipe, tmp_path):
    rare = GOOD.replace(",y\n", ",x\n") + "50,2,y\n51,3,y\n"
    (tmp_path / "rows.csv").write_text(rare)
    text = RECIPE.replace("FILE", "rows.csv")
    text += "split = { test = 0.1, validation = 0.9, seed = 0 }\nsearch.learner.C = [1.0, 2.0]\n"
    result = dcsvm("run", recipe(text))
    assert result.stderr == (
        "error: the search: all 4 training rows of a fold (of 38) have class x, but a classifier "
        "needs at least two; use fewer validation rows, by folds in [search] or validation in "
        "[split]\n"
    )
    assert result.exit_code == 4


def test_features_where_a_precomputed_kernel_wants_a_matrix(dcsvm, recipe):
    text = """
    decomposer = "whole"
    learner = { use = "kernel_svm", kernel = "precomputed" }
    combiner = "route"
    data = { use = "iris" }
    """
    result = dcsvm("run", recipe(text))
    assert result.stderr == (
        "error: for a precomputed kernel, X must be the (n, n) kernel matrix of the training "
        "rows, got shape (112, 4)\n"
    )
    assert result.exit_code == 4
