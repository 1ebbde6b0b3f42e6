"""Killed runs: at any moment, at any depth of nesting, resumed to the same bytes.

By default each run takes a few seconds and is killed five times. DCSVM_LONG_TESTS=1 makes runs of
20 s or more, killed at ten moments each: one before anything is learned, nine at random, and once
more when all is learned and the folder is being written.
"""

import csv
import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest
from warm import Command

from dcsvm.base.models import Constant
from dcsvm.persistence.checkpoints import CheckpointLog

LONG = bool(os.environ.get("DCSVM_LONG_TESTS"))
KILLS = 10 if LONG else 5
JOBS = 2
#: Seconds after which a run that learns nothing more hangs; a busy machine is slow to start one.
PATIENCE = 1800

PLUGIN = """
import os
import time
import zlib

import numpy as np

from dcsvm import Decomposer, LocalLearner, build, component, hookimpl, part, setting, support_of


@component
class Counted(LocalLearner):
    "A kernel SVM that takes its time and writes down what it has learned."

    name = "counted"

    C: float = setting(1.0, above=0, help="as for kernel_svm")

    def fit(self, problem):
        rows = zlib.crc32(np.ascontiguousarray(problem.X).tobytes())
        name = f"{problem.seed.path}-{problem.n_rows}-{rows}-{self.C}"
        if os.path.exists("stop") and len(open(os.environ["COUNTED"]).readlines()) == STOP:
            open("stopped", "w").close()
            time.sleep(600)
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
#: Recipes, and the seconds that each part sleeps beside learning.
RECIPES = {
    "a nested forest": (
        FOREST.replace("CEILING", "100" if LONG else "250"),
        0.4 if LONG else 0.05,
    ),
    "many stages": (STAGES.replace("CHUNKS", "128" if LONG else "32"), 0.1 if LONG else 0.02),
}
OPTIONS = ("recipe.toml", "--plugin", "plugin.py", "--out", "run")


def begun(folder: Path, recipe: str, nap: float, stop: int = -1) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "counted").touch()
    plugin = PLUGIN.replace("NAP", str(nap)).replace("STOP", str(stop))
    (folder / "plugin.py").write_text(plugin)
    (folder / "recipe.toml").write_text(recipe)


def started(warm: str, folder: Path, *arguments: str) -> Command:
    """Start the run of a folder, or go on with it where it was begun."""
    given = ("--resume", "run") if (folder / "run").exists() else OPTIONS
    counted = os.environ | {"COUNTED": str(folder / "counted")}
    return Command(warm, ["run", *given, *arguments], folder, counted)


def ended(warm: str, folder: Path, *arguments: str) -> str:
    process = started(warm, folder, *arguments)
    messages = process.communicate()
    assert process.returncode == 0, messages
    return str(messages)


def calls(folder: Path) -> list[str]:
    return (folder / "counted").read_text().split("\n")[:-1]


def without_times(path: Path) -> list:
    """What a file of a run says, but for seconds."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return [
            {key: row[key] for key in row if key not in ("seconds", "account")} for row in rows
        ]
    found = json.loads(path.read_text())
    return [(key, found[key]) for key in found if "seconds" not in key]


def killed_at(folder: Path, process: Command, goal: int, pause: float) -> bool:
    """Kill a run some time after so many parts were learned; False if it had ended by itself."""
    deadline = time.monotonic() + PATIENCE
    try:
        while process.poll() is None and len(calls(folder)) < goal:
            assert time.monotonic() < deadline, "the run does not get on"
            time.sleep(0.005)
        time.sleep(pause)
    finally:
        process.kill()
        process.communicate()
    return process.returncode == -signal.SIGKILL


def kept(folder: Path) -> int:
    """How many learned parts the folder of a killed run holds; the core's own answers aside."""
    file = folder / "run" / "parts.log"
    if not file.exists():
        return 0
    log = CheckpointLog(file)
    try:
        return sum(not isinstance(log.get(key).model, Constant) for key in log._index)
    finally:
        log.close()


