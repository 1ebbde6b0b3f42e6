"""Rows in memory, written to a file once for workers of a cluster on the client's own machine."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import weakref
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import attrs
import numpy as np
from distributed import Client

from dcsvm.base.problem import Problem
from dcsvm.base.subproblem import Subproblem
from dcsvm.drive.executor import Numbered
from dcsvm.numeric.mapped_rows import MappedRows, is_visible, make_spill_folder

#: Fewer bytes are sent to each worker: that is as fast.
LEAST_BYTES = 1 << 20
#: The file is written if jobs need at least this share of its rows.
LEAST_SHARE = 0.5


class NearbyRows:
    """The files of an executor, and which workers see them.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._sees: dict[str, bool] = {}
        self._folder: str | None = None

    def place(self, jobs: list[Numbered], workers: Mapping[str, int]) -> dict[int, Problem]:
        """Problems of jobs with their rows in a file, by the `id` of what they replace.

        None if a worker is on another machine. A file lives as long as the problem.
        """
        if not all(map(is_here, workers)):
            return {}
        counts: Counter[int] = Counter()
        problems = {}
        for _, job in jobs:
            if isinstance(job, Subproblem):
                problems[id(job.problem)] = job.problem
                counts[id(job.problem)] += job.n_rows
        found = {}
        for key, problem in problems.items():
            if counts[key] >= LEAST_SHARE * problem.n_rows and _can_be_written(problem):
                mapped = problem.once(("nearby rows", id(self)), partial(self._write, problem.X))
                if mapped is not None:
                    found[key] = problem.once(
                        ("nearby", id(self), problem.seed),
                        partial(attrs.evolve, problem, X=mapped),
                    )
        for moved in list(found.values())[:1]:
            self._ask(moved.X, [each for each in workers if each not in self._sees])
        return found

    def is_seen_by(self, worker: str) -> bool:
        """Whether a worker has said that it sees the files."""
        return self._sees.get(worker, False)

    def _ask(self, X: MappedRows, workers: list[str]) -> None:
        """Ask workers whether they see a file of the folder."""
        if workers:
            answers = self.client.run(is_visible, *X.file, workers=workers, on_error="return")
            self._sees |= {worker: answer is True for worker, answer in answers.items()}

    def _write(self, X: Any) -> MappedRows | None:
        """Write rows to a file; None if there is no room."""
        if self._folder is None:
            self._folder = make_spill_folder()
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        handle, path = tempfile.mkstemp(".npy", "rows-", self._folder)
        os.close(handle)
        try:
            if 2 * X.nbytes > shutil.disk_usage(self._folder).free:
                return None
            mapped = MappedRows.write(path, [X], X.shape[1])
        except OSError:
            return None
        weakref.finalize(mapped, _remove, path)
        return mapped


def is_here(address: str) -> bool:
    """Whether the address of a worker is one of this machine."""
    parts = urlsplit(address)
    if parts.scheme == "inproc":
        return True
    with suppress(OSError):
        for family, kind, *_, where in socket.getaddrinfo(
            parts.hostname, 0, type=socket.SOCK_DGRAM
        ):
            with socket.socket(family, kind) as probe:  # only one's own addresses can be bound
                probe.bind(where)
                return True
    return False


def _can_be_written(problem: Problem) -> bool:
    X = problem.X
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and X.nbytes >= LEAST_BYTES
        and problem.whole is None
    )


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
