"""The same bytes for any hash seed, backend and number of jobs, and after damage to the logs."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import joblib
import pytest

import dcsvm as package
from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import ModelFileError
from dcsvm.experiments.run import resumable_run
from dcsvm.experiments.run.folder import choose_run_folder

RECIPE = """
data = { use = "two_moons", rows = 600 }
decomposer = { use = "repeat", times = 2, decomposer = { use = "bootstrap", samples = 2 } }
combiner = "mean"

[learner]
decomposer = { use = "tree", ceiling = 80, splitter = "random" }
learner = "kernel_svm"
combiner = "route"

[search]
learner.learner.C = [1.0, 10.0]
"""
COMPARED = ("model.dcsvm", "predictions.csv", "resolved.toml")


def read_bytes(folder):
    return {name: Path(folder, name).read_bytes() for name in COMPARED}


@pytest.mark.slow
def test_hash_seeds_and_jobs_change_no_byte(tmp_path):
    (tmp_path / "recipe.toml").write_text(RECIPE)
    found = []
    for number, (seed, jobs) in enumerate([("0", "1"), ("1", "2"), ("12345", "1")]):
        subprocess.run(
            [sys.executable, "-m", "dcsvm", "run", "recipe.toml", "--out", str(number),
             "--jobs", jobs],
            cwd=tmp_path, env=os.environ | {"PYTHONHASHSEED": seed}, check=True,
            capture_output=True, timeout=300,
        )  # fmt: skip
        found.append(read_bytes(tmp_path / str(number)))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_backends_change_no_byte(tmp_path):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    models = []
    for backend in ("sequential", "threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            clf = DivideAndConquerClassifier("tree", "kernel_svm", "route", random_state=0)
            package.save(clf.fit(X, y), tmp_path / backend)
        models.append((tmp_path / backend).read_bytes())
    assert models[0] == models[1] == models[2]


@pytest.mark.slow
def test_damaged_logs_change_no_byte(dcsvm, recipe, monkeypatch):
    """Flipped bits in `parts.log` and a cut line in `log.jsonl`."""
    text = recipe(RECIPE)
    assert dcsvm("run", text, "--out", "whole", "--jobs", "1").exit_code == 0

    def fail(*_):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(resumable_run, "_write", fail)
        dcsvm("run", text, "--out", "kept", "--jobs", "1")
    content, generator = bytearray(Path("kept/parts.log").read_bytes()), random.Random(21)
    for _ in range(40):
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    Path("kept/parts.log").write_bytes(content[: -generator.randrange(1, 500)])
    log = Path("kept/log.jsonl")
    log.write_bytes(log.read_bytes()[:-7])
    result = dcsvm("run", "--resume", "kept", "--jobs", "1")
    assert result.exit_code == 0, result.stderr
    assert read_bytes("kept") == read_bytes("whole")
    assert json.loads(log.read_text().splitlines()[-1])["event"] == "done"


@pytest.mark.parametrize("name", ["search.json", "inputs.json", "request.json"])
def test_a_damaged_file_of_a_run_is_named(dcsvm, recipe, iris_pipeline, monkeypatch, name):
    def fail(*_):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(resumable_run, "_write", fail)
        searched = iris_pipeline + "[search]\nlearner.C = [0.1, 1.0]\n"
        dcsvm("run", recipe(searched), "--out", "kept", "--jobs", "1")
    Path("kept", name).write_text('{"cut')
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 2
    assert f"error: 'kept/{name}' cannot be read" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..", "a/../../b", "\\evil", "x\0y"])
def test_the_name_of_a_recipe_leads_nowhere_else(name):
    place = choose_run_folder(name, "0" * 32)
    assert place.parts[0] == "runs"
    assert len(place.parts) == 3
    assert ".." not in place.parts
    assert "\0" not in str(place)


@pytest.mark.parametrize("entry", ["../evil", "/tmp/evil", "..\\evil"])
def test_entries_of_a_model_file_lead_nowhere_else(tmp_path, entry):
    import zipfile

    from sklearn.datasets import load_iris

    folder = tmp_path / "inner" / "folder"
    folder.mkdir(parents=True)
    path = folder / "model.dcsvm"
    model = DivideAndConquerClassifier("tree", "kernel_svm", "route")
    package.save(model.fit(*load_iris(return_X_y=True)), path)
    with zipfile.ZipFile(path, "a") as zipped:
        zipped.writestr(entry, b"evil")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ModelFileError, match="does not list"):
        package.load(path)
    assert sorted(tmp_path.rglob("*")) == before
