"""Rows of parts gathered on disk: each part reads one run of a new file, not scattered rows."""

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dcsvm.base.subproblem import Subproblem
from dcsvm.drive.executor import Numbered, Runnable
from dcsvm.drive.memory_limit import MemoryLimit, measure_available
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.mapped_rows import MappedRows

#: Files up to so many bytes are left as they are: the system keeps them in memory.
SMALL_FILE = 1 << 28
#: A part with more than this share of the rows finds some of its own on nearly every page.
LARGE_SHARE = 1 / 16


def gather_runs(jobs: list[Numbered], limit: MemoryLimit | None = None) -> list[Numbered]:
    """The same jobs; those whose rows lie scattered over a large file, on runs of a new one.

    One pass reads the file in order and writes each row to the run of its part, so that each row
    is read three times in all: to divide, to gather and to learn. Nothing is gathered if the disk
    has no room for it, if parts overlap, or if the system can keep the file in memory, where
    scattered rows are read faster than they are gathered.
    """
    scattered = [each for each in jobs if _is_scattered(each[1])]
    if len(scattered) < 2 or _fits(scattered, limit):
        return jobs
    gathered = dict(jobs)
    for numbers in _list_layers(scattered):
        mine: list[Any] = [gathered[number] for number in numbers]
        runs = _write_runs(mine[0].problem.X, [job.part.rows for job in mine])
        gathered |= {
            number: _move(job, run) for number, job, run in zip(numbers, mine, runs, strict=False)
        }
    return list(gathered.items())


def _move(job: Subproblem, X: MappedRows) -> Subproblem:
    """The same job on its own rows, which X holds in the order of the part."""
    rows = job.part.rows
    problem = job.problem.subset(rows, lambda *_: X)
    part = attrs.evolve(job.part, rows=np.arange(len(rows)))
    return Subproblem(problem, part, job.learner, job.seed, rows)


def _fits(jobs: list[Any], limit: MemoryLimit | None) -> bool:
    """Whether the system can keep the largest file of some jobs in half of its memory."""
    available = measure_available() if limit is None else min(limit.limit, measure_available())
    largest = max(int(job.problem.X.nbytes) for _, job in jobs)
    return largest <= max(SMALL_FILE, available / 2)


def _list_layers(jobs: list[Any]) -> Iterator[list[int]]:
    """Numbers of jobs on one file, no more rows in all than it has."""
    layer: list[int] = []
    source, room = None, 0
    for number, job in jobs:
        if layer and (job.problem.X is not source or job.n_rows > room):
            yield layer
            layer = []
        if not layer:
            source, room = job.problem.X, job.problem.n_rows
        layer.append(number)
        room -= job.n_rows
    yield layer


def _is_scattered(job: Runnable) -> bool:
    if not isinstance(job, Subproblem):
        return False
    X = job.problem.X
    return (
        isinstance(X, MappedRows)
        and job.ids is None
        and not job.shares_problem
        and job.n_rows < LARGE_SHARE * len(X)
    )


def _write_runs(X: MappedRows, sets: list[IntArray]) -> list[MappedRows]:
    """The rows of each set as a run of a new file; nothing if it cannot be written."""
    ends = np.cumsum([0, *map(len, sets)])
    place = np.full(len(X), -1)
    for rows, (start, end) in zip(sets, pairwise(ends), strict=True):
        place[rows] = np.arange(start, end)
    if np.count_nonzero(place >= 0) < ends[-1]:
        return []
    try:
        if 2 * ends[-1] * X[:1].nbytes > shutil.disk_usage(Path(str(X.filename)).parent).free:
            return []
        found = X.permute(place, int(ends[-1]))
    except OSError:
        return []
    return [found[start:end] for start, end in pairwise(ends)]
