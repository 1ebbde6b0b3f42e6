"""Who is told how a run goes on."""

from __future__ import annotations

from typing import Protocol

from dcsvm.drive.engine import Done, Runnable


class Audience(Protocol):
    """An engine's watcher that also hears of the steps between.

    A step counts rows, or what `count_begins` names (n of them, `seconds` at the most), or else
    the parts of each round. Who forecasts times may want a pilot: a few rows trained beforehand.
    """

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def count_begins(self, what: str, n: int, seconds: float | None = None) -> None: ...

    def counted(self) -> None: ...

    def wants_pilot(self) -> bool: ...

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


class Nobody:
    """An audience that listens to nothing."""

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def count_begins(self, what: str, n: int, seconds: float | None = None) -> None: ...

    def counted(self) -> None: ...

    def wants_pilot(self) -> bool:
        return False

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

    def count_begins(self, what: str, n: int, seconds: float | None = None) -> None:
        for each in self.audiences:
            each.count_begins(what, n, seconds)

    def counted(self) -> None:
        for each in self.audiences:
            each.counted()

    def wants_pilot(self) -> bool:
        return any(each.wants_pilot() for each in self.audiences)

    def round_begins(self, n_jobs: int) -> None:
        for each in self.audiences:
            each.round_begins(n_jobs)

    def part_done(self, job: Runnable, outcome: Done) -> None:
        for each in self.audiences:
            each.part_done(job, outcome)

    def round_ends(self) -> None:
        for each in self.audiences:
            each.round_ends()
