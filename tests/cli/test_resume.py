"""Killed runs: at any moment, at any depth of nesting, resumed to the same bytes.

By default each run takes a few seconds and is killed twice. DCSVM_LONG_TESTS=1 makes the runs of
20 s or more that are killed at ten moments each.
"""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LONG = bool(os.environ.get("DCSVM_LONG_TESTS"))
KILLS = 10 if LONG else 5
#: Seconds that a part of the tests' learner sleeps beside learning.
NAP = 0.12 if LONG else 0.02

PLUGIN = """
import os
import time

import numpy as np

from dcsvm import Decomposer, LocalLearner, build, component, hookimpl, part, setting, support_of


@component
class Counted(LocalLearner):
    "A kernel SVM that writes down what it was given before and after learning it."

    name = "counted"

    C: float = setting(1.0, above=0, help="as for kernel_svm")

    def fit(self, problem):
        name = f"{problem.seed.path}-{problem.n_rows}-{self.C}"
        time.sleep(NAP)
        model = build("learner", "kernel_svm", C=self.C).fit(problem)
        with open(os.environ["COUNTED"], "a") as file:
            file.write(name + "\\n")
        return model


@component
class Halving(Decomposer):
    "Many stages: chunks, then the support vectors of neighbours together, until one is left."

    name = "halving"
    yields = frozenset({"one part"})
    parts: int = setting(16, at_least=2, help="chunks of the first stage")

    def divide(self, problem):
        order = problem.seed.generator().permutation(problem.n_rows)
        members = yield [part(np.sort(rows)) for rows in np.array_split(order, self.parts)]
        while len(members) > 1:
            pairs = [members[place : place + 2] for place in range(0, len(members), 2)]
            members = yield [support_of(*pair) for pair in pairs]


@hookimpl
def dcsvm_decomposers():
    return [Halving]


@hookimpl
def dcsvm_learners():
    return [Counted]
"""

FOREST = """
data = { use = "two_moons", rows = 1500 }
decomposer = { use = "repeat", times = 4, decomposer = { use = "bootstrap", samples = 2 } }
combiner = "mean"

[learner]
decomposer = { use = "tree", ceiling = CEILING, splitter = "random" }
learner = "counted"
combiner = "route"

[compare.pairs]
decomposer = "class_pairs"
combiner = "vote"
"""
STAGES = """
data = { use = "two_moons", rows = 1500 }
decomposer = { use = "halving", parts = CHUNKS }
learner = { use = "counted", C = 2.0 }
combiner = "route"

[search]
rows = 400
learner.C = [1.0, 10.0]
"""
RECIPES = {
    "a nested forest": FOREST.replace("CEILING", "100" if LONG else "250"),
    "many stages": STAGES.replace("CHUNKS", "128" if LONG else "32"),
}


