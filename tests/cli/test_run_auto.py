"""`dcsvm run auto`: one command for any table, and what it leaves."""

import csv
import json
from pathlib import Path

import pytest

import dcsvm as library
from dcsvm.drive.observers import Observer
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import find_recipe, parse, serialize_recipe
from dcsvm.experiments.run.resumable_run import RunRequest, execute
from dcsvm.persistence.model_file import MODEL

FEW = ("--set", 'search.recipes=["global_svm", "kernel_logistic"]')


def test_a_leaderboard_is_shown_and_kept(dcsvm, tmp_path: Path):
    asked = ("--data", "iris", "--seconds", "30", "--score", "log_loss", *FEW)
    shown = dcsvm("run", "auto", *asked, "--jobs", "1", "--out", "kept").stdout
    assert "\nchosen: " in shown
    with (tmp_path / "kept" / "leaderboard.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["tried"] for line in lines} == {"global_svm", "kernel_logistic"}
    assert lines[0]["outcome"].startswith("chosen, weight ")
    report = (tmp_path / "kept" / "report.html").read_text()
    assert "What was tried" in report
    metrics = json.loads((tmp_path / "kept" / "metrics.json").read_text())
    assert metrics["test_log_loss"] < 0.4


def test_the_plan_lists_the_recipes(dcsvm):
    shown = dcsvm("run", "auto", "--data", "iris", "--seconds", "45", *FEW, "--dry-run").stdout
    assert "tries global_svm, kernel_logistic" in shown
    assert shown.endswith("\nseconds, about 45: the time for all of it\n")
    assert "smallest" not in shown


def test_a_resolved_recipe_asks_for_the_same_search():
    recipe = find_recipe("auto", default_registry(), ["--seconds 45", "--score log_loss"])
    text = serialize_recipe(recipe)
    again = parse(text, "resolved.toml", Path(), default_registry())
    asked = again.search
    assert (asked.use, asked.seconds, asked.score) == ("portfolio", 45.0, "log_loss")
    assert serialize_recipe(again) == text


class Impatient(Observer):
    """Interrupts the run at the second recipe."""

    def on_step_begin(self, title, n_rows=0):
        if title.startswith("trying kernel_logistic"):
            raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupted_run_keeps_the_best_so_far_and_goes_on(tmp_path: Path):
    overrides = ["--data iris", "--seconds 30", FEW[1]]
    recipe = find_recipe("auto", default_registry(), overrides)
    request = RunRequest(recipe, "", 0, 1)
    folder = request.begin(tmp_path / "kept", default_registry())
    with pytest.raises(KeyboardInterrupt):
        execute(request, folder, Impatient())
    assert library.load(folder.path / MODEL).predict([[5.0, 3.4, 1.5, 0.2]]) is not None
    kept = execute(request, folder, Observer(), again=True)
    assert kept.taken_over >= 1  # the first trial, and parts of a model trained at the end, if any
    assert {each.recipe for each in kept.result.trained[0].found[0].leaderboard} == {
        "global_svm",
        "kernel_logistic",
    }