def state(folder: Path) -> str:
    status = folder / "run" / "status.json"
    return json.loads(status.read_text())["state"] if status.exists() else "not begun"


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_a_run_killed_at_random_moments_is_resumed_to_the_same_bytes(warm, tmp_path, title):
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    for each in (whole, folder):
        begun(each, *RECIPES[title])
    began = time.monotonic()
    ended(warm, whole, "--jobs", str(JOBS))
    seconds, expected = time.monotonic() - began, calls(whole)
    assert not LONG or seconds >= 20
    assert len(set(expected)) == len(expected)
    writing = time.time() - (whole / "counted").stat().st_mtime

    generator = random.Random(title)
    between = sorted(generator.sample(range(1, len(expected)), KILLS - 1))
    kills, lost = 0, 0
    for goal in (0, *between, len(expected)):
        if state(folder) == "done":
            break
        before = calls(folder)
        process = started(warm, folder, "--jobs", str(JOBS))
        least, most = {0: (0.0, 0.2), len(expected): (0.0, writing)}.get(goal, (0.0, 0.2))
        kills += killed_at(folder, process, goal, generator.uniform(least, most))
        # Only what was learned and not yet kept when the run was killed is learned again.
        again = len(calls(folder)) - len(before) - len(set(calls(folder)) - set(before))
        assert again <= lost
        lost = 0 if state(folder) == "done" else len(set(calls(folder))) - kept(folder)
        # What is not kept was in the hands of a worker, or on its way from there.
        assert 0 <= lost <= 2 * JOBS
    # The last signal, meant for the writing, may come when everything is written; no other one.
    assert kills >= KILLS
    if state(folder) != "done":
        before = calls(folder)
        ended(warm, folder)
        again = len(calls(folder)) - len(before) - len(set(calls(folder)) - set(before))
        assert again <= lost
        assert not (folder / "run" / "parts.log").exists()
    print(
        f"{title}: {seconds:.1f} s undisturbed, {len(expected)} parts, killed {kills} times, ",
        f"{len(calls(folder)) - len(expected)} parts learned twice, none of them kept before",
    )

    assert set(calls(folder)) == set(expected)
    for file in ("model.dcsvm", "predictions.csv", "resolved.toml"):
        assert (folder / "run" / file).read_bytes() == (whole / "run" / file).read_bytes(), file
    for file in ("metrics.json", "parts.csv"):
        ours, theirs = without_times(folder / "run" / file), without_times(whole / "run" / file)
        assert ours == theirs, file
    assert state(folder) == "done"
    assert not list((folder / "run").glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_a_finished_part_is_not_learned_again(warm, tmp_path, title):
    """One job at a time, killed while the sixth part is learned: five are kept, all stay."""
    begun(tmp_path, RECIPES[title][0], 0.0, stop=5)
    (tmp_path / "stop").touch()
    process = started(warm, tmp_path, "--jobs", "1")
    deadline = time.monotonic() + PATIENCE
    try:
        while not (tmp_path / "stopped").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "the run does not get on"
            time.sleep(0.01)
    finally:
        process.kill()
        process.communicate()
    before = calls(tmp_path)
    assert len(before) == kept(tmp_path) == 5
    (tmp_path / "stop").unlink()
    said = re.search(r"finished before and not trained again: (\d+) parts", ended(warm, tmp_path))
    assert said is not None
    assert int(said[1]) >= 5  # those of one class, which nobody learns, are among them
    assert calls(tmp_path)[:5] == before
    assert len(calls(tmp_path)) == len(set(calls(tmp_path))) > 20


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "word"),
    [
        (["quickstart"], "a recipe"),
        (["--set", "learner.C=3"], "--set"),
        (["--seconds", "5"], "--seconds"),
        (["--data", "iris", "--target", "kind", "--set", "a=1"], "--data and --target and --set"),
        (["--seed", "3"], "--seed"),
        (["--out", "there"], "--out"),
    ],
)
def test_what_was_asked_cannot_be_changed_while_resuming(dcsvm, option, word):
    result = dcsvm("run", *option, "--resume", "somewhere")
    assert result.stderr == (
        f"error: --resume continues a run with its own options: leave out {word}\n"
    )
    assert result.exit_code == 2
