"""Trial runs of a decomposer with a stand-in learner and combiner."""

import functools
import sys
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
from dcsvm.base.stages import Stages, finish_stages
from dcsvm.base.subproblem import FitResult, Subproblem
from dcsvm.base.threads import find_blas
from dcsvm.classifier import Strategy
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.engine import Engine
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.testing.problems import identify

Work = Generator[list[Subproblem], list[FitResult], FittedStrategy]


@component
class Centroids(LocalLearner):
    """A stand-in learner: the nearest weighted class mean, with a small bias from its seed.

    It keeps every row as support, and its scores depend on every row weight and on the seed.
    """

    name = "centroids"

    def fit(self, problem: Problem) -> LocalModel:
        masses = problem.masses[:, None] * (problem.y[:, None] == np.arange(problem.n_classes))
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
    """A stand-in combiner: the mean of the scores."""

    name = "mean_scores"

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        return committee.mean_scores(X)


@component
class RecordingDecomposer(Decomposer):
    """A decomposer that records what another one yields and returns."""

    decomposer: Any = setting(kind="decomposer", help="the decomposer to record")

    def __attrs_post_init__(self) -> None:
        self.name = self.decomposer.name  # type: ignore[misc]
        self.stages: list[list[Part]] = []
        self.division = Division()

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(self.decomposer.yields)

    @property
    def parts(self) -> list[Part]:
        """The parts of all stages."""
        return [part for stage in self.stages for part in stage]

    def conquer(self, problem: Problem) -> Work:
        return Strategy(self, Centroids(), MeanScores()).conquer(problem)

    def divide(self, problem: Problem) -> Stages:
        work = finish_stages(self.decomposer.divide(problem))
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
    """The parts and the division that a decomposer made of a problem, and the fitted model."""

    stages: list[list[Part]]
    parts: list[Part]
    division: Division
    model: FittedStrategy

    @property
    def groups(self) -> list[Division]:
        """The divisions that have members of their own, in the order of the committee's groups."""
        return list(_blocks_by_members(self.division))

    def bits(self, X: Matrix) -> tuple[Any, ...]:
        """Return everything that two divisions can differ in, with the scores of rows X."""
        return (
            [[describe_part(part) for part in stage] for stage in self.stages],
            [member.code.tolist() for member in self.model.committee.members],
            self.model.committee.mean_scores(X).tobytes(),
        )


def try_out(
    decomposer: Decomposer,
    problem: Problem,
    run: Callable[[Work], FittedStrategy] | None = None,
) -> DivisionRecord:
    """Divide a problem and train the stand-in learner on the parts."""
    recorder = RecordingDecomposer(decomposer)
    model = (run or Engine(n_jobs=1).run)(recorder.conquer(problem))
    return DivisionRecord(recorder.stages, recorder.parts, recorder.division, model)


@attrs.frozen
class _Example:
    """A problem that equals others of the same content."""

    problem: Problem = attrs.field(eq=identify)


def look_up(decomposer: Decomposer, problem: Problem) -> DivisionRecord:
    """Return the trial of an equal problem, if another law has tried it, for laws that only look.

    Laws are given the same examples, so most trials of a component are found.
    """
    return _look_up(decomposer, _Example(problem))


@functools.lru_cache(maxsize=64)
def _look_up(decomposer: Decomposer, example: _Example) -> DivisionRecord:
    return try_out(decomposer, example.problem)


def parts_of(decomposer: Decomposer, problem: Problem) -> list[Part]:
    """Return the parts of all stages, up to the first that cannot be trained."""
    try:
        return look_up(decomposer, problem).parts
    except Exception:
        return _parts_until_failure(decomposer, problem)


def _parts_until_failure(decomposer: Decomposer, problem: Problem) -> list[Part]:
    recorder = RecordingDecomposer(decomposer)
    try:
        Engine(n_jobs=1).run(recorder.conquer(problem))
    except Exception:
        if not recorder.stages:
            raise
    return recorder.parts


def run_last_first(steps: Work) -> FittedStrategy:
    """Run the steps with the last subproblem of each stage first, with one thread as the engine.

    How many threads BLAS has may change the last bits of what is learned after the parts.
    """
    with find_blas(len(sys.modules)).limit(limits=1, user_api="blas"):
        try:
            jobs = next(steps)
            while True:
                done = {place: jobs[place].run() for place in reversed(range(len(jobs)))}
                jobs = steps.send([done[place] for place in range(len(jobs))])
        except StopIteration as stop:
            result: FittedStrategy = stop.value
    return result


def send_through_pickle(thing: Any) -> Any:
    """Return what arrives if joblib sends an object to another process."""
    try:
        from joblib.externals import cloudpickle
    except ImportError:  # joblib no longer brings a copy of its own
        import cloudpickle
    return cloudpickle.loads(cloudpickle.dumps(thing))


def find_task_rows(part: Part, problem: Problem) -> IntArray:
    """Return the rows of a part that its task uses."""
    if part.task is None:
        return part.rows
    asked = part.task.code(problem.n_classes)[problem.y[part.rows]] != 0
    return np.asarray(part.rows[asked])


def _blocks_by_members(division: Division) -> Iterator[Division]:
    for group in division.groups:
        yield from _blocks_by_members(group)
    if division.members is not None:
        yield division


def describe_part(part: Part) -> tuple[Any, ...]:
    """Return rows, task and weights of a part in a form that can be compared."""
    weights = None if part.weights is None else part.weights.tobytes()
    return part.rows.tolist(), part.task, weights
