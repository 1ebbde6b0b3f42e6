"""Levels of a division, judged one after the other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from dcsvm.base.combiner import Combiner
from dcsvm.base.component import component
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.learner import LocalLearner
from dcsvm.base.problem import Part, Problem
from dcsvm.base.routing import Division, Level, Router, Routing
from dcsvm.base.seed import DIVISION, PARTS
from dcsvm.base.stages import Stages, check_parts
from dcsvm.base.subproblem import Subproblem
from dcsvm.classifier import Strategy
from dcsvm.model_selection.path_job import Cell, PathJob, PathOutcome
from dcsvm.model_selection.recorded_answers import (
    HeldOut,
    RecordedAnswers,
    build_recorded,
    combine_answers,
    rate_answers,
)
from dcsvm.model_selection.stop_reasons import USED_UP, describe_all_tried, explain_small_gain
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.probability_scores import needs_probabilities

ACCURACY = "accuracy"
#: Scores that are sums over the held-out rows, so that each part has its share.
SHARES_OF_ROWS = (ACCURACY, "balanced_accuracy")


@attrs.frozen(eq=False)
class LevelSearch:
    """The search of section 2.2 of the TD paper, as work for an engine.

    All cells are tried at the finest level, the `top` best of these at each coarser one, until
    the best score gains less than `min_gain` or one part is left. Once the work of the levels so
    far took `seconds` or more, or `levels` were tried, no other is begun.
    """

    top: int
    factor: int
    min_gain: float
    per_part: bool
    seconds: float | None = None
    levels: int | None = None
    scoring: str = ACCURACY

    def steps(
        self, strategy: Strategy, problem: Problem, held_out: HeldOut, cells: Sequence[Cell]
    ) -> Generator[list[Any], list[Any], tuple[list[Step], Step, str]]:
        """Return all steps, the one to take, and why the search ended."""
        steps: list[Step] = []
        for level in strategy.decomposer.levels(problem.with_child_seed(DIVISION), self.factor):
            if steps and len(parts_of(level)) == len(parts_of(steps[-1].level)):
                continue  # no two parts of the finer level were joined
            check_parts(parts_of(level), problem, strategy.decomposer)
            plan = LevelScorer(
                *(level, problem, strategy.learner, strategy.combiner, held_out, self.per_part),
                self.scoring,
            )
            step = Step(level, cells, (yield from plan.judge(cells)))
            steps.append(step)
            if len(steps) == 1:
                cells = [cells[place] for place in step.rank_cells()[: self.top]]
            else:
                gain = self.score(step) - self.score(steps[-2])
                if gain < self.min_gain:
                    return steps, steps[-2], explain_small_gain(gain, self.min_gain)
            if len(steps) == self.levels:
                break
            if self.seconds is not None and _sum_seconds(steps) >= self.seconds:
                return steps, step, USED_UP
        if len(steps) == 1:
            return steps, steps[0], describe_all_tried(len(steps[0].cells))
        if len(steps) == self.levels:
            return steps, steps[-1], f"{self.levels} levels were tried, no more were asked for"
        left = len(parts_of(steps[-1].level))
        return steps, steps[-1], "one part is left" if left == 1 else "no level is coarser"

    def score(self, step: Step) -> float:
        if self.per_part:
            return float(step.results.right.max(axis=1).sum())
        return float(step.results.scores[step.best])


def _sum_seconds(steps: Sequence[Step]) -> float:
    """Training seconds of the parts of all levels, including those from checkpoints."""
    return sum(float(step.results.seconds.sum()) for step in steps)


@attrs.frozen(eq=False)
class Step:
    """A level that was tried, its cells and their scores."""

    level: Level
    cells: Sequence[Cell]
    results: LevelScores

    def rank_cells(self) -> IntArray:
        """The cells from best to worst; ties go to the one with fewer kernel evaluations."""
        return np.lexsort((self.results.evaluations, -self.results.scores))

    @property
    def best(self) -> int:
        return int(self.rank_cells()[0])

    def find_best_by_part(self) -> IntArray:
        """The best cell of each part; ties go to the one that is best for all parts together."""
        order = self.rank_cells()
        return np.asarray(order[self.results.right[:, order].argmax(axis=1)])


@attrs.frozen(eq=False)
class LevelScores:
    """The scores of a level: arrays over its cells, and `right` (parts, cells) by part."""

    scores: FloatArray
    right: FloatArray
    evaluations: FloatArray
    seconds: FloatArray


@attrs.frozen(eq=False)
class LevelScorer:
    """A level with all that its parts are trained with, and the held-out rows that ask each."""

    level: Level
    problem: Problem
    learner: LocalLearner
    combiner: Combiner
    held_out: HeldOut
    by_part: bool = False
    scoring: str = ACCURACY

    def judge(
        self, cells: Sequence[Cell]
    ) -> Generator[list[PathJob], list[PathOutcome], LevelScores]:
        """Work for an engine: every cell on every part that a held-out row queries."""
        groups = groups_of(self.level)
        routings = [_route(group, self.held_out.X) for group in groups]
        queried = [
            np.sort(rows)
            for each in zip(groups, routings, strict=True)
            for rows in _split_by_part(*each)
        ]
        pairs = np.concatenate([routing.row for routing in routings])
        alone = len(groups) == 1 and len(np.unique(pairs)) == len(pairs)
        alone = alone and self.scoring in SHARES_OF_ROWS
        parts = parts_of(self.level)
        places = [place for place in range(len(parts)) if len(queried[place])]
        outcomes = yield [self._build_job(parts[p], p, cells, queried[p], alone) for p in places]
        right = np.zeros((len(parts), len(cells)))
        right[places] = [outcome.right for outcome in outcomes]
        scores = right.sum(axis=0)
        if not alone:
            recorded = dict(zip(places, outcomes, strict=True))
            members = [(queried[p], recorded.get(p)) for p in range(len(parts))]
            sent = [
                (len(group.parts), group.router and RecordedRouter(routing))
                for group, routing in zip(groups, routings, strict=True)
            ]
            scores = np.array([self._score(members, sent, cell) for cell in range(len(cells))])
        evaluations = np.sum([outcome.evaluations for outcome in outcomes], axis=0)
        seconds = np.sum([outcome.seconds_by_cell for outcome in outcomes], axis=0)
        return LevelScores(scores, right, evaluations / self.held_out.n_rows, seconds)

    def _build_job(
        self, part: Part, place: int, cells: Sequence[Cell], rows: IntArray, alone: bool
    ) -> PathJob:
        seed = self.problem.seed.child(PARTS, 0, place)
        job = Subproblem(self.problem, part, part.learner or self.learner, seed)
        ways = (alone, self.by_part, not self.is_probable)
        return PathJob(job, cells, self.combiner, self.held_out, rows, *ways)

    @property
    def is_probable(self) -> bool:
        """Whether probabilities are scored, and not labels."""
        return needs_probabilities(self.scoring)

    def _score(
        self,
        members: Sequence[tuple[IntArray, PathOutcome | None]],
        groups: Sequence[tuple[int, Router | None]],
        cell: int,
    ) -> float:
        recorded, codes, sizes = [], [], []
        silent = np.zeros((1, self.problem.n_classes), dtype=np.int8)
        for rows, outcome in members:
            recorded.append(
                RecordedAnswers(
                    rows, np.zeros((0, 1)) if outcome is None else outcome.values[cell]
                )
            )
            codes.append(silent if outcome is None else outcome.code)
            sizes.append(0 if outcome is None else outcome.n_rows)
        if self.scoring not in SHARES_OF_ROWS:
            model = build_recorded(recorded, codes, groups, self.combiner, self.problem, sizes)
            return rate_answers(self.scoring, model, self.held_out)
        everyone = np.arange(self.held_out.n_rows)
        winners = combine_answers(
            recorded, codes, groups, self.combiner, self.problem, len(everyone)
        )
        return self.held_out.share(winners == self.held_out.y, everyone)


@attrs.frozen(eq=False)
class RecordedRouter(Router):
    """Where rows were sent before: rows (n, 1) hold their numbers."""

    routing: Routing

    def route(self, X: Matrix) -> Routing:
        queried = np.isin(self.routing.row, X[:, 0].astype(np.intp))
        place = np.searchsorted(X[:, 0], self.routing.row[queried])
        weight = None if self.routing.weight is None else self.routing.weight[queried]
        return Routing(place, self.routing.member[queried], weight)


@component
class FixedDivision(Decomposer):
    """A division that was made before: the parts of a level, and its routers."""

    name = "prepared"

    level: Any = attrs.field()
    decomposer: Any = attrs.field()

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return self.decomposer.yields  # type: ignore[no-any-return]

    def divide(self, problem: Problem) -> Stages:
        members = yield parts_of(self.level)
        divisions = []
        for group in groups_of(self.level):
            mine, members = members[: len(group.parts)], members[len(group.parts) :]
            divisions.append(Division(group.router, mine))
        return divisions[0] if len(divisions) == 1 else Division(groups=divisions)


def groups_of(level: Level) -> list[Level]:
    """The groups of a level that have parts of their own, in order."""
    mine = [level] if level.parts else []
    return [group for each in level.groups for group in groups_of(each)] + mine


def parts_of(level: Level) -> list[Part]:
    """The parts of all groups of a level."""
    return [part for group in groups_of(level) for part in group.parts]


def is_undivided(level: Level) -> bool:
    """Whether each group of a level has one part only."""
    return all(len(group.parts) == 1 for group in groups_of(level))


def _route(level: Level, X: Matrix) -> Routing:
    if level.router is not None:
        return level.router.route(X)
    n_rows, n_parts = X.shape[0], len(level.parts)
    return Routing(np.tile(np.arange(n_rows), n_parts), np.repeat(np.arange(n_parts), n_rows))


def _split_by_part(level: Level, routing: Routing) -> list[IntArray]:
    """The rows that ask each part."""
    order = np.argsort(routing.member, kind="stable")
    edges = np.searchsorted(routing.member[order], np.arange(1, len(level.parts)))
    return np.split(routing.row[order], edges)


def assign_cells(level: Level, learner: LocalLearner, step: Step) -> Level:
    """The level with a learner of its own for each part, set to the part's best cell."""
    cells = iter(step.find_best_by_part())

    def assign(part: Part) -> Part:
        cell = step.cells[next(cells)]
        return attrs.evolve(part, learner=part.learner or clone(learner).set_params(**cell))

    groups = [
        attrs.evolve(each, parts=[assign(part) for part in each.parts])
        for each in groups_of(level)
    ]
    return Level(level.settings, groups=groups)
