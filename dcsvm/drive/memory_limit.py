"""A limit of memory: jobs begin once their forecast fits, and one that never can raises first."""

import math
import operator
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import MemoryLimitError
from dcsvm.base.models import KernelExpansion
from dcsvm.base.subproblem import FitResult, Subproblem
from dcsvm.drive.executor import Numbered, Runnable
from dcsvm.numeric.mapped_rows import RESIDENT_BYTES, MappedRows
from dcsvm.numeric.spilled_rows import RowSpill

#: What a process takes before it is given any rows.
PROCESS_BYTES = 150e6
#: What a division takes is reported from so many bytes on.
TOLD_BYTES = 100e6

#: Jobs of a round that are judged by samples, to find the one that takes most.
LOOKED_AT = 50
#: Support vectors leave memory if the rows of all parts take more than this share of the limit.
SPILLED_SHARE = 1 / 16

Run = Callable[[Sequence[Numbered]], Any]


class MemoryLimit:
    """Admits jobs while their forecasts fit into a limit for this process and its workers."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._taken, self._running = 0.0, 0
        self._changed = threading.Condition()

    def count_fitting(self, jobs: Sequence[Numbered], cores: int, workers: int = 0) -> int:
        """How many of the jobs fit at the same time, up to `cores`; raise if one does not.

        `workers` are processes of their own, in which the jobs run.
        """
        left = self.measure_left(workers)
        needed, largest = max(
            ((job.bytes_needed, job) for _, job in jobs), key=operator.itemgetter(0)
        )
        if cores * needed > left:  # then it is worth a closer look
            needed, largest = _find_largest([job for _, job in jobs])
        if needed > left:
            raise MemoryLimitError(self._explain(largest, needed, left))
        return int(min(cores, left // max(needed, 1.0)))

    def guard(self, run: Run) -> Run:
        """A function that runs jobs in a thread here, when they fit beside the others."""
        left = self.measure_left(0) + self._taken

        def run_when_fitting(jobs: Sequence[Numbered]) -> Any:
            needed = max(job.bytes_needed for _, job in jobs)  # one is run after the other
            if self._taken + needed > left:  # then it is worth a closer look
                needed = max(_estimate(job) for _, job in jobs)
            with self._changed:
                self._changed.wait_for(lambda: not self._running or self._taken + needed <= left)
                self._taken, self._running = self._taken + needed, self._running + 1
            try:
                return run(jobs)
            finally:
                with self._changed:
                    self._taken, self._running = self._taken - needed, self._running - 1
                    self._changed.notify_all()

        return run_when_fitting

    def measure_left(self, workers: int = 0) -> float:
        """The bytes that are left beside what this process and such workers take before a fit."""
        return self.limit - measure_used() - RESIDENT_BYTES - workers * PROCESS_BYTES

    def plan_spill(self, jobs: Sequence[Numbered]) -> Callable[[Any], Any] | None:
        """What moves the support vectors of outcomes to a file, if there could be many.

        Only jobs on rows of a file have them moved, to a file beside it.
        """
        mine = [job for _, job in jobs if isinstance(job, Subproblem)]
        problems = [job.problem for job in mine if isinstance(job.problem.X, MappedRows)]
        if not problems:
            return None
        n_rows, width = sum(job.n_rows for job in mine), problems[0].n_features
        if 8.0 * n_rows * width <= SPILLED_SHARE * self.limit:
            return None
        folder = str(Path(str(problems[0].X.filename)).parent)
        return partial(spill_points, spill=RowSpill(n_rows, width, folder))

    def _explain(self, job: Runnable, needed: float, left: float) -> str:
        if left <= 0:
            return (
                f"the limit of {format_bytes(self.limit)} is less than the program takes before "
                f"it trains a part: allow {format_bytes(self.limit - left + needed)} or more"
            )
        return (
            f"{job.title}, a part of {job.n_rows:,} rows, is expected to take "
            f"{format_bytes(needed)}, and the limit of {format_bytes(self.limit)} leaves "
            f"{format_bytes(left)}: make the parts smaller (decomposer.ceiling, "
            "decomposer.parts, or what the decomposer calls it), or allow "
            f"{format_bytes(self.limit - left + needed)}"
        )


def _find_largest(jobs: Sequence[Runnable]) -> tuple[float, Runnable]:
    """The job that takes most memory, and how much; up to LOOKED_AT are judged by samples."""
    ordered = sorted(jobs, key=lambda job: -job.bytes_needed)
    needed, largest = _estimate(ordered[0]), ordered[0]
    for place, job in enumerate(ordered[1:], 1):
        if job.bytes_needed <= needed:
            break
        found = _estimate(job) if place < LOOKED_AT else job.bytes_needed
        if found > needed:
            needed, largest = found, job
    return needed, largest


def _estimate(job: Runnable) -> float:
    """The memory that a job takes, if need be judged by a sample of its rows."""
    return job.estimate_bytes() if isinstance(job, Subproblem) else job.bytes_needed


def spill_points(outcome: Any, spill: RowSpill) -> Any:
    """The outcome of a job with its support vectors in a file, if it has any."""
    if not isinstance(outcome, FitResult) or not isinstance(outcome.model, KernelExpansion):
        return outcome
    return attrs.evolve(outcome, model=outcome.model.spill(spill))


def check_division(
    decomposer: Decomposer, shape: tuple[int, int], limit: MemoryLimit | None
) -> None:
    """Say what a decomposer holds of rows (n, d) on disk, if it is much; raise if it is too much.

    Called before the rows are read.
    """
    needed = decomposer.memory(*shape)
    if not needed:
        return
    n_rows, n_features = shape
    message = (
        f"{decomposer.name} holds rows in memory to divide them: {format_bytes(needed)} for "
        f"{n_rows:,} rows x {n_features} features x 8 bytes, "
        f"{needed / (8.0 * n_rows * n_features):.2g} times"
    )
    if decomposer.sibling:
        message += f"; {decomposer.sibling}, as set by default, leaves them on disk"
    left = measure_available() if limit is None else limit.measure_left()
    if needed > left:
        raise MemoryLimitError(f"{message}; {format_bytes(max(left, 0.0))} are left")
    if needed > TOLD_BYTES:
        warnings.warn(message, stacklevel=2)


def measure_available() -> float:
    """The bytes that the system can give, where it tells them."""
    found = _read_kilobytes("/proc/meminfo", "MemAvailable:")
    return math.inf if found is None else 1024.0 * found


def measure_used() -> float:
    """The bytes of this process that the system cannot drop, where it tells them."""
    found = _read_kilobytes("/proc/self/status", "RssAnon:")
    return PROCESS_BYTES if found is None else 1024.0 * found


def _read_kilobytes(path: str, word: str) -> int | None:
    """The number behind a word of a file of Linux, if it is there."""
    try:
        return int(Path(path).read_text().partition(word)[2].split()[0])
    except (OSError, IndexError):
        return None


def format_bytes(size: float) -> str:
    """A size with the unit that suits it."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
