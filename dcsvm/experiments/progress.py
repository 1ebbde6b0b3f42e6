"""Progress on the terminal: what a run is doing, and how long it will take."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

if TYPE_CHECKING:
    from dcsvm.drive.executor import Done, Runnable
from dcsvm.base.sanitized_text import escape_controls
from dcsvm.drive.observers import Observer

#: Seconds of training grow about like this power of the rows: kernel machines are seen between
#: 1.5 (few support vectors) and 2.2 (many).
GROWTH = 1.8
#: Seconds before the first line of progress where there is no terminal, and between two lines.
FIRST_SECONDS, LINE_SECONDS = 3.0, 5.0
#: How often, in seconds, a thread looks whether a line is due.
TICK = 0.25


class TerminalProgress(Observer):
    """One line on standard error with a bar and the time left.

    Where standard error is no terminal, a thread writes a line every few seconds, so that a log
    shows that the run goes on; a run of less than FIRST_SECONDS writes none. Seconds count from
    when the command `began`, by default from now.

    A step counts rows until the engine begins a round, and parts from then on; or what it says it
    counts, such as the combinations of a search. How long a single part will take is forecast from
    the parts seen so far in the run, the large ones above all.
    """

    def __init__(self, console: Console, began: float | None = None) -> None:
        self.shown = console.is_terminal
        self.title = ""
        self.round = 0
        self.n_rows = 0
        self.what = ""
        self.seconds_by_work = 0.0
        self.work_squared = 0.0
        self.progress = Progress(
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[count]}", markup=False, table_column=Column(no_wrap=True)),
            TimeElapsedColumn(),
            TimeLeft(Column(no_wrap=True)),
            console=console,
            transient=True,
            disable=not self.shown,
        )
        self.console = console
        self.began = time.monotonic() if began is None else began
        self.due = self.began + FIRST_SECONDS
        self.telling = threading.Lock()
        self.ended = threading.Event()
        self.task = self.progress.add_task("", total=None, count="", forecast=None, limit=None)

    def __enter__(self) -> TerminalProgress:
        self.progress.start()
        if not self.shown:
            threading.Thread(target=self._tell_regularly, daemon=True, name="progress").start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        if self.shown:  # rich before 15 writes an empty line even if disabled
            self.progress.stop()

    def on_step_begin(self, title: str, n_rows: int = 0) -> None:
        self.title, self.n_rows, self.round, self.what = title, n_rows, 0, ""
        self._reset(title, n_rows or None)
        self._tell()

    def on_rows_done(self, n_rows: int) -> None:
        self.progress.advance(self.task, n_rows)
        self._tell()

    def on_count_begin(self, what: str, n: int, seconds: float | None = None) -> None:
        """Count `n` of something; there are `seconds` for it at the most."""
        self.what = what
        self._reset(self.title, n, limit=seconds)
        self._show_count()

    def on_count(self) -> None:
        self.progress.advance(self.task)
        self._show_count()
        self._tell()

    def wants_pilot(self) -> bool:
        """Whether progress is shown and no part has been timed yet."""
        return self.shown and not self.work_squared

    def on_round_begin(self, n_jobs: int) -> None:
        self.round += 1
        title = self.title if self.round == 1 else f"{self.title}, stage {self.round}"
        self._reset(title, n_jobs, self._forecast() if n_jobs == 1 else None)
        self._show_count()

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        work = float(outcome.n_rows) ** GROWTH
        self.seconds_by_work += outcome.seconds * work
        self.work_squared += work**2
        if not self.what:
            self.progress.advance(self.task)
            self._show_count()
        self._tell()

    def _tell_regularly(self) -> None:
        while not self.ended.wait(TICK):
            self._tell()

    def _tell(self) -> None:
        """Write a line if one is due and there is no terminal."""
        with self.telling:
            now = time.monotonic()
            if self.shown or now < self.due or self.ended.is_set():
                return
            self.due = now + LINE_SECONDS
            task = self.progress.tasks[0]
            share = f", {task.completed / task.total:.0%}" if task.total else ""
            line = f"{now - self.began:.0f} s: {self.title}{share}"
            self.console.print(Text(escape_controls(line)), soft_wrap=True)

    def _reset(
        self,
        title: str,
        total: int | None,
        forecast: float | None = None,
        limit: float | None = None,
    ) -> None:
        self.progress.reset(
            *(self.task,),
            description=escape_controls(title),
            count="",
            forecast=forecast,
            limit=limit,
        )
        self.progress.tasks[0].total = total  # `reset` takes None for the total of before

    def _show_count(self) -> None:
        task = self.progress.tasks[0]
        if task.total and task.total > 1:
            count = f"{task.completed:.0f} of {task.total:.0f} {self.what or 'parts'}"
            self.progress.update(self.task, count=count)

    def _forecast(self) -> float | None:
        """The seconds that one part with all rows may take, judged by the parts so far."""
        if not self.work_squared:
            return None
        # Least squares of seconds = constant * work: parts too small to judge by hardly count.
        pace = self.seconds_by_work / self.work_squared
        return pace * float(self.n_rows**GROWTH)


class TimeLeft(ProgressColumn):
    """The remaining time in words, if it can be estimated."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("")
        forecast, limit = task.fields["forecast"], task.fields["limit"]
        return Text(format_time_left(task.elapsed or 0.0, task.time_remaining, forecast, limit))


def format_time_left(
    elapsed: float, remaining: float | None, forecast: float | None, limit: float | None = None
) -> str:
    """Say how much time is left, from the speed so far or else from a forecast of the whole.

    Where no more than `limit` seconds are taken, it is never more than what is left of these.
    """
    if limit is not None:
        left = max(limit - elapsed, 0.0)
        remaining = left if remaining is None else min(remaining, left)
    seconds = remaining
    if seconds is None and forecast is not None:
        seconds = forecast - elapsed
        if seconds < 0:
            return "longer than forecast"
    if seconds is None:
        return "time left unknown" if elapsed > 2 else ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"about {f'{hours}:' if hours else ''}{minutes:02}:{rest:02} left"
