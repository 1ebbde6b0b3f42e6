"""The folder of a run: what is in it, and what its state says when something goes wrong."""

import csv
import json
import os
import re
import tomllib
import warnings

import numpy as np
import pytest

import dcsvm as package
from dcsvm.experiments.run.run_status import find_status
from dcsvm.numeric import native
from dcsvm.persistence.checkpoints import CheckpointLog

#: What every metrics.json holds.
METRICS = {
    *("test_accuracy", "test_error", "train_accuracy", "fit_seconds", "predict_seconds"),
    *("n_train", "n_test", "n_parts", "homogeneous_share"),
    *("n_support_vectors", "n_unique_support_vectors"),
    *("kernel_evaluations_mean", "kernel_evaluations_max"),
    *("unique_kernel_evaluations_mean", "hyperplanes_mean", "hyperplanes_max"),
}
UNDIVIDED = '\n[compare.undivided]\ndecomposer = "whole"\ncombiner = "route"\n'


@pytest.fixture
def kept(dcsvm, recipe, iris_pipeline, tmp_path):
    """The folder of a run of iris in pairs of classes, against the undivided SVM."""
    result = dcsvm("run", recipe(iris_pipeline + UNDIVIDED), "--out", "kept", "--seed", "3")
    assert result.exit_code == 0, result.stderr
    return tmp_path / "kept"


def loaded(path):
    return json.loads(path.read_text())


def test_a_run_keeps_what_was_asked_and_what_came_out(kept, iris_pipeline):
    names = {path.name for path in kept.iterdir()}
    assert names - {"report.html", "evidence.json"} == {
        *("recipe.toml", "resolved.toml", "request.json", "environment.json", "plan.json"),
        *("metrics.json", "result.json", "parts.csv", "predictions.csv", "model.dcsvm"),
        *("log.jsonl", "status.json", "inputs.json"),
    }
    assert (kept / "recipe.toml").read_text() == iris_pipeline + UNDIVIDED
    resolved = tomllib.loads((kept / "resolved.toml").read_text())
    assert resolved["learner"]["gamma"] == "scale"
    assert loaded(kept / "request.json")["seed"] == 3
    assert loaded(kept / "environment.json")["versions"]["dcsvm"] == package.__version__
    assert loaded(kept / "environment.json")["numeric"] == {
        "implementation": native.implementation(),
        "instruction_set": native.instruction_set(),
    }
    assert loaded(kept / "plan.json")["classes"] == ["setosa", "versicolor", "virginica"]
    assert loaded(kept / "status.json")["state"] == "done"
    events = [json.loads(line)["event"] for line in (kept / "log.jsonl").read_text().splitlines()]
    assert events[0] == "running"
    assert events[-1] == "done"


def test_metrics_are_flat_and_complete(kept):
    metrics = loaded(kept / "metrics.json")
    assert metrics.keys() >= METRICS
    assert all(not isinstance(value, dict | list) for value in metrics.values())
    for word in ("precision", "recall", "f1"):
        assert 0 <= metrics[f"{word}.setosa"] <= 1
    assert metrics["compare.undivided.n_parts"] == 1
    assert metrics["test_error"] == 1 - metrics["test_accuracy"]


