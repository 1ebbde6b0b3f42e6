"""One part trained with many parameter values, each scored on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.digest import digest
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import LocalModel
from dcsvm.base.subproblem import LocalProblem, Subproblem
from dcsvm.model_selection.candidate_scoring import PartQueries
from dcsvm.model_selection.recorded_answers import HeldOut, RecordedAnswers, combine_answers
from dcsvm.numeric.array_types import FloatArray, IntArray

#: Answers of several cells are combined together up to so many rows.
JUDGED_ROWS = 50_000
#: Settings of the learner by name: one point of a grid.
Cell: TypeAlias = Mapping[str, Any]


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
        queries = PartQueries(self.held_out.X, self.rows, cut)
        outcome = PathOutcome.empty(len(self.cells), len(cut.rows), cut.code)
        waiting: list[tuple[list[int], FloatArray]] = []
        last = None
        for places, model in self._fit_models(cut):
            if model is not last:  # cells that mean the same share their model
                values, cost = queries.answer(model, self.votes)
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
        """Score the waiting answers, combined at once, and clear them."""
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
    """The score of each cell on one part: arrays over the cells.

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
