"""Progress: shown on a terminal only, with the time left as far as it is known."""

import io
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from dcsvm import DataError
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.progress import TerminalProgress, format_time_left
from dcsvm.experiments.recipe import parse
from dcsvm.experiments.run.runner import run_recipe


def watched(terminal):
    """A progress line that writes to memory, and the text written so far."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=100)
    return TerminalProgress(console), file


def part(rows, seconds):
    return SimpleNamespace(), SimpleNamespace(n_rows=rows, seconds=seconds)


def test_nothing_is_written_where_nobody_looks():
    progress, file = watched(terminal=False)
    with progress:
        progress.on_step_begin("training", 100)
        progress.on_round_begin(2)
        progress.on_part_done(*part(50, 1.0))
    assert file.getvalue() == ""


def test_a_terminal_sees_the_step_and_the_parts():
    progress, file = watched(terminal=True)
    with progress:
        progress.on_step_begin("training tree", 100)
        progress.on_round_begin(3)
        progress.on_part_done(*part(50, 1.0))
        progress.progress.refresh()
        progress.on_round_end()
        progress.on_round_begin(2)
        progress.progress.refresh()
    assert "training tree" in file.getvalue()
    assert "1 of 3 parts" in file.getvalue()
    assert "training tree, stage 2" in file.getvalue()


def test_rows_that_are_predicted_move_the_bar():
    progress, _ = watched(terminal=True)
    progress.on_step_begin("predicting", 100)
    progress.on_rows_done(40)
    assert progress.progress.tasks[0].percentage == 40


def test_a_single_large_part_is_forecast_from_the_small_ones():
    progress, _ = watched(terminal=True)
    progress.on_step_begin("training", 1000)
    progress.on_round_begin(2)
    progress.on_part_done(*part(100, 0.5))
    progress.on_part_done(*part(100, 0.7))
    progress.on_step_begin("training undivided", 1000)
    progress.on_round_begin(1)
    assert progress.progress.tasks[0].fields["forecast"] == pytest.approx(0.6 * 10**1.8)


def test_a_search_counts_what_it_tries_and_learns_how_long_parts_take():
    progress, file = watched(terminal=True)
    assert progress.wants_pilot()
    with progress:
        progress.on_step_begin("choosing parameters of td_svm")
        progress.on_count_begin("fits", 30, seconds=3.0)
        progress.on_part_done(*part(100, 0.5))
        progress.on_count()
        progress.progress.refresh()
    assert "1 of 30 fits" in file.getvalue()
    assert "about 00:03 left" in file.getvalue()
    assert not progress.wants_pilot()
    progress.on_step_begin("training td_svm", 1000)
    progress.on_round_begin(1)
    assert progress.progress.tasks[0].fields["forecast"] == pytest.approx(0.5 * 10**1.8)


def test_nobody_wants_a_pilot_where_nobody_looks():
    assert not watched(terminal=False)[0].wants_pilot()


def test_a_single_long_part_is_forecast_from_a_pilot():
    progress, _ = watched(terminal=True)
    text = """
        data = { use = "two_moons", rows = 9000 }
        decomposer = "whole"
        learner = "linear_svm"
        combiner = "route"
    """
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    forecasts = []
    begins = progress.on_round_begin

    def on_round_begin(n_jobs):
        begins(n_jobs)
        forecasts.append(progress.progress.tasks[0].fields["forecast"])

    progress.on_round_begin = on_round_begin
    run_recipe(recipe, observer=progress)
    assert len(forecasts) == 1
    assert 0 < forecasts[0] < 60


def test_a_time_budget_limits_the_time_left():
    assert format_time_left(1.0, 65.0, None, 3.0) == "about 00:02 left"
    assert format_time_left(1.0, None, None, 3.0) == "about 00:02 left"
    assert format_time_left(9.0, 65.0, None, 3.0) == "about 00:00 left"


@pytest.mark.parametrize(
    ("elapsed", "remaining", "forecast", "words"),
    [
        (1.0, 65.0, None, "about 01:05 left"),
        (1.0, 3661.0, 5.0, "about 1:01:01 left"),
        (1.0, 180000.0, None, "about 50:00:00 left"),
        (1.0, None, 31.0, "about 00:30 left"),
        (9.0, None, 5.0, "longer than forecast"),
        (1.0, None, None, ""),
        (3.0, None, None, "time left unknown"),
    ],
)
def test_the_time_left_is_told_in_words(elapsed, remaining, forecast, words):
    assert format_time_left(elapsed, remaining, forecast) == words


@pytest.fixture
def clock(monkeypatch):
    """What `time.monotonic` says, to be set by the test."""
    now = [100.0]
    monkeypatch.setattr("dcsvm.experiments.progress.time.monotonic", lambda: now[0])
    return now


def test_a_log_gets_its_first_line_soon_and_then_one_every_few_seconds(clock):
    progress, file = watched(terminal=False)
    progress.on_step_begin("training", 100)
    for _ in range(8):
        clock[0] += 2.0
        progress.on_rows_done(10)
    assert file.getvalue() == "4 s: training, 20%\n10 s: training, 50%\n16 s: training, 80%\n"


def test_a_log_gets_lines_while_nothing_ends(clock, monkeypatch):
    monkeypatch.setattr("dcsvm.experiments.progress.TICK", 0.001)
    progress, file = watched(terminal=False)
    with progress:
        progress.on_step_begin("training one large part")
        for seconds in (2.9, 0.2, 5.1):
            clock[0] += seconds
            wait_for(lambda: clock[0] < progress.due)
    assert file.getvalue() == "3 s: training one large part\n8 s: training one large part\n"


def wait_for(condition):
    """Wait until another thread has made a condition true; fail after ten seconds."""
    for _ in range(10_000):
        if condition():
            return
        threading.Event().wait(0.001)
    raise AssertionError("nothing was written")


def test_no_thread_outlives_the_progress(clock, monkeypatch):
    monkeypatch.setattr("dcsvm.experiments.progress.TICK", 0.001)
    with watched(terminal=False)[0]:
        assert "progress" in {each.name for each in threading.enumerate()}
    wait_for(lambda: "progress" not in {each.name for each in threading.enumerate()})


def test_a_search_tells_what_it_reads_before_slow_imports(dcsvm, monkeypatch, tmp_path):
    (tmp_path / "rows.csv").write_text("a,kind\n1,x\n")

    def fail(*arguments):
        raise DataError("imports would begin here")

    monkeypatch.setattr("dcsvm.cli.run.load_registry", fail)
    told = dcsvm("run", "auto", "--data", "rows.csv", "--target", "kind").stderr
    assert re.fullmatch(r"\d+ s: reading rows\.csv\nerror: imports would begin here\n", told)


def test_lines_count_from_when_the_command_began():
    file = io.StringIO()
    began = time.monotonic() - 7
    progress = TerminalProgress(Console(file=file, force_terminal=False), began)
    progress.on_step_begin("training tree", 100)
    assert file.getvalue() == "7 s: training tree, 0%\n"
