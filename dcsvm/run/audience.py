"""Who is told how a run goes on."""

from __future__ import annotations

from typing import Protocol

from dcsvm.engine import Done, Runnable


class Audience(Protocol):
    """An engine's watcher that also hears of the steps between."""

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


class Nobody:
    """An audience that listens to nothing."""

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


class Several:
    """Several audiences as one."""

    def __init__(self, *audiences: Audience) -> None:
        self.audiences = audiences

    def step_begins(self, title: str, n_rows: int = 0) -> None:
        for each in self.audiences:
            each.step_begins(title, n_rows)

    def rows_done(self, n_rows: int) -> None:
        for each in self.audiences:
            each.rows_done(n_rows)

    def round_begins(self, n_jobs: int) -> None:
        for each in self.audiences:
            each.round_begins(n_jobs)

    def part_done(self, job: Runnable, outcome: Done) -> None:
        for each in self.audiences:
            each.part_done(job, outcome)

    def round_ends(self) -> None:
        for each in self.audiences:
            each.round_ends()