def test_predictions_agree_with_the_model_and_the_measures(kept):
    from sklearn.datasets import load_iris

    with (kept / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    iris = load_iris()
    numbers = np.array([int(row["row"]) for row in rows])
    assert [row["truth"] for row in rows] == iris.target_names[iris.target[numbers]].tolist()
    model = package.load(kept / "model.dcsvm")
    assert model.predict(iris.data[numbers]).tolist() == [row["recipe"] for row in rows]
    right = np.mean([row["truth"] == row["recipe"] for row in rows])
    assert loaded(kept / "metrics.json")["test_accuracy"] == pytest.approx(right)


def test_the_folder_is_loaded_as_its_model(kept):
    rows = np.full((2, 4), 3.0)
    expected = package.load(kept / "model.dcsvm").decision_function(rows)
    assert (package.load(kept).decision_function(rows) == expected).all()


def test_the_ledger_holds_every_part_of_every_model(kept):
    with (kept / "parts.csv").open() as file:
        parts = list(csv.DictReader(file))
    assert [each["model"] for each in parts] == ["recipe"] * 3 + ["undivided"]
    assert parts[0]["path"] == "0.0"
    assert json.loads(parts[0]["parameters"])["C"] == 1.0


def test_the_ledger_says_how_many_rows_a_part_kept(dcsvm, recipe, tmp_path):
    tree = 'data.use = "iris"\ndecomposer = { use = "tree", ceiling = 40 }\n'
    text = f'{tree}learner = "kernel_svm"\ncombiner = "route"\n'
    assert dcsvm("run", recipe(text), "--out", "kept").exit_code == 0
    with (tmp_path / "kept" / "parts.csv").open() as file:
        parts = [each for each in csv.DictReader(file) if each["kind"] != "Composite"]
    constant = [each for each in parts if each["kind"] == "Constant"]
    learned = [each for each in parts if each["kind"] == "KernelExpansion"]
    assert len(constant) > 0 < len(learned)
    assert [each["kept"] for each in constant] == [each["rows"] for each in constant]
    assert [each["kept"] for each in learned] == [each["support_vectors"] for each in learned]


def test_a_search_is_kept(dcsvm, recipe, iris_pipeline, tmp_path):
    text = iris_pipeline + "[search]\nlearner.C = [0.001, 1.0]\n"
    assert dcsvm("run", recipe(text), "--out", "kept").exit_code == 0
    found = loaded(tmp_path / "kept" / "search.json")["recipe/0"]
    assert len(found["tried"]) == 2
    assert found["values"].keys() == {"learner.C"}


def test_runs_have_a_place_by_name_time_and_hash(dcsvm, recipe, iris_pipeline, tmp_path):
    for _ in range(2):
        assert dcsvm("run", recipe('name = "my/own"\n' + iris_pipeline)).exit_code == 0
    first, second = sorted((tmp_path / "runs" / "my_own").iterdir())
    assert first.name.split("-")[2] == second.name.split("-")[2]


def test_a_folder_that_is_not_empty_is_left_alone(dcsvm, recipe, iris_pipeline, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    result = dcsvm("run", recipe(iris_pipeline), "--out", "full")
    assert result.stderr == (
        "error: the folder 'full' is not empty, and not of a run; choose another for --out\n"
    )
    assert result.exit_code == 2
    assert dcsvm("run", recipe(iris_pipeline), "--out", "twice").exit_code == 0
    result = dcsvm("run", recipe(iris_pipeline), "--out", "twice")
    assert result.stderr == (
        "error: the folder 'twice' has a run that is done; choose another for --out\n"
    )
    assert result.exit_code == 2


FAILING = """
from dcsvm import LocalLearner, component, hookimpl


@component
class Failing(LocalLearner):
    "Learns nothing."

    name = "failing"

    def fit(self, problem):
        raise ZeroDivisionError("no luck today")


@hookimpl
def dcsvm_learners():
    return [Failing]
"""


def failed(dcsvm, recipe, iris_pipeline, tmp_path):
    """A run in the folder `kept` that ended with its first part."""
    (tmp_path / "failing.py").write_text(FAILING)
    text = iris_pipeline.replace("kernel_svm", "failing")
    given = ("--plugin", "failing.py", "--out", "kept", "--jobs", "1")
    return dcsvm("run", recipe(text), *given)


@pytest.mark.slow
def test_a_run_that_failed_before_training_makes_way_for_the_next(
    dcsvm, recipe, iris_pipeline, tmp_path
):
    assert failed(dcsvm, recipe, iris_pipeline, tmp_path).exit_code == 1
    assert dcsvm("run", recipe(iris_pipeline), "--out", "kept").exit_code == 0
    assert loaded(tmp_path / "kept" / "status.json")["state"] == "done"


def test_bad_data_leave_no_folder(dcsvm, recipe, iris_pipeline, tmp_path):
    text = iris_pipeline.replace('use = "iris"', 'path = "rows.csv"\ntarget = "kind"')
    (tmp_path / "rows.csv").write_text("a,kind\n1,x\n,y\n")
    (tmp_path / "empty").mkdir()
    for more in ((), ("--out", "there/kept"), ("--out", "empty")):
        result = dcsvm("run", recipe(text), *more)
        assert result.exit_code == 4
        assert result.stderr.startswith("error: rows.csv:3: a value is missing")
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["empty", "recipe.toml", "rows.csv"]


def test_bad_data_leave_other_runs_alone(dcsvm, recipe, iris_pipeline, tmp_path):
    assert dcsvm("run", recipe(iris_pipeline)).exit_code == 0
    (before,) = (tmp_path / "runs" / "recipe").iterdir()
    assert dcsvm("run", "recipe.toml", "--data", "nowhere.npz").exit_code == 4
    assert list((tmp_path / "runs" / "recipe").iterdir()) == [before]


def test_bad_data_while_resuming_leave_the_folder(dcsvm, recipe, iris_pipeline, tmp_path):
    text = iris_pipeline.replace('use = "iris"', 'path = "rows.csv"\ntarget = "kind"')
    rows = "".join(f"{i % 7},{'xy'[i % 7 > 3]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text("a,kind\n" + rows)
    assert dcsvm("run", recipe(text), "--out", "kept").exit_code == 0
    status = tmp_path / "kept" / "status.json"
    status.write_text(json.dumps(loaded(status) | {"state": "interrupted"}))
    (tmp_path / "rows.csv").rename(tmp_path / "away.csv")
    assert dcsvm("run", "--resume", "kept").exit_code == 4
    assert loaded(status)["state"] == "failed"


@pytest.mark.slow
def test_a_killed_run_counts_as_interrupted_everywhere(dcsvm, recipe, iris_pipeline, tmp_path):
    dcsvm("run", recipe(iris_pipeline), "--out", "my run")
    for name in ("metrics.json", "result.json", "model.dcsvm"):
        (tmp_path / "my run" / name).unlink()
    (tmp_path / "my run" / "status.json").write_text('{"state": "running", "process": 4194305}')
    names = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)"
    (tmp_path / "new.csv").write_text(f"{names}\n5,3,1,0.2\n")
    for words in (
        ("compare", "my run", "my run"),
        ("report", "my run"),
        ("explain", "my run"),
        ("predict", "my run", "new.csv"),
    ):
        result = dcsvm(*words)
        assert result.stderr == (
            "error: the run in 'my run' was interrupted: dcsvm run --resume 'my run' goes on "
            "with it\n"
        )
        assert result.exit_code == 2
    resumed = dcsvm("run", "--resume", "my run")
    assert resumed.exit_code == 0
    assert "no part had been finished before: all were trained now\n" in resumed.stderr
    assert dcsvm("predict", "my run", "new.csv").stdout == "prediction\nsetosa\n"


def test_a_run_that_goes_on_is_not_taken_for_a_killed_one(dcsvm, recipe, iris_pipeline, tmp_path):
    dcsvm("run", recipe(iris_pipeline), "--out", "run")
    folder = tmp_path / "run"
    (folder / "status.json").write_text('{"state": "running", "process": 4194305}')
    log = CheckpointLog(folder / "parts.log")
    assert find_status(folder).sentence == f"the run in {str(folder)!r} is still going on"
    log.close()
    assert find_status(folder).state == "interrupted"
    (folder / "parts.log").unlink()
    (folder / "status.json").write_text(f'{{"state": "running", "process": {os.getpid()}}}')
    assert find_status(folder).state == "running"


def test_a_failed_run_is_told_with_its_reason(dcsvm, recipe, iris_pipeline, tmp_path):
    failed(dcsvm, recipe, iris_pipeline, tmp_path)
    assert re.fullmatch(
        r"error: the run in 'kept' failed \(.*no luck today.*\); once that is mended, dcsvm run "
        r"--resume kept goes on with it\n",
        dcsvm("report", "kept").stderr,
    )


def test_a_run_that_fails_says_why_in_its_folder(dcsvm, recipe, iris_pipeline, tmp_path):
    assert failed(dcsvm, recipe, iris_pipeline, tmp_path).exit_code == 1
    assert "no luck today" in loaded(tmp_path / "kept" / "status.json")["error"]


UNSAVED = """
import numpy as np
from dcsvm import LocalLearner, LocalModel, component, hookimpl


class Strange(LocalModel):
    def scores(self, X):
        return np.asarray(X)[:, :1]


@component
class Learner(LocalLearner):
    "Learns what no file can hold."

    name = "unsaved"

    def fit(self, problem):
        return Strange()


@hookimpl
def dcsvm_learners():
    return [Learner]
"""


def test_a_model_that_no_file_can_hold_makes_a_run_partial(dcsvm, recipe, iris_pipeline, tmp_path):
    warnings.simplefilter("always")  # undone by pytest after the test
    (tmp_path / "unsaved.py").write_text(UNSAVED)
    text = iris_pipeline.replace("kernel_svm", "unsaved")
    result = dcsvm("run", recipe(text), "--plugin", "unsaved.py", "--out", "kept", "--jobs", "1")
    assert result.exit_code == 5, result.stderr
    assert "warning: the model is not kept: cannot save" in result.stderr
    assert loaded(tmp_path / "kept" / "status.json")["state"] == "partial"
    assert (tmp_path / "kept" / "metrics.json").exists()


def test_what_a_search_tried_is_a_table(dcsvm, recipe, iris_pipeline, tmp_path):
    text = iris_pipeline.replace("class_pairs", "tree").replace('"vote"', '"route"')
    text += '[search]\nuse = "granularity"\nlearner.C = [1.0, 10.0]\n'
    assert dcsvm("run", recipe(text), "--out", "kept").exit_code == 0
    with open(tmp_path / "kept" / "trials.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["learner.C"] for line in lines[:2]] == ["1.0", "10.0"]
    assert {"model", "search", "scored_by", "score", "seconds", "decomposer.ceiling"} <= set(
        lines[0]
    )
    assert all(0 < float(line["score"]) <= 1 for line in lines)


@pytest.mark.slow
def test_what_a_killed_process_left_half_written_is_taken_away(
    dcsvm, recipe, iris_pipeline, tmp_path
):
    assert dcsvm("run", recipe(iris_pipeline), "--out", "kept").exit_code == 0
    (tmp_path / "kept" / "metrics.json").unlink()
    (tmp_path / "kept" / ".0123456789abcdef.part").write_text("half of a f")
    status = tmp_path / "kept" / "status.json"
    status.write_text(json.dumps(loaded(status) | {"state": "running"}))
    done = dcsvm("run", "--resume", "kept")
    assert done.exit_code == 0, done.stderr
    assert not list((tmp_path / "kept").glob(".*"))
    assert (tmp_path / "kept" / "metrics.json").exists()
