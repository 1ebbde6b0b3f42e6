"""TaskBatch: several parts with tasks on rows of one dense problem, cut out together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem, ProblemStack
from dcsvm.base.subproblem import FitResult, Subproblem, constant_of
from dcsvm.base.threads import CORES
from dcsvm.numeric.array_types import IntArray


@attrs.frozen(eq=False)
class TaskBatch:
    """The rows of several parts, one after another, as `extract` gives them one by one.

    `codes` has the code of each part, (parts, classes), and `signed` whether it has both sides.
    """

    jobs: Sequence[Subproblem]
    rows: IntArray
    y: IntArray
    offsets: IntArray
    codes: IntArray
    signed: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, jobs: Sequence[Subproblem]) -> TaskBatch | None:
        """Cut out the rows of parts; None unless all are plain tasks on one dense problem."""
        given, learner = jobs[0].problem, jobs[0].learner
        if not isinstance(given.X, np.ndarray) or learner.pairwise:
            return None
        if not all(job.problem is given and job.part.is_plain_task for job in jobs):
            return None
        owner, rows = _stack_rows(jobs, given)
        codes = _find_codes(jobs, given)
        cells = owner * given.n_classes + given.y[rows]
        signs = codes.ravel()[cells]
        if not signs.all():
            used = signs != 0
            owner, rows, signs, cells = owner[used], rows[used], signs[used], cells[used]
        codes *= np.bincount(cells, minlength=codes.size).reshape(codes.shape) > 0
        y = (signs > 0).astype(np.intp)
        counts = np.bincount(2 * owner + y, minlength=2 * len(jobs)).reshape(-1, 2)
        offsets = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        return cls(jobs, rows, y, offsets, codes, np.asarray(counts.all(axis=1)))

    def stack(self) -> ProblemStack:
        """The problems of the parts with both sides."""
        jobs, rows, y, offsets = self.jobs, self.rows, self.y, self.offsets
        if not self.signed.all():
            sizes = np.diff(offsets)
            used = np.repeat(self.signed, sizes)
            rows, y = rows[used], y[used]
            offsets = np.concatenate([[0], np.cumsum(sizes[self.signed])])
            jobs = [job for job, signed in zip(jobs, self.signed, strict=True) if signed]
        given = jobs[0].problem if jobs else self.jobs[0].problem
        X, weights = given.X[rows], None if given.weights is None else given.weights[rows]

        def make(place: int) -> Problem:
            its = slice(offsets[place], offsets[place + 1])
            own = None if weights is None else weights[its]
            shared = CORES.get(), given.names, given.total_rows
            problem = Problem(X[its], y[its], 2, jobs[place].seed, own, None, *shared)
            problem.place_within(given, rows[its])
            return problem

        return ProblemStack(X, y, offsets, make, weights, given, rows)

    def results(self, models: Iterator[LocalModel], seconds: float) -> list[FitResult]:
        """The results of all parts, of some seconds each; `models` are those with both sides."""
        results = []
        signed, spans = self.signed.tolist(), pairwise(self.offsets.tolist())
        for place, (start, end) in enumerate(spans):
            code = self.codes[place : place + 1]
            model = next(models) if signed[place] else constant_of(code)
            results.append(FitResult.of(model, code, self.rows[start:end], seconds))
        return results


def _stack_rows(jobs: Sequence[Subproblem], given: Problem) -> tuple[IntArray, IntArray]:
    """The number of the part of each row, and the rows, ascending in each part."""
    parts = [job.part for job in jobs]
    owner = np.repeat(np.arange(len(jobs)), [part.n_rows for part in parts])
    first = owner * given.n_rows  # keeps the rows of a part together while they are sorted
    sets = list(chain.from_iterable([part.sets for part in parts]))
    return owner, np.sort(np.concatenate(sets) + first) - first


def _find_codes(jobs: Sequence[Subproblem], given: Problem) -> IntArray:
    codes = np.zeros((len(jobs), given.n_classes), dtype=np.int8)
    tasks: list[Any] = [job.part.task for job in jobs]
    for sign, classes in (
        (1, [task.plus for task in tasks]),
        (-1, [task.minus for task in tasks]),
    ):
        places = np.repeat(np.arange(len(jobs)), list(map(len, classes)))
        codes[places, list(chain.from_iterable(classes))] = sign
    return codes
