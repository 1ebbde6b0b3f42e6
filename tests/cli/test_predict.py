"""`dcsvm predict`: a model's answers for the rows of a file."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, load, save
from dcsvm.datasets.loading import read
from dcsvm.experiments.predict.predictor import predict_file
from dcsvm.toolbox import Column, TableSchema

SCHEMA = TableSchema(
    (Column("size"), Column("colour", ("blue", "red"))), "kind", ("id",), left_out=("flat",)
)
NEW = "flat,colour,id,size\n1,red,a7,0.5\n1,blue,a8,3.5\n"


@pytest.fixture
def model(tmp_path):
    """A model of small and large things, in the file `model.dcsvm`."""
    X = np.array([[size, code] for size in np.arange(0, 4, 0.1) for code in (0, 1)])
    y = np.where(X[:, 0] > 2, "large", "small")
    classifier = DivideAndConquerClassifier("whole", "kernel_svm", "route")
    classifier = make_pipeline(TablePreparation(schema=SCHEMA), classifier)
    save(classifier.fit(X, y), tmp_path / "model.dcsvm")
    return "model.dcsvm"


@pytest.fixture
def write(tmp_path):
    def text(name, content):
        (tmp_path / name).write_text(content, errors="surrogateescape")
        return name

    return text


def test_columns_come_in_any_order_and_names_of_rows_are_kept(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", NEW))
    assert result.stdout == "id,prediction\na7,small\na8,large\n"
    assert result.stderr == ""
    assert result.exit_code == 0


def test_other_columns_are_kept_if_asked_for(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", NEW), "--keep", "flat", "--keep", "id")
    assert result.stdout == "flat,id,prediction\n1,a7,small\n1,a8,large\n"


def test_scores_are_those_of_the_model(dcsvm, model, write):
    lines = dcsvm("predict", model, write("new.csv", NEW), "--scores").stdout.splitlines()
    assert lines[0] == "id,prediction,score_small"
    scores = [float(line.split(",")[2]) for line in lines[1:]]
    expected = load(model).decision_function(np.array([[0.5, 1], [3.5, 0]]))
    np.testing.assert_array_equal(scores, expected)


def test_rows_that_come_with_their_class_give_an_accuracy(dcsvm, model, write):
    name = write("new.csv", "size,colour,kind\n1,red,small\n3,red,small\n1,blue,\n")
    result = dcsvm("predict", model, name)
    assert result.stdout == "prediction\nsmall\nlarge\nsmall\n"
    assert result.stderr == "accuracy: 0.5000 on the 2 rows that came with their class\n"


def test_classes_that_were_never_learned_are_counted_and_told(dcsvm, model, write):
    name = write("new.csv", "size,colour,kind\n1,red,small\n3,red,huge\n1,blue,\n")
    result = dcsvm("predict", model, name)
    assert result.stderr == (
        "warning: one row is of a class that the model never learned, and counts as answered "
        "wrongly\naccuracy: 0.5000 on the 2 rows that came with their class\n"
    )
    name = write("new.csv", "size,colour,kind\n1,red,tiny\n3,red,huge\n")
    result = dcsvm("predict", model, name, "--out", "out.csv", "--json")
    assert json.loads(result.stdout)["n_unlearned"] == 2


def test_unknown_levels_are_counted_and_told(dcsvm, model, write):
    text = "size,colour\n1,green\n3,pink\n3,red\n"
    result = dcsvm("predict", model, write("new.csv", text))
    assert result.stdout == "prediction\nsmall\nlarge\nlarge\n"
    assert result.stderr == (
        "warning: column 'colour': 2 values are levels that the model never saw, "
        "and count as none of those it knows: such as 'green', new.csv:2\n"
    )
    once = dcsvm("predict", model, write("new.csv", "size,colour\n1,green\n"))
    assert once.stderr == (
        "warning: column 'colour': one value is a level that the model never saw, "
        "and counts as none of those it knows: 'green', new.csv:2\n"
    )


def save_model(path, features, missing="mark", dates=(), **writing):
    """Save a model of rows without gaps, whose schema has these columns."""
    schema = TableSchema(features, "kind", dates=dates, **writing)
    rows = [[i % (len(each.levels or ()) or 7) for each in features] for i in range(40)]
    prepare = TablePreparation(schema=schema, missing=missing)
    classifier = DivideAndConquerClassifier("whole", "kernel_svm", "route")
    model = make_pipeline(prepare, classifier).fit(np.array(rows, dtype=float), ["x", "y"] * 20)
    save(model, path)


def test_all_missing_columns_are_told_by_the_names_of_the_file(dcsvm, write, tmp_path):
    parts = tuple(Column(f"when {part}") for part in ("year", "month", "day"))
    save_model(tmp_path / "m.dcsvm", (Column("size"), *parts, Column("a")), dates=("when",))
    result = dcsvm("predict", "m.dcsvm", write("new.csv", "siz,b\n1,2\n"))
    assert result.stderr == (
        "error: new.csv has no column 'when' (nor 'size', 'a'), which the model was trained on; "
        "available: b, siz\n"
    )


def test_a_file_in_utf_8_for_a_model_of_another_encoding_is_suspected(dcsvm, write, tmp_path):
    towns = Column("ort", ("München", "Ulm"))
    save_model(tmp_path / "m.dcsvm", (Column("size"), towns), encoding="iso8859-1")
    name = write("new.csv", "size,ort\n1,Mars\n2,München\n")
    told = dcsvm("predict", "m.dcsvm", name).stderr
    assert "such as 'M\xc3\xbcnchen', new.csv:3; it looks like UTF-8, but the model " in told
    assert told.endswith("reads iso8859-1: name its encoding (--encoding utf-8)\n")
    told = dcsvm("predict", "m.dcsvm", name, "--encoding", "utf-8").stderr
    assert told.endswith("none of those it knows: 'Mars', new.csv:2\n")
    save_model(tmp_path / "m.dcsvm", (Column("größe"), towns), encoding="iso8859-1")
    told = dcsvm("predict", "m.dcsvm", write("new.csv", "größe,ort\n1,Ulm\n")).stderr
    assert "has no column 'größe', which the model was trained on; it looks like UTF-8" in told


def test_a_decimal_point_for_a_model_of_commas_is_told_with_the_option(dcsvm, write, tmp_path):
    save_model(tmp_path / "m.dcsvm", (Column("size"), Column("a")), decimal=",")
    name = write("new.csv", "size;a\n1.5;2\n")
    told = dcsvm("predict", "m.dcsvm", name).stderr
    assert "'1.5' in column 'size' has a decimal point, but the model reads numbers with" in told
    assert told.endswith('`decimal = "."` (--decimal .)\n')
    assert dcsvm("predict", "m.dcsvm", name, "--decimal", ".").exit_code == 0


def test_gaps_in_columns_that_had_none_in_training_are_told(dcsvm, write, tmp_path):
    save_model(tmp_path / "m.dcsvm", (Column("size"), Column("a")))
    told = dcsvm("predict", "m.dcsvm", write("new.csv", "size,a\n1,2\n,2\n,3\n")).stderr
    assert told == (
        "warning: column 'size': 2 values are missing, and none was in training; what was usual "
        "there is filled in\n"
    )


def test_booleans_may_be_words_or_numbers(dcsvm, write, tmp_path):
    save_model(tmp_path / "m.dcsvm", (Column("size"), Column("flag", ("False", "True"))))
    answers = [
        dcsvm("predict", "m.dcsvm", write("new.csv", f"size,flag\n1,{no}\n1,{yes}\n"))
        for no, yes in (("False", "True"), ("false", "true"), (0, 1))
    ]
    assert {each.stderr for each in answers} == {""}
    assert len({each.stdout for each in answers}) == 1
    save_model(tmp_path / "m.dcsvm", (Column("size"), Column("flag")))
    answered = dcsvm("predict", "m.dcsvm", write("new.csv", "size,flag\n1,True\n1,False\n"))
    assert answered.exit_code == 0
    refused = dcsvm("predict", "m.dcsvm", write("new.csv", "size,flag\n1,True\n1,3\n"))
    assert "'True' in column 'flag' is not a number" in refused.stderr


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_answers_as_text_are_quoted_where_they_must_be(dcsvm, model, write, tmp_path, name):
    text = 'size,colour,id\n1,red,"a, ""b"""\n3,red,"a\tb"\n'
    result = dcsvm("predict", model, write("new.csv", text), "--out", name)
    assert result.stdout == ""
    assert result.stderr == f"2 rows answered: {name}\n"
    again = read(tmp_path / name, "prediction", categorical=["id"])
    assert again.schema.features[0].levels == ("a\tb", 'a, "b"')
    assert again.y.tolist() == ["small", "large"]


