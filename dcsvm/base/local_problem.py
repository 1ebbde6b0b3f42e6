"""Local problems: the rows, labels and code of a part, cut from its problem."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.base.errors import ContractError, DataError
from dcsvm.base.feature_views import Chain, Columns, View
from dcsvm.base.models import Constant, LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.threads import CORES
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    from dcsvm.base.subproblem import Subproblem


@attrs.frozen(eq=False, slots=False)
class LocalProblem:
    """The problem of a part, with its rows and code in the divided problem.

    Features are extracted on demand: a part with a single class does not need them.
    """

    job: Subproblem
    rows: IntArray
    y: IntArray
    n_classes: int
    weights: FloatArray | None
    start: FloatArray | None
    code: IntArray
    #: Its rows of the features, if they have been taken already.
    X: Matrix | None = None

    @property
    def problem(self) -> Problem:
        return self._extracted[0]

    @property
    def view(self) -> View | None:
        """The fitted view; None for a single class."""
        return None if self.n_classes == 1 else self._extracted[1]

    @cached_property
    def _extracted(self) -> tuple[Problem, View | None]:
        given, part, rows = self.job.problem, self.job.part, self.rows
        X = self.X
        if X is None:
            whole = len(rows) == given.n_rows and bool((np.diff(rows) == 1).all())
            X = given.X if whole else given.X[rows]
        view, names = self._view(), given.names
        if view is not None:
            view = view.fit(X)
            X, names = view.apply(X), view.names(names)
        local = Problem(
            *(X, self.y, self.n_classes, self.job.seed, self.weights, self.start),
            *(CORES.get(), names, given.total_rows),
        )
        if part.task is not None and view is None:
            local.place_within(given, rows)
        return local, view

    def _view(self) -> View | None:
        given, view = self.job.problem, self.job.part.view
        if not self.job.learner.pairwise:
            return view
        if given.X.shape[1] != given.n_rows:
            raise DataError(
                "for a precomputed kernel, X must be the (n, n) kernel matrix of the training "
                f"rows, got shape {given.X.shape}"
            )
        between = Columns(self.rows)
        return between if view is None else Chain((between, view))

    def constant(self) -> LocalModel | None:
        """The model of a part with a single class, or a single side of its task; else None."""
        if self.n_classes > 1:
            return None
        return Constant(float(self.code[0].sum() > 0) * 2.0 - 1.0)

    def result(self, model: LocalModel, seconds: float) -> FitResult:
        if not hasattr(model, "scores"):
            raise ContractError(f"fit must return a LocalModel, got {type(model).__name__}")
        kept = model.support
        support = np.zeros(0, dtype=np.intp) if kept is None else self.rows[kept]
        if self.job.ids is not None:
            support = self.job.ids[support]
        return FitResult(model, self.view, self.code, support, len(self.rows), seconds)


@attrs.frozen(eq=False)
class FitResult:
    """What a worker returns: the model, and the other data of a Member.

    `account` tells how the executor ran the job: `began` (seconds since 1970), `worker`, seconds
    `waited` besides training, and `bytes_read`, `bytes_sent` and `bytes_returned`.
    """

    model: LocalModel
    view: View | None
    code: IntArray
    support: IntArray
    n_rows: int
    seconds: float
    account: dict[str, Any] = attrs.field(factory=dict)

    @property
    def n_classes(self) -> int:
        """How many classes the model scores."""
        known = self.code[0] if len(self.code) == 1 else self.code.any(axis=0)
        return int(np.count_nonzero(known))


def extract_part(job: Subproblem) -> LocalProblem:
    """Extract the local problem of a part."""
    given, part = job.problem, job.part
    rows, start = part.rows, part.start
    weights = _product(given.weights, rows, part.weights)
    y = given.y[rows] if part.labels is None else part.labels
    n_labels = part.n_labels or given.n_classes
    if part.task is None:
        present, y = np.unique(y, return_inverse=True)
        code, sides = _code(present, n_labels), len(present)
    else:
        signs_by_class = part.task.code(n_labels)
        signs = signs_by_class[y]
        if not signs.all():
            used = np.flatnonzero(signs)
            rows, y, signs = rows[used], y[used], signs[used]
            weights = None if weights is None else weights[used]
            start = None if start is None else start[used]
        absent = np.bincount(y, minlength=len(signs_by_class)) == 0
        signs_by_class[absent] = 0
        code, y = signs_by_class[None], (signs > 0).astype(np.intp)
        sides = len(set(signs.tolist()))
    return LocalProblem(job, rows, y, sides, weights, start, code)


def extract_together(jobs: Sequence[Subproblem]) -> list[LocalProblem]:
    """Extract the local problems of several parts; all at once if they are plain tasks."""
    given, parts = jobs[0].problem, [job.part for job in jobs]
    if not all(_is_plain_task(job, given) for job in jobs):
        return [extract_part(job) for job in jobs]
    owner = np.repeat(np.arange(len(parts)), [part.n_rows for part in parts])
    first = owner * given.n_rows  # keeps the rows of a part together while they are sorted
    rows = np.sort(np.concatenate([ids for part in parts for ids in part.sets]) + first) - first
    codes = np.zeros((len(parts), given.n_classes), dtype=np.int8)
    tasks: list[Any] = [part.task for part in parts]
    for sign, classes in (
        (1, [task.plus for task in tasks]),
        (-1, [task.minus for task in tasks]),
    ):
        places = np.repeat(np.arange(len(parts)), [len(each) for each in classes])
        codes[places, list(chain.from_iterable(classes))] = sign
    signs = codes[owner, given.y[rows]]
    if not signs.all():
        used = signs != 0
        owner, rows, signs = owner[used], rows[used], signs[used]
    present = np.zeros_like(codes, dtype=bool)
    present[owner, given.y[rows]] = True
    codes *= present
    X, y = given.X[rows], (signs > 0).astype(np.intp)
    counts = np.bincount(2 * owner + y, minlength=2 * len(parts)).reshape(-1, 2)
    sides = np.count_nonzero(counts, axis=1)
    weights = None if given.weights is None else given.weights[rows]
    ends = np.searchsorted(owner, np.arange(len(parts) + 1)).tolist()
    cuts = []
    for place, (job, n_sides) in enumerate(zip(jobs, sides.tolist(), strict=True)):
        its = slice(ends[place], ends[place + 1])
        own = None if weights is None else weights[its]
        code = codes[place : place + 1]
        cuts.append(LocalProblem(job, rows[its], y[its], n_sides, own, None, code, X[its]))
    return cuts


def _is_plain_task(job: Subproblem, given: Problem) -> bool:
    """Whether a part has a task on joined rows of a dense problem, and nothing of its own."""
    part = job.part
    return (
        job.problem is given
        and part.task is not None
        and part.is_joined
        and all(each is None for each in (part.labels, part.view, part.weights, part.start))
        and isinstance(given.X, np.ndarray)
        and not job.learner.pairwise
    )


def _code(present: IntArray, n_classes: int) -> IntArray:
    """The code of a model of the classes that are present."""
    if len(present) == 2:
        code = np.zeros((1, n_classes), dtype=np.int8)
        code[0, present] = (-1, 1)
        return code
    code = np.zeros((len(present), n_classes), dtype=np.int8)
    code[np.arange(len(present)), present] = 1
    return code


def _product(weights: FloatArray | None, rows: IntArray, more: FloatArray | None) -> Any:
    mine = None if weights is None else weights[rows]
    if mine is None or more is None:
        return more if mine is None else mine
    return mine * more
