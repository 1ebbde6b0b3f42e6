"""The time budget of a portfolio: the remaining time, and forecasts from measured times."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable

import attrs

from dcsvm.drive.executor import Done, Runnable
from dcsvm.drive.observers import Observer

#: Seconds are a constant and a multiple of a power of the rows: of one kernel machine for all
#: rows, and of anything else. At least this share of what was measured last grows.
UNDIVIDED_POWER, USUAL_POWER, GROWING_SHARE = 1.8, 1.1, 0.5
#: The share of the budget that is reserved for what is not measured.
RESERVED_SHARE = 0.03
#: Seconds of the last fit grow like this power of the rows, or less; a portfolio learns all rows
#: if this share of its budget more is enough.
REFIT_POWER, REFIT_SLACK = 1.5, 0.03
#: The seconds of writing a run folder with its report: at least, by row, at the most.
REPORT, REPORT_BY_ROW, LONGEST_REPORT = 2.0, 5e-5, 5.0


class TimeUpError(Exception):
    """A trial has exceeded its time."""


@attrs.define
class Budget:
    """The seconds of a search, from when the run began; `clock` can be replaced in tests.

    Parameters
    ----------
    seconds : float
    began : float, optional
        What the clock said at the beginning.
    before : float
        Seconds that were spent before the run was resumed.
    overhead : float
        Seconds for what comes after the last fit, such as a report; a third of all at the most.
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    began: float = attrs.field(
        default=attrs.Factory(lambda self: self.clock(), takes_self=True), kw_only=True
    )
    before: float = 0.0
    overhead: float = 0.0

    @property
    def spent(self) -> float:
        return self.before + self.clock() - self.began

    @property
    def left(self) -> float:
        """The seconds that trials and the last fits may still take."""
        reserved = RESERVED_SHARE * self.seconds + min(self.overhead, self.seconds / 3)
        return self.seconds - reserved - self.spent

    def can_learn_again(self, seconds: float, times: float) -> bool:
        """Whether so many times the rows of a fit can be learned, too; warn if they cannot."""
        needed = seconds * times**REFIT_POWER
        if needed <= max(self.left, 0.0) + REFIT_SLACK * self.seconds:
            return True
        takes = f"about {needed:.0f} s" if needed >= 1 else "under 1 s"
        warnings.warn(
            f"no time was left to learn all rows, which takes {takes}: the model that was "
            "measured is kept",
            stacklevel=2,
        )
        return False


def forecast_report(n_rows: int) -> float:
    """The seconds that writing a run folder with its report takes, about."""
    return min(REPORT + REPORT_BY_ROW * n_rows, LONGEST_REPORT)


@attrs.frozen
class TimeModel:
    """Forecasts seconds for a number of rows from measured times.

    The model is seconds = a + b * rows ** power; two measurements determine a and b.
    """

    points: tuple[tuple[int, float], ...] = ()
    power: float = USUAL_POWER

    def add(self, n_rows: int, seconds: float) -> TimeModel:
        """Return the model with one more measurement; of several for one size, the last counts."""
        others = [each for each in self.points if each[0] != n_rows]
        points = tuple(sorted([*others, (n_rows, max(seconds, 1e-6))]))
        return attrs.evolve(self, points=points)

    def forecast(self, n_rows: int) -> float:
        """The forecast of seconds for a number of rows; infinity without a measurement."""
        if not self.points:
            return math.inf
        rows, seconds = self.points[-1]
        growing = seconds
        if len(self.points) > 1:
            fewer, less = self.points[-2]
            rise = (seconds - less) / (1.0 - (fewer / rows) ** self.power)
            growing = min(max(rise, GROWING_SHARE * seconds), seconds)
        grown = growing * (n_rows / rows) ** self.power
        return float(seconds - growing + grown)


class Deadline(Observer):
    """Ends a trial after the first part that exceeds its time."""

    def __init__(self, budget: Budget, seconds: float) -> None:
        self.budget = budget
        self.end = budget.spent + seconds

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        if self.budget.spent > self.end:
            raise TimeUpError