def test_answers_as_json_lines(dcsvm, model, write, tmp_path):
    dcsvm("predict", model, write("new.csv", NEW), "--out", "out.jsonl", "--scores")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["id"], row["prediction"]) for row in rows] == [("a7", "small"), ("a8", "large")]
    assert rows[0]["score_small"] > 0 > rows[1]["score_small"]


def test_answers_as_arrays_whatever_a_column_is_called(dcsvm, model, write, tmp_path):
    text = NEW.replace("flat", "file")
    result = dcsvm("predict", model, write("new.csv", text), "--out", "out.npz", "--keep", "file")
    assert result.exit_code == 0, result.stderr
    with np.load(tmp_path / "out.npz", allow_pickle=False) as found:
        assert {key: found[key].tolist() for key in found.files} == {
            "id": ["a7", "a8"],
            "file": ["1", "1"],
            "prediction": ["small", "large"],
        }


@pytest.mark.parametrize("name", ["out.parquet", "out.feather", "out.arrow"])
def test_answers_as_typed_columns(dcsvm, model, write, tmp_path, name):
    pytest.importorskip("pyarrow")
    result = dcsvm("predict", model, write("new.csv", NEW), "--out", name, "--scores")
    assert result.exit_code == 0, result.stderr
    again = dcsvm("predict", model, write("new.csv", NEW), "--scores").stdout
    data = read(tmp_path / name, "prediction", categorical=["id"])
    assert data.y.tolist() == ["small", "large"]
    assert [float(line.split(",")[2]) for line in again.splitlines()[1:]] == data.X[:, 1].tolist()


