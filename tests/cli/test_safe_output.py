"""Labels and column names with terminal escapes and formulas: shown and written as text."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from sklearn.datasets import load_iris

import dcsvm as package
from dcsvm.experiments.predict.answer_writers import open_answers
from dcsvm.experiments.progress import TerminalProgress

ESCAPE, FORMULA = "\x1b[31mred\x07", '=HYPERLINK("http://evil","pay")'
LABELS = [ESCAPE, FORMULA, "-1"]
NOTE = "=note\x1b[5m\x07"
COLUMNS = ["\x1b]0;title\x07", "@width", "petal", "color"]
RECIPE = """
name = "own"
data = { path = "rows.csv", target = "kind" }
decomposer = "class_pairs"
learner = "kernel_svm"
combiner = "vote"
class_weight = { CLASS = 2.0 }

[compare.other]
learner = { use = "kernel_svm", C = 10.0 }
"""


def write_rows(path):
    X, y = load_iris(return_X_y=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS[:3], "kind", NOTE, "code"])
        for row, k in zip(X, y, strict=True):
            note = "=cmd()" if k else "plain"
            writer.writerow([*row[:3], LABELS[k], note, "-5" if k else "7"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run of rows.csv, and what the run printed."""
    from typer.testing import CliRunner

    from dcsvm.cli import app

    folder = tmp_path_factory.mktemp("safe")
    write_rows(folder / "rows.csv")
    text = RECIPE.replace("class_weight = { CLASS = 2.0 }\n", "")
    (folder / "recipe.toml").write_text(text)
    results = [
        CliRunner().invoke(
            app, ["run", str(folder / "recipe.toml"), "--out", str(folder / name), "--jobs", "1",
                  *options]
        )
        for name, options in (
            ("kept", []), ("other", ["--set", "learner.C=5"]), ("raw", ["--raw"])
        )
    ]  # fmt: skip
    assert [each.exit_code for each in results] == [0, 0, 0], results[0].stderr
    return folder, results


def read_lines(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def has_controls(text):
    return any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in text)


@pytest.mark.slow
def test_a_run_prints_no_escapes(finished):
    _, (kept, *_) = finished
    assert not has_controls(kept.stdout + kept.stderr)
    assert "=note [5m" in kept.stdout  # titles are shortened to printable characters


def test_the_answers_of_a_run_hold_no_formula_and_are_found_again(finished):
    folder, _ = finished
    rows = read_lines(folder / "kept/predictions.csv")
    labels = {field for row in rows[1:] for field in row[2:]}
    assert labels == {ESCAPE, "'" + FORMULA, "-1"}
    raw = read_lines(folder / "raw/predictions.csv")
    assert {field for row in raw[1:] for field in row[2:]} == set(LABELS)
    from dcsvm.experiments.run.reports import read_record

    record = read_record(folder / "kept")
    assert {line["truth"] for line in record.read_csv("predictions.csv")} == set(LABELS)
    assert json.loads((folder / "kept/plan.json").read_text())["classes"] == sorted(LABELS)


@pytest.mark.parametrize("command", ["explain", "compare", "predict", "predict --keep"])
def test_commands_print_no_escapes(dcsvm, finished, command):
    folder, _ = finished
    given = {
        "explain": ["explain", folder / "kept"],
        "compare": ["compare", folder / "kept", folder / "other"],
        "predict": ["predict", folder / "kept", folder / "rows.csv"],
        "predict --keep": ["predict", folder / "kept", folder / "rows.csv", "--keep", NOTE,
                           "--keep", "code", "--keep", COLUMNS[0], "--scores"],
    }[command]  # fmt: skip
    result = dcsvm(*given)
    assert result.exit_code == 0, result.stderr
    assert not has_controls(result.output)
    if command != "compare":
        assert "\\x1b[31mred\\x07" in result.output
        raw = dcsvm(*given, "--raw")
        assert "red\x07" in raw.output
    if command == "predict --keep":
        head, *rows = csv.reader(io.StringIO(result.stdout))
        assert head[:4] == ["'=note\\x1b[5m\\x07", "code", "\\x1b]0;title\\x07", "prediction"]
        assert {row[0] for row in rows} == {"plain", "'=cmd()"}
        assert {row[1] for row in rows} == {"7", "-5"}
        assert {row[3] for row in rows} <= {"\\x1b[31mred\\x07", "'" + FORMULA, "-1"}
        assert all(float(row[4]) for row in rows)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "npz", "parquet"])
def test_only_texts_for_spreadsheets_are_quoted(dcsvm, finished, tmp_path, suffix):
    folder, _ = finished
    out = tmp_path / f"answers.{suffix}"
    for raw in (False, True):
        options = ["--raw"] * raw
        result = dcsvm("predict", folder / "kept", folder / "rows.csv", "--out", out, *options)
        assert result.exit_code == 0, result.stderr
        quoted = suffix in ("csv", "tsv") and not raw
        assert set(read_labels(out)) == {ESCAPE, "-1", "'" + FORMULA if quoted else FORMULA}


def read_labels(path):
    if path.suffix == ".npz":
        import numpy as np

        return np.load(path)["prediction"].tolist()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path).column("prediction").to_pylist()
    if path.suffix == ".jsonl":
        assert not has_controls(path.read_text())
        return [json.loads(line)["prediction"] for line in path.read_text().splitlines()]
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="") as file:
        return [row["prediction"] for row in csv.DictReader(file, delimiter=delimiter)]


def test_numbers_are_written_as_numbers(tmp_path):
    import numpy as np

    with open_answers(tmp_path / "a.csv", ["label", "text"]) as writer:
        writer.write([np.array([-1, 2]), ["-3", "+a"]])
    assert (tmp_path / "a.csv").read_text() == "label,text\n-1,-3\n2,'+a\n"


def test_errors_and_warnings_are_shown_as_text(dcsvm, finished, recipe):
    folder, _ = finished
    text = RECIPE.replace("CLASS", '"no such class"').replace("rows.csv", str(folder / "rows.csv"))
    result = dcsvm("run", recipe(text), "--out", "failed")
    assert result.exit_code == 4
    assert "no class 'no such class'" in result.stderr
    assert ", -1, =HYPERLINK" in result.stderr
    assert "\\x1b[31mred" in result.stderr
    assert not has_controls(result.stderr)
    Path("names.csv").write_text("\x1b[5mblink,b,kind\n1,2,x\n?!,3,y\n1,,x\n2,3,y\n" * 1)
    result = dcsvm("run", "quickstart", "--data", "names.csv", "--target", "kind")
    assert result.exit_code != 0
    assert not has_controls(result.stderr)


def test_progress_shows_titles_as_text():
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system=None, width=100)
    with TerminalProgress(console) as progress:
        progress.on_step_begin("reading [red]\x1b]0;owned\x07")
        assert progress.progress.tasks[0].description == "reading [red]\\x1b]0;owned\\x07"
    assert "]0;owned\x07" not in shown.getvalue()


def test_the_model_keeps_its_labels(finished):
    folder, _ = finished
    assert sorted(package.load(folder / "kept").classes_.tolist()) == sorted(LABELS)
