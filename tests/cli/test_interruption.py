"""Ctrl-C, SIGTERM and SIGHUP: a run stops at once, says so and leaves nothing half-written."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dcsvm.cli.interruption import Terminated, leave, raise_on_signals
from dcsvm.cli.run import _describe_interrupted
from dcsvm.experiments.run.folder import RunFolder

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
    """Let a child hear signals also where the tests, begun in the background, ignore them."""
    for each in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, each), signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a child")
@pytest.mark.parametrize(
    ("jobs", "releases_gil", "number"),
    [
        ("1", True, signal.SIGINT),
        ("2", True, signal.SIGINT),
        ("2", False, signal.SIGINT),
        ("1", True, signal.SIGTERM),
        ("2", False, signal.SIGTERM),
        ("1", True, getattr(signal, "SIGHUP", None)),
    ],
    ids=[
        *("in one thread", "in two threads", "in two processes"),
        *("SIGTERM in one thread", "SIGTERM in two processes", "SIGHUP in one thread"),
    ],
)
def test_an_interrupted_run_stops_at_once(tmp_path, jobs, releases_gil, number):
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
        process.send_signal(number)
        interrupted = time.monotonic()
        output, messages = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + number, messages
    assert messages.splitlines()[-1] == (
        "interrupted: nothing was finished yet: dcsvm run --resume kept begins again"
    )
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_a_signal_that_is_ignored_stays_ignored():
    """As nohup asks for."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with raise_on_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a signal")
def test_a_second_signal_does_not_disturb_the_end():
    @raise_on_signals()
    def end_twice():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Terminated) as caught:
        end_twice()
    assert caught.value.number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_signals_do_not_matter_to_commands_in_other_threads():
    entered = []

    def enter():
        with raise_on_signals():
            entered.append(True)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered


def test_a_terminal_that_is_gone_does_not_hide_the_exit_code(monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(SystemExit) as left:
        leave(129)
    assert left.value.code == 129


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "nothing was finished yet: dcsvm run --resume kept begins again"),
        ({"parts.log": ""}, "nothing was finished yet: dcsvm run --resume kept begins again"),
        ({"parts.log": "x"}, "dcsvm run --resume kept goes on from here"),
        (
            {"parts.log": "x", "model.dcsvm": "x"},
            "dcsvm run --resume kept goes on from here; the best model so far is kept there",
        ),
    ],
)
def test_an_interrupt_says_what_is_there(tmp_path, files, sentence):
    (tmp_path / "kept").mkdir()
    for name, text in files.items():
        (tmp_path / "kept" / name).write_text(text)
    assert _describe_interrupted(RunFolder(Path("kept"))) == sentence
