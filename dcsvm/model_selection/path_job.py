"""One part trained with many parameter values, each scored on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.digest import digest
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.base.models import LocalModel, winners
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Router
from dcsvm.base.row_splitting import deal_folds_by_class
from dcsvm.base.subproblem import LocalProblem, Subproblem
from dcsvm.drive.calibration import Calibration, exponentiate, fit_curve
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import Group
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.model_selection.candidate_scoring import PartQueries
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.mapped_rows import take_rows
from dcsvm.numeric.probability_scores import LOSSES, score_probabilities
from dcsvm.numeric.row_plan import Plan, Step

#: Each half of the rows that are rated by probabilities has the curve of the other one.
HALVES = 2

#: Answers of several cells are combined together up to so many rows.
JUDGED_ROWS = 50_000
#: Settings of the learner by name: one point of a grid.
Cell: TypeAlias = Mapping[str, Any]


@attrs.frozen(eq=False)
class HeldOut:
    """Rows to judge by: X (n, d), classes y (n,) with -1 for unknown ones, weights (n,).

    `total` is the weight of all held-out rows, if these are some of them.
    """

    X: Matrix
    y: IntArray
    weights: FloatArray
    total: float = attrs.field(
        default=attrs.Factory(lambda held_out: float(held_out.weights.sum()), takes_self=True)
    )

    def subset(self, rows: IntArray) -> HeldOut:
        """Some of the rows, to be sent to another process."""
        return HeldOut(take_rows(self.X, rows), self.y[rows], self.weights[rows], self.total)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def share(self, right: BoolArray, rows: IntArray) -> float:
        """The weight of those of `rows` that were answered right, as a share of all held out."""
        return float(self.weights[rows][right].sum() / self.total)


@attrs.frozen(eq=False)
class PathJob:
    """A part to be trained with every cell, and the held-out rows that ask it: engine's work.

    Without `votes`, answers are margins. Nothing is kept of a model but what it is worth; unless
    its rows ask others too (`alone` is False): then its answers are kept, to be combined with the
    others', and what it is worth by itself is worked out only where parts are compared one by one
    (`by_part`).
    """

    job: Subproblem
    cells: Sequence[Cell]
    combiner: Combiner
    held_out: HeldOut
    rows: IntArray
    alone: bool
    by_part: bool
    votes: bool = True

    def __reduce__(self) -> Any:
        held_out, rows = self.held_out, self.rows
        if not self.job.shares_problem:
            held_out, rows = held_out.subset(rows), np.arange(len(rows))
        ways = (self.alone, self.by_part, self.votes)
        return PathJob, (self.job, self.cells, self.combiner, held_out, rows, *ways)

    @property
    def learner(self) -> LocalLearner:
        return self.job.learner

    @property
    def n_rows(self) -> int:
        return self.job.n_rows

    @property
    def title(self) -> str:
        return f"search {self.job.title}"

    @property
    def shared(self) -> tuple[Any, ...]:
        return (*self.job.shared, self.held_out) if self.job.shared else ()

    @property
    def bytes_read(self) -> int:
        return self.job.bytes_read

    @property
    def bytes_needed(self) -> float:
        return self.job.bytes_needed

    @property
    def can_be_batched(self) -> bool:
        return False  # it is judged cell by cell as it is learned

    @property
    def is_nested(self) -> bool:
        return False  # a path runs in one piece, whatever its learner is made of

    def key(self) -> str:
        judged_by = (self.held_out.X[self.rows], self.held_out.y[self.rows], self.held_out.weights)
        cells = [dict(cell) for cell in self.cells]
        ways = (self.alone, self.by_part, *(() if self.votes else (False,)))
        return digest(self.job.key(), cells, self.combiner, self.rows, *judged_by, *ways)

    def run(self) -> PathOutcome:
        """Train and judge; called in a worker."""
        started = lap = time.perf_counter()
        cut = self.job.extract()
        asked = PartQueries(self.held_out.X, self.rows, cut)
        outcome = PathOutcome.empty(len(self.cells), len(cut.rows), cut.code)
        waiting: list[tuple[list[int], FloatArray]] = []
        last = None
        for places, model in self._fit_models(cut):
            if model is not last:  # cells that mean the same share their model
                values, cost = asked.answer(model, self.votes)
                last = model
            if self.alone or self.by_part:
                waiting.append((places, values))
                if len(waiting) * len(values) > JUDGED_ROWS:
                    self._judge(outcome, waiting)
            outcome.evaluations[places] = np.broadcast_to(
                cost.kernel_evaluations, len(values)
            ).sum()
            if not self.alone:
                outcome.values.update(dict.fromkeys(places, values))
            now = time.perf_counter()
            outcome.seconds_by_cell[places] = (now - lap) / len(places)
            lap = now
        self._judge(outcome, waiting)
        return attrs.evolve(outcome, seconds=time.perf_counter() - started)

    def _fit_models(self, cut: LocalProblem) -> Iterator[tuple[list[int], LocalModel]]:
        """Each model with the places of the cells it stands for."""
        everyone = list(range(len(self.cells)))
        constant = cut.constant()
        if constant is not None:
            yield everyone, constant
        elif self.job.part.learner is not None:  # the decomposer's choice, not ours to change
            yield everyone, self.learner.fit(cut.problem)
        else:
            for cell, model in self.learner.fit_path(cut.problem, self.cells):
                yield [self.cells.index(cell)], model

    def _judge(self, outcome: PathOutcome, waiting: list[tuple[list[int], FloatArray]]) -> None:
        """Enter what the waiting answers are worth, combined all at once; then none wait."""
        if not waiting:
            return
        values = np.concatenate([values for _, values in waiting])
        told = [RecordedAnswers(np.arange(len(values)), values)]
        problem, groups = self.job.problem, [(1, None)]
        winners = combine_answers(
            told, [outcome.code], groups, self.combiner, problem, len(values)
        )
        wanted = self.held_out.y[self.rows]
        by_cell = winners.reshape(len(waiting), -1)
        for (places, _), said in zip(waiting, by_cell, strict=True):
            outcome.right[places] = self.held_out.share(said == wanted, self.rows)
        waiting.clear()


@attrs.frozen(eq=False)
class PathOutcome:
    """What each cell was worth on one part: arrays over the cells.

    `right` is the weight of its rows that were answered right, as a share of all held-out rows;
    `evaluations` the kernel evaluations that took.
    """

    right: FloatArray
    evaluations: FloatArray
    seconds_by_cell: FloatArray
    n_rows: int
    code: IntArray
    values: dict[int, FloatArray]
    seconds: float = 0.0

    @classmethod
    def empty(cls, n_cells: int, n_rows: int, code: IntArray) -> PathOutcome:
        return cls(np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells), n_rows, code, {})


@attrs.frozen(eq=False)
class RecordedAnswers:
    """Answers given before, in the place of a model: X (n, 1) holds the numbers of the rows.

    No LocalModel, for it is never kept.
    """

    rows: IntArray
    values: FloatArray

    def scores(self, X: Matrix) -> FloatArray:
        places = np.searchsorted(self.rows, X[:, 0].astype(np.intp))
        return np.asarray(self.values[places])

    def margins(self, X: Matrix) -> FloatArray:
        return self.scores(X)

    def labels(self, X: Matrix) -> IntArray:
        return winners(self.scores(X))

    def lower(self, plan: Plan, n_features: int) -> Step | None:
        return None


def combine_answers(
    told: Sequence[RecordedAnswers],
    codes: Sequence[IntArray],
    groups: Iterable[tuple[int, Router | None]],
    combiner: Combiner,
    problem: Problem,
    n_rows: int,
) -> IntArray:
    """The winning class of rows 0 .. n_rows - 1, from what the members told of them."""
    composite = build_recorded(told, codes, groups, combiner, problem)
    return composite.labels(number_rows(n_rows))


def build_recorded(
    told: Sequence[RecordedAnswers],
    codes: Sequence[IntArray],
    groups: Iterable[tuple[int, Router | None]],
    combiner: Combiner,
    problem: Problem,
    sizes: Sequence[int] | None = None,
) -> FittedStrategy:
    """A strategy that repeats what members told, trained on `sizes` rows, of rows by number."""
    members = tuple(
        Member(cast(LocalModel, one), code, n_rows=size)
        for one, code, size in zip(told, codes, sizes or [0] * len(told), strict=True)
    )
    seats, first = [], 0
    for size, router in groups:
        seats.append(Group(first, first + size, router))
        first += size
    committee = Committee(members, tuple(seats), problem.n_classes)
    return FittedStrategy(committee, combiner.fit(committee, problem, None))


def number_rows(n_rows: int) -> FloatArray:
    """The rows (n, 1) that recorded answers know."""
    return np.arange(n_rows, dtype=float)[:, None]


def rate_margins(scoring: str, model: FittedStrategy, held_out: HeldOut) -> float:
    """A score of probabilities, the larger the better, of a model that repeats its margins."""
    rows = number_rows(held_out.n_rows)
    margins, unseen = model.class_margins(rows), model.committee.unseen(rows)
    y, weights = held_out.y, held_out.weights
    fold_of = deal_folds_by_class(
        np.maximum(y, 0), margins.shape[1], HALVES, np.random.default_rng(0)
    )
    logs = np.zeros_like(margins)
    for fold in range(HALVES):
        learned, rated = np.flatnonzero((fold_of != fold) & (y >= 0)), fold_of == fold
        curve = _fit(margins[learned], y[learned], weights[learned])
        logs[rated] = curve.apply(margins[rated], unseen[rated].__getitem__)
    logs[fold_of < 0] = np.log(1.0 / margins.shape[1])
    found = score_probabilities(scoring, exponentiate(logs), y, weights)
    return -found if scoring in LOSSES else found


def _fit(margins: FloatArray, y: IntArray, weights: FloatArray) -> Calibration:
    shares = np.bincount(y, weights, minlength=margins.shape[1])
    curve: dict[str, Any] = fit_curve(margins, y, weights)
    return Calibration("margins", shares=shares / max(shares.sum(), 1e-300), **curve)
