"""Trying a decomposer: a stand-in learner and combiner around it, and a record of it all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.component import component, setting
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import KernelExpansion, LocalModel
from dcsvm.base.problem import Part, Problem
from dcsvm.base.routing import Division
from dcsvm.base.stages import Stages, conclude
from dcsvm.classifier import Strategy
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.engine import Engine
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.subproblem import FitResult, Subproblem
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.kernel import Kernel

Work = Generator[list[Subproblem], list[FitResult], FittedStrategy]


@component
class Centroids(LocalLearner):
    """Stands in for a learner: the nearest weighted class mean, with a small bias from its seed.

    It keeps every row as support, feels every row weight, and shows in its scores which seed it
    was given.
    """

    name = "centroids"

    def fit(self, problem: Problem) -> LocalModel:
        weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        masses = weights[:, None] * (problem.y[:, None] == np.arange(problem.n_classes))
        shares = masses / masses.sum(axis=0)
        means = np.asarray(shares.T @ problem.X)
        biases = -0.5 * (means**2).sum(axis=1)
        if problem.n_classes == 2:
            shares, biases = shares[:, 1:] - shares[:, :1], biases[1:] - biases[:1]
        biases = biases + 1e-6 * problem.seed.generator().random(len(biases))
        rows = np.arange(problem.n_rows)
        return KernelExpansion(problem.X, shares, biases, Kernel("linear"), rows)


@component
class MeanScores(Combiner):
    """Stands in for a combiner: the mean of what those asked said."""

    name = "mean_scores"

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        return committee.mean_scores(X)


@component
class RecordingDecomposer(Decomposer):
    """A decomposer that keeps what another one yields and returns."""

    decomposer: Any = setting(kind="decomposer", help="whom to watch")

    def __attrs_post_init__(self) -> None:
        self.name = self.decomposer.name  # type: ignore[misc]
        self.stages: list[list[Part]] = []
        self.division = Division()

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(self.decomposer.yields)

    def divide(self, problem: Problem) -> Stages:
        work = conclude(self.decomposer.divide(problem))
        try:
            parts = next(work)
            while True:
                self.stages.append(parts)
                parts = work.send((yield parts))
        except StopIteration as stop:
            self.division = stop.value
        return self.division


@attrs.frozen(eq=False)
class DivisionRecord:
    """What a decomposer did with a problem, and the committee that came of it."""

    problem: Problem
    stages: list[list[Part]]
    division: Division
    model: FittedStrategy

    @property
    def parts(self) -> list[Part]:
        """The parts of all stages."""
        return [part for stage in self.stages for part in stage]

    @property
    def groups(self) -> list[Division]:
        """The divisions that have members of their own, in the order of the committee's groups."""
        return list(_blocks_by_members(self.division))

    def bits(self, X: Matrix) -> tuple[Any, ...]:
        """Everything in which two divisions can differ, and the scores of rows X, to the bit."""
        return (
            [[_bits(part) for part in stage] for stage in self.stages],
            [member.code.tolist() for member in self.model.committee.members],
            self.model.committee.mean_scores(X).tobytes(),
        )


def try_out(
    decomposer: Decomposer,
    problem: Problem,
    run: Callable[[Work], FittedStrategy] | None = None,
) -> DivisionRecord:
    """Divide a problem, train the stand-in learner on the parts, and keep the record."""
    watched = RecordingDecomposer(decomposer)
    strategy = Strategy(watched, Centroids(), MeanScores())
    model = (run or Engine(n_jobs=1).run)(strategy.conquer(problem))
    return DivisionRecord(problem, watched.stages, watched.division, model)


def parts_of(decomposer: Decomposer, problem: Problem) -> list[Part]:
    """The parts of all stages; those up to one that could not be trained, where there is one."""
    watched = RecordingDecomposer(decomposer)
    strategy = Strategy(watched, Centroids(), MeanScores())
    try:
        Engine(n_jobs=1).run(strategy.conquer(problem))
    except Exception:
        if not watched.stages:
            raise
    return [part for stage in watched.stages for part in stage]


def run_last_first(steps: Work) -> FittedStrategy:
    """An engine whose last job is always done first."""
    try:
        jobs = next(steps)
        while True:
            done = {place: jobs[place].run() for place in reversed(range(len(jobs)))}
            jobs = steps.send([done[place] for place in range(len(jobs))])
    except StopIteration as stop:
        result: FittedStrategy = stop.value
    return result


def send_through_pickle(thing: Any) -> Any:
    """What arrives when a thing is sent to another process, as joblib would send it."""
    try:
        from joblib.externals import cloudpickle
    except ImportError:  # joblib no longer brings a copy of its own
        import cloudpickle
    return cloudpickle.loads(cloudpickle.dumps(thing))


def find_task_rows(part: Part, problem: Problem) -> IntArray:
    """The rows of a part that its task does not leave out."""
    if part.task is None:
        return part.rows
    asked = part.task.code(problem.n_classes)[problem.y[part.rows]] != 0
    return np.asarray(part.rows[asked])


def _blocks_by_members(division: Division) -> Iterator[Division]:
    for group in division.groups:
        yield from _blocks_by_members(group)
    if division.members is not None:
        yield division


def _bits(part: Part) -> tuple[Any, ...]:
    weights = None if part.weights is None else part.weights.tobytes()
    return part.rows.tolist(), part.task, weights
