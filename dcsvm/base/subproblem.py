"""Subproblems: parts with learner and seed, trained by workers and recorded in the ledger."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.digest import digest
from dcsvm.base.errors import ContractError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.local_problem import FitResult, LocalProblem, extract_part, extract_together
from dcsvm.base.member import Member
from dcsvm.base.models import Constant
from dcsvm.base.problem import PARTS, Part, Problem, Seed
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.mapped_rows import MappedRows, take_rows

#: Parts with at most this many rows may be trained several in one call.
SMALL_ROWS = 300


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


def check_parts(parts: list[Part], problem: Problem, decomposer: Decomposer) -> None:
    """Raise if a stage or a part is empty, or a row id is out of range."""
    title = decomposer.name or type(decomposer).__name__
    if not parts:
        raise ContractError(f"{title} yielded a stage without parts")
    checked: set[int] = set()
    for place, part in enumerate(parts):
        if not isinstance(part, Part):
            raise ContractError(f"{title} yielded a {type(part).__name__} instead of a Part")
        if part.n_rows == 0:
            raise ContractError(f"{title} yielded part {place} without rows")
        for rows in part.sets:
            if id(rows) in checked or not len(rows):
                continue
            if rows.min() < 0 or rows.max() >= problem.n_rows:
                raise ContractError(
                    f"{title} yielded part {place} with row {rows.max()}, but the problem's "
                    f"rows are 0 to {problem.n_rows - 1}"
                )
            checked.add(id(rows))
        if part.labels is not None or part.n_labels is not None:
            _check_labels(part, problem.n_classes, f"{title} yielded part {place}")


def _check_labels(part: Part, n_classes: int, where: str) -> None:
    """Raise if a part's own labels are not one for each row, from 0 to n_labels - 1."""
    if part.labels is None:
        raise ContractError(f"{where} with n_labels = {part.n_labels}, but without labels")
    labels, most = np.asarray(part.labels), n_classes if part.n_labels is None else part.n_labels
    if labels.shape != (part.n_rows,) or labels.dtype.kind not in "iu":
        raise ContractError(
            f"{where} with labels of shape {labels.shape} and dtype {labels.dtype}, but it needs "
            f"a whole number for each of its {part.n_rows} rows"
        )
    if labels.min() < 0 or labels.max() >= most:
        raise ContractError(
            f"{where} with labels {labels.min()} to {labels.max()}, but must have 0 to {most - 1}"
        )


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
        given, (own, place) = self.problem, np.unique(self.part.rows, return_inverse=True)
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
        return extract_part(self)

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
        """A forecast of the memory that training takes, its own rows included."""
        width = self.problem.n_features
        return 16.0 * self.n_rows * width + self.learner.memory(self.n_rows, width)

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


def run_batch(jobs: Sequence[Subproblem]) -> list[FitResult]:
    """Train several parts with the same learner; called in a worker."""
    started = time.perf_counter()
    cuts = extract_together(jobs)
    problems = [cut.problem for cut in cuts if cut.n_classes > 1]
    models = iter(jobs[0].learner.fit_together(problems) if problems else ())
    made = [cut.constant() or next(models) for cut in cuts]
    seconds = (time.perf_counter() - started) / len(jobs)
    return [cut.result(model, seconds) for cut, model in zip(cuts, made, strict=True)]


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

    @classmethod
    def of(
        cls,
        stage: int,
        place: int,
        job: Subproblem,
        result: FitResult,
        parameters: Mapping[str, Any],
    ) -> Record:
        return cls(
            path=(stage, place),
            rows=result.n_rows,
            classes=result.n_classes,
            support_vectors=len(result.support),
            seconds=result.seconds,
            learner=job.learner.name or type(job.learner).__name__,
            parameters=parameters,
            model=type(result.model).__name__,
            about={**job.part.about, **result.model.facts},
            account=result.account,
        )

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
    parameters = {key: learners[key].get_params(deep=False) for key in learners}
    for place, (job, result) in enumerate(zip(jobs, results, strict=True)):
        ledger.append(Record.of(stage, place, job, result, parameters[id(job.learner)]))
        ledger.extend(record.below(stage, place) for record in result.model.ledger)


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
