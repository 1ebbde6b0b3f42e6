"""Subproblems: parts with learner and seed, trained by workers and recorded in the ledger.

A part with a single class is answered with a `Constant`; no learner sees it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.digest import digest
from dcsvm.base.errors import ContractError, DataError
from dcsvm.base.feature_views import Chain, Columns, View
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.base.models import Constant, LocalModel
from dcsvm.base.problem import Part, Problem
from dcsvm.base.seed import PARTS, Seed
from dcsvm.base.stages import check_parts
from dcsvm.base.threads import CORES
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.mapped_rows import MappedRows, take_rows

#: Parts with at most this many rows may be trained several in one call.
SMALL_ROWS = 300
#: Rows of a sample by which the memory of a larger part is forecast.
SAMPLE_ROWS = 1500


def subproblems(
    problem: Problem, parts: list[Part], decomposer: Decomposer, learner: LocalLearner, seed: Seed
) -> list[Subproblem]:
    """Make the subproblems of a stage; raise if a part is invalid."""
    check_parts(parts, problem, decomposer)
    return [
        Subproblem(problem, part, find_learner(part, learner), seed.child(place))
        for place, part in enumerate(parts)
    ]


def find_learner(part: Part, learner: LocalLearner) -> LocalLearner:
    """The learner of a part: its own, which may wrap the strategy's, or the strategy's."""
    own: LocalLearner | None = part.learner
    return learner if own is None else own.around(learner)


@attrs.frozen(eq=False)
class Subproblem:
    """A part to be trained, with everything that determines the result."""

    problem: Problem
    part: Part
    learner: LocalLearner
    seed: Seed
    #: The ids of the problem's rows in the divided problem, if it holds those of the part only.
    ids: IntArray | None = None

    def detach(self) -> Subproblem:
        """The same job with a problem of its own rows, to be sent elsewhere; or itself."""
        if self.shares_problem or self.ids is not None:
            return self
        given, rows = self.problem, self.part.rows
        own = list_rows(rows)
        place = np.arange(len(rows)) if own is rows else np.searchsorted(own, rows)
        problem = given.subset(own, take_rows)
        part = attrs.evolve(self.part, rows=place, about={})
        return Subproblem(problem, part, self.learner, self.seed, own)

    @property
    def shares_problem(self) -> bool:
        """Whether the job needs the whole problem, whose kernel parts with a task share."""
        return self.learner.pairwise or (self.part.task is not None and self.part.view is None)

    def __reduce__(self) -> Any:
        return Subproblem, attrs.astuple(self.detach(), recurse=False)

    def member(self, result: FitResult) -> Member:
        """Return the member for the result of training.

        If the fitted view equals the part's own, that one is used: members share points only with
        the same view object, and results from other processes or files have copies.
        """
        described, fitted = self.part.view, result.view
        is_same = type(fitted) is type(described) and (
            fitted is described or digest(described) == digest(fitted)
        )
        view = described if is_same else fitted
        return Member(result.model, result.code, view, result.support, result.n_rows, self.part)

    def extract(self) -> LocalProblem:
        """Extract the local problem of the part."""
        rows, start = self.part.rows, self.part.start
        weights = _product(self.problem.weights, rows, self.part.weights)
        y = self.problem.y[rows] if self.part.labels is None else self.part.labels
        n_labels = self.part.n_labels or self.problem.n_classes
        if self.part.task is None:
            present, y = np.unique(y, return_inverse=True)
            code, sides = _code(present, n_labels), len(present)
        else:
            signs_by_class = self.part.task.code(n_labels)
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
        return LocalProblem(self, rows, y, sides, weights, start, code)

    @property
    def n_rows(self) -> int:
        return self.part.n_rows

    @property
    def title(self) -> str:
        """The learner, and the place in the division by stage and part, at every depth."""
        path = self.seed.path
        steps = [step for place, step in enumerate(path) if place % 3 or step != PARTS]
        name = self.learner.name or type(self.learner).__name__
        return f"{name} {'.'.join(map(str, steps))}".strip()

    @property
    def shared(self) -> tuple[Any, ...]:
        """What other jobs of its round refer to as well, if it cannot be detached."""
        return (self.problem,) if self.shares_problem else ()

    @property
    def bytes_read(self) -> int:
        """The bytes of its rows, if they are in a file."""
        X = self.problem.X
        return self.n_rows * X[:1].nbytes if isinstance(X, MappedRows) else 0

    @property
    def bytes_needed(self) -> float:
        """The most memory that training takes, its own rows included."""
        width = self.problem.n_features
        return 8.0 * self.n_rows * (width + 4) + self.learner.memory(self.n_rows, width)

    def estimate_bytes(self) -> float:
        """A forecast of the memory that training takes: of large parts, judged by a sample."""
        own = 8.0 * self.n_rows * (self.problem.n_features + 4)
        if self.extract().n_classes == 1:  # nothing is learned
            return own
        is_told = type(self.learner).memory_like is not LocalLearner.memory_like
        if not is_told or self.n_rows <= SAMPLE_ROWS or self.shares_problem:
            return self.bytes_needed
        cut = self._take_sample().extract()
        if cut.n_classes == 1:
            return self.bytes_needed
        return own + self.learner.memory_like(cut.problem, self.n_rows)

    def _take_sample(self) -> Subproblem:
        """The same job on SAMPLE_ROWS of its rows."""
        part, chosen = self.part, np.linspace(0, self.n_rows - 1, SAMPLE_ROWS).astype(np.intp)
        weights = None if part.weights is None else part.weights[chosen]
        labels = None if part.labels is None else part.labels[chosen]
        some = attrs.evolve(
            part, rows=part.rows[chosen], weights=weights, labels=labels, start=None
        )
        return attrs.evolve(self, part=some)

    @property
    def can_be_batched(self) -> bool:
        """Whether it is small, and its learner overrides `fit_together`."""
        return self.n_rows <= SMALL_ROWS and _learns_together(type(self.learner))

    @property
    def is_nested(self) -> bool:
        """Whether the learner may implement `fit_in_steps`."""
        return type(self.learner).fit_in_steps is not LocalLearner.fit_in_steps

    def key(self) -> str:
        """The checkpoint key: equal for subproblems with equal inputs."""
        part = self.part
        described = (part.rows, part.view, part.task, part.weights, part.start)
        labels = () if part.labels is None else (part.labels, part.n_labels)
        return digest(_problem_key(self.problem), *described, *labels, self.learner, self.seed)

    def run(self) -> FitResult:
        """Train the part; called in a worker."""
        started = time.perf_counter()
        cut = self.extract()
        model = cut.constant() or self.learner.fit(cut.problem)
        return cut.result(model, time.perf_counter() - started)


def list_rows(rows: IntArray) -> IntArray:
    """The numbers of rows (n,) in order, each once; the same array if they are."""
    return rows if bool((rows[1:] > rows[:-1]).all()) else np.unique(rows)


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
        whole = len(rows) == given.n_rows and bool((np.diff(rows) == 1).all())
        is_run = self.job.ids is not None and isinstance(given.X, MappedRows)
        X = given.X if whole and not is_run else given.X[rows]
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
        return None if self.n_classes > 1 else constant_of(self.code)

    def result(self, model: LocalModel, seconds: float) -> FitResult:
        ids = self.job.ids
        rows = self.rows if ids is None else ids[self.rows]
        return FitResult.of(model, self.code, rows, seconds, self.view)


def constant_of(code: IntArray) -> LocalModel:
    """The model of a part with a single class, or a single side of its task."""
    return Constant(float(code[0].sum() > 0) * 2.0 - 1.0)


@attrs.frozen(eq=False)
class FitResult:
    """What a worker returns: the model, and the other data of a Member.

    `account` tells how the executor ran the job: `began` (seconds since 1970), `worker`, seconds
    `waited` in line and on the way (of jobs sent together, its share), `bytes_read`,
    `bytes_sent`, `bytes_returned`, times `sent_again`.
    """

    model: LocalModel
    view: View | None
    code: IntArray
    support: IntArray
    n_rows: int
    seconds: float
    account: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def of(
        cls,
        model: LocalModel,
        code: IntArray,
        rows: IntArray,
        seconds: float,
        view: View | None = None,
    ) -> FitResult:
        """The result of a part with `rows` of the divided problem."""
        if not hasattr(model, "scores"):
            raise ContractError(f"fit must return a LocalModel, got {type(model).__name__}")
        kept = model.support
        support = np.zeros(0, dtype=np.intp) if kept is None else rows[kept]
        return cls(model, view, code, support, len(rows), seconds)


@attrs.frozen
class Record:
    """A part and its trained model, summarized.

    `path` holds (stage, place) pairs, one for each depth of nesting. `about` joins facts from
    the decomposer about the part and from the model about its training; `account` is how the
    executor ran it, as in a FitResult.
    """

    path: tuple[int, ...]
    rows: int
    classes: int
    support_vectors: int
    seconds: float
    learner: str
    parameters: Mapping[str, Any]
    model: str
    about: Mapping[str, Any]
    account: Mapping[str, Any] = attrs.field(factory=dict, eq=False)

    @property
    def kept(self) -> int:
        """How many of its rows `support_of` passes to the next stage."""
        return self.rows if self.model == Constant.__name__ else self.support_vectors

    def below(self, stage: int, place: int) -> Record:
        """Return the same record with its path in the enclosing strategy."""
        return attrs.evolve(self, path=(stage, place, *self.path))


def record_results(
    ledger: list[Record], stage: int, jobs: Sequence[Subproblem], results: Sequence[FitResult]
) -> None:
    """Add a record for every part of a stage, and for the parts of strategies nested in it."""
    learners = {id(job.learner): job.learner for job in jobs}
    known = {
        key: (each.name or type(each).__name__, each.get_params(deep=False))
        for key, each in learners.items()
    }
    for place, (job, result) in enumerate(zip(jobs, results, strict=True)):
        model, about = result.model, job.part.about
        learner, parameters = known[id(job.learner)]
        facts = {**about, **model.facts} if about else model.facts
        sizes = result.n_rows, _count_classes(result.code), len(result.support), result.seconds
        how: Any = learner, parameters, type(model).__name__, facts, result.account
        ledger.append(Record((stage, place), *sizes, *how))
        if model.ledger:
            ledger.extend(record.below(stage, place) for record in model.ledger)


def _count_classes(code: IntArray) -> int:
    """How many classes a model with this code scores."""
    return int(np.count_nonzero(code if len(code) == 1 else code.any(axis=0)))


@cache
def _learns_together(kind: type[LocalLearner]) -> bool:
    """Whether a learner overrides `fit_together`, and no subclass changes `fit` after that."""
    together, alone = (
        next(each for each in kind.__mro__ if name in vars(each))
        for name in ("fit_together", "fit")
    )
    return together is not LocalLearner and issubclass(together, alone)


_problem_keys: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()


def _problem_key(problem: Problem) -> str:
    if problem not in _problem_keys:
        _problem_keys[problem] = digest(problem)
    return _problem_keys[problem]


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