def test_a_summary_as_json(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", NEW), "--out", "out.csv", "--json")
    assert json.loads(result.stdout) == {
        "n_rows": 2,
        "n_labelled": 0,
        "accuracy": None,
        "n_unlearned": 0,
        "unknown_levels": {},
    }
    alone = dcsvm("predict", model, "new.csv", "--json")
    assert alone.stderr == (
        "error: --json prints a summary: name a file for the answers with --out\n"
    )
    assert alone.exit_code == 2


def test_many_blocks_give_the_same_answers_as_one(dcsvm, model, write, monkeypatch):
    rows = "".join(f"{size / 10},red,{size}\n" for size in range(40))
    name = write("new.csv", f"size,colour,id\n{rows}")
    whole = dcsvm("predict", model, name).stdout
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 32)
    assert dcsvm("predict", model, name).stdout == whole
    assert len(whole.splitlines()) == 41


def test_progress_is_told_in_bytes_of_the_file(model, write, tmp_path, monkeypatch):
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 64)
    name = write("new.csv", "size,colour\n" + "1,red\n" * 100)
    told: list[int] = []
    predict_file(load(model), tmp_path / name, tmp_path / "out.csv", on_bytes=told.append)
    assert len(told) > 3
    assert sum(told) == (tmp_path / name).stat().st_size


