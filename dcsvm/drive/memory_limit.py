"""A limit of memory: jobs begin once their forecast fits, and one that never can raises first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dcsvm.base.errors import MemoryLimitError
from dcsvm.drive.executor import Numbered, Runnable
from dcsvm.numeric.mapped_rows import RESIDENT_BYTES

#: What a process takes before it is given any rows.
PROCESS_BYTES = 150e6

Run = Callable[[Sequence[Numbered]], Any]


class MemoryLimit:
    """Admits jobs while the sum of their forecasts fits into what a limit leaves.

    Parameters
    ----------
    limit : float
        Bytes that this process and its workers may take in all.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._taken, self._running = 0.0, 0
        self._changed = threading.Condition()

    def count_fitting(self, jobs: Sequence[Numbered], cores: int, workers: int = 0) -> int:
        """How many of the jobs fit at the same time, up to `cores`; raise if one does not.

        `workers` are processes of their own, in which the jobs run.
        """
        largest = max((job for _, job in jobs), key=lambda job: job.bytes_needed)
        left = self._measure_left(workers)
        if largest.bytes_needed > left:
            raise MemoryLimitError(self._explain(largest, left))
        return int(min(cores, left // max(largest.bytes_needed, 1.0)))

    def guard(self, run: Run) -> Run:
        """A function that runs jobs in a thread here, when they fit beside the others."""
        left = self._measure_left(0) + self._taken

        def run_when_fitting(jobs: Sequence[Numbered]) -> Any:
            needed = max(job.bytes_needed for _, job in jobs)  # one is run after the other
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

    def _measure_left(self, workers: int) -> float:
        return self.limit - measure_used() - RESIDENT_BYTES - workers * PROCESS_BYTES

    def _explain(self, job: Runnable, left: float) -> str:
        needed = job.bytes_needed
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


def measure_used() -> float:
    """The bytes of this process that the system cannot drop, or a guess of them."""
    try:
        status = Path("/proc/self/status").read_text()
        return 1024.0 * int(status.partition("RssAnon:")[2].split()[0])
    except (OSError, IndexError):
        return PROCESS_BYTES


def format_bytes(size: float) -> str:
    """A size with the unit that suits it."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
