"""Ctrl-C: a run stops at once, says so in one line and leaves nothing half-written."""

import json
import signal
import subprocess
import sys
import time

import pytest

SLOW = """
import pathlib
from sklearn.svm import SVC
from dcsvm import LocalLearner, component, hookimpl, setting
from dcsvm.toolbox import Wrapped


@component
class Slow(LocalLearner):
    "Minutes inside compiled code, from which Python hears no signal."

    name = "slow"
    releases_gil = RELEASES

    def fit(self, problem):
        pathlib.Path("started").touch()
        return Wrapped(SVC(C=1e9, gamma=50.0, tol=1e-12).fit(problem.X, problem.y))


@hookimpl
def dcsvm_learners():
    return [Slow]
"""
RECIPE = """
decomposer = { use = "chunks", parts = 4 }
learner = "slow"
combiner = "mean"
data = { use = "checkerboard", rows = 80000 }
"""


def heard() -> None:
    """Let a child hear SIGINT also where the tests, begun in the background, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a child")
@pytest.mark.parametrize(
    ("jobs", "releases_gil"),
    [("1", True), ("2", True), ("2", False)],
    ids=["in one thread", "in two threads", "in two processes"],
)
def test_an_interrupted_run_stops_at_once(tmp_path, jobs, releases_gil):
    (tmp_path / "slow.py").write_text(SLOW.replace("RELEASES", str(releases_gil)))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    options = ["--plugin", "slow.py", "--jobs", jobs, "--out", "kept"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dcsvm", "run", "recipe.toml", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists() and process.poll() is None:
            assert time.monotonic() < deadline, "training did not begin"
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        output, messages = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, messages
    assert messages == "interrupted: dcsvm run --resume kept goes on from here\n"
    assert json.loads((tmp_path / "kept" / "status.json").read_text())["state"] == "interrupted"
    assert output == ""
    # The pipes close when the last worker is gone, so this waits for workers too.
    assert time.monotonic() - interrupted < 5
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {
        "kept",
        "recipe.toml",
        "slow.py",
        "started",
    }
    assert not list((tmp_path / "kept").glob(".*"))