BROKEN = {
    "a column is not there": (
        "size,color\n1,red\n",
        "new.csv has no column 'colour', which the model was trained on; "
        "did you mean 'color'? available: color, size",
    ),
    "several columns are not there": (
        "a,b\n1,red\n",
        "new.csv has no column 'size' (nor 'colour'), which the model was trained on; "
        "available: a, b",
    ),
    "a value is missing": (
        "size,colour\n1,red\n,red\n",
        "new.csv:3: a value is missing in column 'size'; the model was trained without missing "
        'values (with `missing = "impute"`, it would fill them in)',
    ),
    "a level is missing": (
        "size,colour\n1,red\n1,?\n",
        "new.csv:3: a value is missing in column 'colour'; the model was trained without missing "
        'values (with `missing = "impute"`, it would fill them in)',
    ),
    "a word where a number belongs": (
        "size,colour\n1,red\n\nbig,red\n",
        "new.csv:4: 'big' in column 'size' is not a number",
    ),
    "several mistakes, in all rows": (
        "size,colour\n1,red\n,red\n3\n1,\nbig,red\n",
        "new.csv:3: a value is missing in column 'size' (and in 'colour'); the model was trained "
        'without missing values (with `missing = "impute"`, it would fill them in)\n'
        "new.csv:4: one value in a row, but the first line has 2\n"
        "new.csv:6: 'big' in column 'size' is not a number",
    ),
    "a decimal comma": (
        'size,colour\n"1,5",red\n',
        "new.csv:2: '1,5' in column 'size' has a decimal comma, but the model reads numbers with "
        'a decimal point; correct it, or say that the file has `decimal = ","` (--decimal ,)',
    ),
    "text in Latin-1": (
        "size,colour\n1,gr\udcfcn\n",
        "new.csv:2: not UTF-8 (invalid start byte); save the file as UTF-8, or name its encoding, "
        'such as `encoding = "latin-1"` (--encoding latin-1)',
    ),
    "a ragged row": (
        "size,colour\n1,red\n1,red,2\n",
        "new.csv:3: 3 values in a row, but the first line has 2",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_bad_file_is_told_in_one_sentence_and_nothing_is_written(
    dcsvm, model, write, tmp_path, text, sentence
):
    before = {*tmp_path.iterdir(), tmp_path / "new.csv"}
    result = dcsvm("predict", model, write("new.csv", text), "--out", "out.csv")
    assert result.stderr == f"error: {sentence}\n"
    assert result.exit_code == 4
    assert set(tmp_path.iterdir()) == before


def test_nothing_is_printed_of_a_file_whose_first_rows_are_bad(dcsvm, model, write):
    text, sentence = BROKEN["a word where a number belongs"]
    result = dcsvm("predict", model, write("new.csv", text))
    assert (result.stdout, result.stderr) == ("", f"error: {sentence}\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--keep", "name"],
            "new.csv has no column 'name' to keep; available: colour, flat, id, size",
        ),
        (
            ["--out", "out.xlsx"],
            "answers cannot be written to 'out.xlsx': no writer has the suffix '.xlsx'; "
            "available: .csv, .tsv, .jsonl, .npz, .parquet, .feather, .arrow",
        ),
        (
            ["--out", "nowhere/out.csv"],
            "answers cannot be written to 'nowhere/out.csv': there is no directory 'nowhere'",
        ),
        (
            ["--out", "folder.csv"],
            "answers cannot be written to 'folder.csv': it is a directory",
        ),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_read(
    dcsvm, model, write, tmp_path, options, sentence
):
    (tmp_path / "folder.csv").mkdir()
    result = dcsvm("predict", model, write("new.csv", NEW), *options)
    assert result.stderr == f"error: {sentence}\n"
    assert result.exit_code == 2


def test_two_columns_of_one_name_would_be_no_answer(dcsvm, model, write):
    name = write("new.csv", "size,colour,prediction\n1,red,x\n")
    result = dcsvm("predict", model, name, "--keep", "prediction")
    assert result.stderr == "error: two columns of the answers would be called 'prediction'\n"
    assert result.exit_code == 2


def test_a_model_that_is_none_and_data_that_are_none(dcsvm, model, write):
    assert dcsvm("predict", write("m.dcsvm", "x"), write("new.csv", NEW)).stderr == (
        "error: model file 'm.dcsvm' is not a dcsvm model file\n"
    )
    result = dcsvm("predict", "nowhere", "new.csv")
    assert result.stderr == (
        "error: 'nowhere' does not exist: name a model file or a run's folder\n"
    )
    assert result.exit_code == 4
    result = dcsvm("predict", model, "nowhere.csv")
    assert result.stderr == "error: data file 'nowhere.csv' does not exist\n"
    assert result.exit_code == 4


def fitted(tmp_path, X, y, schema=None):
    model = DivideAndConquerClassifier("whole")
    if schema is not None:
        model = make_pipeline(TablePreparation(schema=schema), model)
    save(model.fit(X, y), tmp_path / "model.dcsvm")


def test_a_model_trained_in_python_answers_columns_by_their_place(dcsvm, write, tmp_path):
    fitted(tmp_path, np.arange(20.0).reshape(10, 2), np.arange(10) > 4)
    result = dcsvm("predict", "model.dcsvm", write("new.csv", "a,b\n0,1\n18,19\n"))
    assert result.stdout == "prediction\nFalse\nTrue\n"
    result = dcsvm("predict", "model.dcsvm", write("new.csv", "a\n0\n"))
    assert result.stderr == (
        "error: new.csv has 1 columns, but the model was trained on 2 features that have no "
        "names\n"
    )


def test_a_model_trained_on_a_data_frame_answers_columns_by_name(dcsvm, write, tmp_path):
    pandas = pytest.importorskip("pandas")
    X = np.arange(20.0).reshape(10, 2)
    fitted(tmp_path, pandas.DataFrame(X, columns=["a", "b"]), np.arange(10) > 4)
    result = dcsvm("predict", "model.dcsvm", write("new.csv", "b,a\n1,0\n19,18\n"))
    assert result.stdout == "prediction\nFalse\nTrue\n"


def test_a_file_without_names_has_its_columns_in_the_order_of_training(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", "0.5,red\n3.5,blue\n"), "--no-header")
    assert result.stdout == "prediction\nsmall\nlarge\n"


def test_a_file_without_names_is_told_as_a_word_of_the_command_line(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", "0.5,red\n3.5,blue\n4,red\n"))
    assert result.stderr == (
        "error: new.csv:1: the first line looks like a row, not like column names: 'red' "
        "is a value of column 2; say `header = false` if it is a row (--no-header)\n"
    )
    assert result.exit_code == 4


def test_no_rows_give_no_answers(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.csv", "size,colour\n"))
    assert result.stdout == "prediction\n"


@pytest.mark.slow
def test_whoever_stops_reading_is_no_error(model, write, tmp_path):
    rows = "1,red\n" * 200_000
    write("new.csv", f"size,colour\n{rows}")
    command = f"'{sys.executable}' -m dcsvm predict model.dcsvm new.csv | head -2"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("prediction\nsmall\n", "")


def test_sparse_rows_are_answered(dcsvm, write, tmp_path):
    text = "1 1:1 3:1\n-1 2:1\n" * 5
    data = read(tmp_path / write("old.svm", text))
    fitted(tmp_path, data.X, data.y, data.schema)
    result = dcsvm("predict", "model.dcsvm", write("new.svm", "1 1:1\n-1 2:1 9:4\n1 2:1\n"))
    assert result.stdout == "prediction\n1\n-1\n-1\n"
    assert result.stderr == (
        "warning: new.svm has features beyond those of the model (up to 6 more); "
        "they were left out\n"
        "accuracy: 0.6667 on the 3 rows that came with their class\n"
    )
    result = dcsvm("predict", "model.dcsvm", write("new.svm", "1 0:1\n"))
    assert result.stderr == (
        "error: new.svm has a feature number 0, but those of the model begin at 1\n"
    )
    result = dcsvm("predict", "model.dcsvm", write("new.csv", NEW))
    assert result.stderr == (
        "error: new.csv: the model was trained on sparse rows, whose features are numbered; "
        "give it an svmlight file, or an NPZ file with a sparse matrix\n"
    )


def test_sparse_rows_for_a_model_with_categories(dcsvm, model, write):
    result = dcsvm("predict", model, write("new.svm", "1 1:1\n"))
    assert result.stderr == (
        "error: new.svm holds sparse rows, but the model was trained on a table with categories; "
        "give it such a table\n"
    )


def test_arrays_are_answered_with_their_levels(dcsvm, model, tmp_path):
    np.savez(
        tmp_path / "new.npz",
        X=np.array([[1, 0.5], [0, 3.5]]),
        y=np.array([0, 1]),
        classes=np.array(["small", "large"]),
        categorical=np.array([0]),
        levels_0=np.array(["blue", "red"]),
        feature_names=np.array(["colour", "size"]),
    )
    result = dcsvm("predict", model, "new.npz")
    assert result.stdout == "prediction\nsmall\nlarge\n"


RECIPE = """
[data]
path = "customers.csv"
target = "churn"
missing = "impute"

[decomposer]
use = "class_pairs"

[learner]
use = "kernel_svm"
C = 100.0

[combiner]
use = "vote"
"""


def test_from_a_table_of_ones_own_to_answers_without_python(dcsvm, recipe, write, tmp_path):
    """A categorical column, a missing value and a rare class."""
    lines = ["customer_id,age,plan,income,churn"]
    for i in range(300):
        age, plan = 18 + (7 * i) % 60, ("free", "basic", "gold")[i % 3]
        churn = "unsure" if i % 60 == 0 else "yes" if age < 35 and plan == "free" else "no"
        income = "" if i == 17 else 200 if churn == "unsure" else 40 + i % 20
        lines.append(f"{1000 + i},{age},{plan},{income},{churn}")
    write("customers.csv", "\n".join(lines))
    trained = dcsvm("run", recipe(RECIPE), "--out", "mine", "--jobs", "1")
    assert trained.exit_code == 0, trained.stderr
    new = "plan,income,age,customer_id\nfree,50,20,7\nfree,,60,8\nfree,200,18,9\nvip,50,40,10\n"
    result = dcsvm("predict", "mine/model.dcsvm", write("new.csv", new))
    assert result.stdout == "customer_id,prediction\n7,yes\n8,no\n9,unsure\n10,no\n"
    assert "column 'plan': one value is a level that the model never saw" in result.stderr


@pytest.mark.slow
def test_a_model_remembers_which_words_are_missing(dcsvm, tmp_path):
    lines = [f"{i},{('none', 'red')[i % 2]},{'xy'[i % 2]}" for i in range(40)]
    text = "size,colour,kind\n" + "\n".join(lines) + "\n-999,red,y\n"
    (tmp_path / "rows.csv").write_text(text)
    said = ["--set", "data.missing=impute", "--set", 'data.missing_values=["-999"]']
    asked = ["run", "global_svm", "--data", "rows.csv", "--target", "kind", "--out", "run"]
    assert dcsvm(*asked, *said).exit_code == 0
    (tmp_path / "new.csv").write_text("size,colour\n-999,none\n3,red\n")
    answered = dcsvm("predict", "run", "new.csv")
    assert answered.stdout.splitlines()[1:] == ["x", "y"]
    assert "never saw" not in answered.stderr