def started(folder: Path, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "dcsvm", "run", *arguments],
        cwd=folder,
        env=os.environ | {"COUNTED": str(folder / "counted"), "NAP": str(NAP)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def calls(folder: Path) -> list[str]:
    file = folder / "counted"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def without_times(path: Path) -> list:
    """What a file of a run says, but for seconds."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return [{key: row[key] for key in row if key != "seconds"} for row in rows]
    found = json.loads(path.read_text())
    return [(key, found[key]) for key in found if "seconds" not in key]


def killed_at(folder: Path, process: subprocess.Popen, more_calls: int, pause: float) -> None:
    """Kill a run when so many more parts were learned, or let it end."""
    goal = len(calls(folder)) + more_calls
    deadline = time.monotonic() + 120
    while process.poll() is None and len(calls(folder)) < goal:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.005)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def done(folder):
    status = folder / "run" / "status.json"
    return status.exists() and json.loads(status.read_text())["state"] == "done"


@pytest.mark.parametrize("title", RECIPES)
def test_a_run_killed_at_random_moments_is_resumed_to_the_same_bytes(tmp_path, title):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plugin.py").write_text(PLUGIN.replace("NAP", str(NAP)))
        (tmp_path / name / "recipe.toml").write_text(RECIPES[title])
    options = ["recipe.toml", "--plugin", "plugin.py", "--out", "run", "--jobs", "2"]
    process = started(tmp_path / "whole", *options)
    _, messages = process.communicate()
    assert process.returncode == 0, messages
    expected = calls(tmp_path / "whole")

    folder, generator = tmp_path / "killed", random.Random(title)
    moments = sorted(generator.sample(range(1, len(expected)), KILLS))
    steps = [moment - before for before, moment in zip([0, *moments], moments, strict=False)]
    killed_at(folder, started(folder, *options), steps[0], generator.uniform(0, NAP))
    kills = 1
    for step in steps[1:]:
        if done(folder):
            break
        killed_at(folder, started(folder, "--resume", "run"), step, generator.uniform(0, NAP))
        kills += 1
    # On a slow machine the last signal may come when everything is written; no other one.
    assert kills >= KILLS - 1
    if not done(folder):
        process = started(folder, "--resume", "run")
        _, messages = process.communicate()
        assert process.returncode == 0, messages

    # A part that was killed between learning and keeping is learned again: at most the parts that
    # were in the air, one for each of the two jobs, at each kill. No kept part is.
    learned = calls(folder)
    assert set(learned) == set(expected)
    assert len(learned) <= len(expected) + 2 * KILLS
    for file in ("model.dcsvm", "predictions.csv", "resolved.toml"):
        assert (folder / "run" / file).read_bytes() == (
            tmp_path / "whole" / "run" / file
        ).read_bytes(), file
    for file in ("metrics.json", "parts.csv"):
        assert without_times(folder / "run" / file) == without_times(
            tmp_path / "whole" / "run" / file
        ), file
    assert json.loads((folder / "run" / "status.json").read_text())["state"] == "done"
    assert not list((folder / "run").glob(".*"))
    assert not (folder / "run" / "parts.log").exists()


def test_a_finished_part_is_not_learned_again(tmp_path):
    """One job at a time and kills between parts: every part is learned exactly once."""
    (tmp_path / "plugin.py").write_text(PLUGIN.replace("NAP", "0.05"))
    (tmp_path / "recipe.toml").write_text(RECIPES["a nested forest"])
    options = ["recipe.toml", "--plugin", "plugin.py", "--out", "run", "--jobs", "1"]
    process = started(tmp_path, *options)
    # In the middle of the nap of the sixth part: the fifth was kept long before.
    killed_at(tmp_path, process, 5, 0.025)
    before = calls(tmp_path)
    process = started(tmp_path, "--resume", "run")
    _, messages = process.communicate()
    assert process.returncode == 0, messages
    assert len(calls(tmp_path)) == len(set(calls(tmp_path)))
    assert calls(tmp_path)[: len(before)] == before


def test_a_run_that_is_done_has_nothing_to_resume(dcsvm, recipe, iris_pipeline):
    assert dcsvm("run", recipe(iris_pipeline), "--out", "done").exit_code == 0
    result = dcsvm("run", "--resume", "done")
    assert result.stderr == "error: the run in 'done' is done: nothing is left to resume\n"
    assert result.exit_code == 2


def test_only_the_folder_of_a_run_can_be_resumed(dcsvm, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, what in (("nowhere", "does not exist"), ("empty", "is not the folder of a run")):
        result = dcsvm("run", "--resume", name)
        assert result.stderr == (
            f"error: '{name}' {what}: a run keeps request.json and resolved.toml there\n"
        )
        assert result.exit_code == 2


@pytest.mark.parametrize(
    ("option", "word"),
    [
        (["quickstart"], "a recipe"),
        (["--set", "learner.C=3"], "--set or --data"),
        (["--seed", "3"], "--seed"),
        (["--out", "there"], "--out"),
    ],
)
def test_what_was_asked_cannot_be_changed_while_resuming(dcsvm, option, word):
    result = dcsvm("run", *option, "--resume", "somewhere")
    assert result.stderr == (
        f"error: --resume goes on with what was asked before: leave out {word}\n"
    )
    assert result.exit_code == 2
