"""Runs that learn all rows and measure nothing: `[split] test = 0`."""

import json
from pathlib import Path

import numpy as np
import pytest

import dcsvm as package

NOTHING = "no rows were held out (test = 0), so nothing says how good the model is"


def test_all_rows_are_learned_and_nothing_is_measured(dcsvm, recipe, iris_pipeline):
    mine = recipe(iris_pipeline + "[split]\ntest = 0\n")
    done = dcsvm("run", mine, "--out", "all")
    assert done.exit_code == 0, done.stderr
    assert "iris: 150 rows to learn from, none held out, 4 features" in done.stdout
    assert NOTHING in done.stdout
    assert "accuracy" not in done.stdout
    assert "the model there learned" not in done.stderr
    metrics = json.loads(Path("all/metrics.json").read_text())
    assert metrics["test_accuracy"] is metrics["baseline_accuracy"] is None
    assert metrics["predict_seconds"] is None
    assert (metrics["n_train"], metrics["n_test"]) == (150, 0)
    assert metrics["train_accuracy"] > 0.9
    assert Path("all/predictions.csv").read_text() == "row,fold,truth,recipe\n"
    assert NOTHING.capitalize() in Path("all/report.html").read_text()


def test_the_model_is_the_one_that_learned_all_rows_after_a_test(dcsvm, recipe, iris_pipeline):
    mine = recipe(iris_pipeline)
    dcsvm("run", mine, "--out", "tested")
    dcsvm("run", mine, "--set", "split.test=0", "--out", "all")
    one, other = (package.load(Path(each) / "model.dcsvm") for each in ("tested", "all"))
    rows = np.random.default_rng(0).uniform(0, 7, (200, 4))
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))


def test_a_run_without_test_rows_is_compared_without_a_test(dcsvm, recipe, iris_pipeline):
    mine = recipe(iris_pipeline)
    dcsvm("run", mine, "--out", "tested")
    dcsvm("run", mine, "--set", "split.test=0", "--out", "all")
    said = dcsvm("compare", "tested", "all").stdout
    assert "no test: a run held no rows out (test = 0)" in said
    line = next(each for each in said.splitlines() if each.startswith("test_accuracy"))
    assert line.split()[2:] == ["not", "measured"]


def test_published_test_rows_are_learned_too(dcsvm, recipe, iris_pipeline, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[:, 0] += 3 * y
    np.savez(tmp_path / "rows.npz", X_train=X[:40], y_train=y[:40], X_test=X[40:], y_test=y[40:])
    mine = recipe(iris_pipeline)
    done = dcsvm("run", mine, "--data", "rows.npz", "--set", "split.test=0", "--json")
    assert json.loads(done.stdout)["n_train"] == 60


@pytest.mark.parametrize("share", ["-0.1", "1.0"])
def test_a_share_is_at_least_nothing_and_less_than_everything(dcsvm, share):
    done = dcsvm("run", "global_svm", "--set", f"split.test={share}")
    assert done.exit_code == 2
    assert "test must be a number" in done.stderr
