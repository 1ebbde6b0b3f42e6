"""A pipeline of three: a problem is divided, its parts are trained, the answers are combined."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import CompositionError, ContractError
from dcsvm.base.feature_views import View
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.base.problem import Part, Problem, Seed
from dcsvm.base.stages import concluded, tells_support, together
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.compatibility import (
    check_composition,
    check_support,
    needs_support,
    with_inner,
    without_support,
)
from dcsvm.drive.digest import digest
from dcsvm.drive.fitted import Composite
from dcsvm.drive.ledger import Record
from dcsvm.drive.registry import Registry, default_registry
from dcsvm.drive.subproblem import Job, Outcome
from dcsvm.numeric.array_types import FloatArray, IntArray

Result = TypeVar("Result")
Work: TypeAlias = Generator[list[Job], list[Outcome], Result]

# The streams of random numbers below a problem's seed.
DIVISION, PARTS, FOLDS = range(3)


@attrs.frozen(eq=False)
class Pipeline:
    """A decomposer, a learner and a combiner, all components and no names any more."""

    decomposer: Decomposer
    learner: LocalLearner
    combiner: Combiner

    @classmethod
    def of(
        cls, decomposer: object, learner: object, combiner: object, registry: Registry
    ) -> Pipeline:
        """Resolve names, and refuse what does not fit together."""
        pipeline = cls(
            registry.resolve("decomposer", decomposer),
            registry.resolve("learner", learner),
            registry.resolve("combiner", combiner),
        )
        check_composition(pipeline.decomposer, pipeline.combiner, registry)
        for each in (*with_inner(pipeline.decomposer), pipeline.learner):
            each.check()
        check_support(pipeline.decomposer, pipeline.learner, registry)
        return pipeline

    def conquer(self, problem: Problem) -> Work[Composite]:
        """Divide the problem, train the parts, combine the answers: work for an engine."""
        ledger: list[Record] = []
        committee = yield from self._committee(problem, problem.seed, ledger)
        answers = None
        if self.combiner.wants_answers:
            answers = yield from self._answers(committee, problem)
        return Composite(committee, self.combiner.fit(committee, problem, answers), ledger)

    def _committee(self, problem: Problem, seed: Seed, ledger: list[Record]) -> Work[Committee]:
        """Divide a problem by its own seed, and train the parts by the one given."""
        division = concluded(self.decomposer.divide(problem.seeded(DIVISION)))
        stage = 0
        try:
            parts = next(division)
            while True:
                members = yield from self._train(problem, parts, seed.child(PARTS, stage), ledger)
                self._check_kept(members)
                parts = division.send(members)
                stage += 1
        except StopIteration as stop:
            return Committee.of(stop.value, problem.n_classes)

    def _train(
        self, problem: Problem, parts: list[Part], seed: Seed, ledger: list[Record]
    ) -> Work[list[Member]]:
        stage = seed.path[-1]
        jobs = [
            Job(problem, part, part.learner or self.learner, seed.child(place))
            for place, part in enumerate(self.checked(parts, problem))
        ]
        outcomes = yield jobs
        settings = {id(job.learner): job.learner for job in jobs}
        parameters = {each: settings[each].get_params(deep=False) for each in settings}
        for place, (job, outcome) in enumerate(zip(jobs, outcomes, strict=True)):
            ledger.append(Record.of(stage, place, job, outcome, parameters[id(job.learner)]))
            if isinstance(outcome.model, Composite):
                ledger.extend(record.below(stage, place) for record in outcome.model.ledger)
        return [
            Member(o.model, o.code, _view(job, o), o.support, o.n_rows, job.part)
            for job, o in zip(jobs, outcomes, strict=True)
        ]

    def _check_kept(self, members: list[Member]) -> None:
        """Refuse a learner that did not say beforehand that it keeps no support vectors."""
        own = [each for each in members if each.part is None or each.part.learner is None]
        if needs_support(self.decomposer) and not all(tells_support(each.model) for each in own):
            raise without_support(self.decomposer, self.learner, default_registry())

    def checked(self, parts: list[Part], problem: Problem) -> list[Part]:
        """Refuse what no decomposer may yield."""
        title = self.decomposer.name or type(self.decomposer).__name__
        if not parts:
            raise ContractError(f"{title} yielded a stage without parts")
        checked: set[int] = set()
        for place, part in enumerate(parts):
            if not isinstance(part, Part):
                raise ContractError(
                    f"{title} yielded a {type(part).__name__} where a Part belongs"
                )
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
        return parts

    def _answers(self, committee: Committee, problem: Problem) -> Work[FloatArray]:
        """What is said of training rows: in-sample, or by committees of folds without the row."""
        if self.combiner.folds < 2:
            return committee.table(problem.X)
        fold_of = _folds(problem, self.combiner.folds)
        # A fold is divided by the seed of the whole: a subspace drawn at random is the same one.
        committees = yield from together(
            self._committee(
                problem.subset(np.flatnonzero(fold_of != fold)),
                problem.seed.child(FOLDS, fold),
                [],
            )
            for fold in range(self.combiner.folds)
        )
        # The only row of a class is in no fold: the whole committee must answer it.
        fold_of[fold_of < 0] = len(committees)
        answers = np.empty((problem.n_rows, len(committee.table_code)))
        for fold, other in enumerate([*committees, committee]):
            if _differ(other.table_code, committee.table_code):
                raise CompositionError(
                    f"combiner {self.combiner.name!r} wants answers from {self.combiner.folds} "
                    f"folds, but decomposer {self.decomposer.name!r} divides each fold into other "
                    "parts; set folds = 0"
                )
            rows = np.flatnonzero(fold_of == fold)
            if len(rows):
                answers[rows] = other.table(problem.X[rows])
        return answers


def _differ(one: IntArray, other: IntArray) -> bool:
    return one.shape != other.shape or bool((one != other).any())


def _view(job: Job, outcome: Outcome) -> View | None:
    """The outcome's view; the part's own where both are the same.

    Members of one view share points and counts, and an outcome that comes from another process or
    from a file brings a copy.
    """
    described, fitted = job.part.view, outcome.view
    if fitted is described or type(fitted) is not type(described):
        return fitted
    return described if digest(described) == digest(fitted) else fitted


def _folds(problem: Problem, n_folds: int) -> IntArray:
    """The fold of each row, every class spread evenly; -1 for the only row of a class."""
    fold_of = np.full(problem.n_rows, -1)
    generator = problem.seed.child(FOLDS).generator()
    for label in range(problem.n_classes):
        rows = problem.rows_of(label)
        if len(rows) > 1:
            fold_of[generator.permutation(rows)] = np.arange(len(rows)) % n_folds
    return fold_of
