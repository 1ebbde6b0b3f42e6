"""The search of a portfolio: successive halving on growing samples, then the best or a blend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from sklearn.pipeline import Pipeline

from dcsvm.base.row_splitting import hold_out
from dcsvm.datasets.dataset import Dataset
from dcsvm.experiments.portfolio.budget import Budget, forecast_report
from dcsvm.experiments.portfolio.choice import Choice
from dcsvm.experiments.portfolio.entries import (
    Entry,
    count_sizes,
    find_portfolio,
)
from dcsvm.experiments.portfolio.recipe_trials import Bench, TrialRows
from dcsvm.experiments.portfolio.tournament import FOLDS, Course, Tournament
from dcsvm.experiments.recipe import Recipe
from dcsvm.experiments.run.run_context import RunContext
from dcsvm.experiments.run.search_result import SearchResult
from dcsvm.numeric.array_types import IntArray

#: The rows of the first trials, how many times more the next ones have, and the rows that judge
#: trials on a sample.
FIRST_ROWS, FACTOR, FEW_JUDGES = 2000, 4, 5000
#: The last recipes of a halving are judged by all folds, as far as there is time.
FINALISTS = 3
#: With fewer seconds than these, the first trials have fewer rows, but at least so many.
FULL_SECONDS, LEAST_ROWS = 40.0, 500
#: The most of the time left that is kept for the last fits while a recipe is tried first.
RESERVED = 0.6
#: The share of the time left that one trial may take where nothing is known about it, and that a
#: search among values may take on more rows.
BLIND_SHARE, SEARCH_SHARE = 0.2, 0.15


@attrs.define
class PortfolioSearch:
    """Tries recipes on growing samples of the rows; the better half goes on.

    Parameters
    ----------
    tournament : Tournament
    entries : sequence of Entry
        In the order of trial.
    members : int
        The most members of a blend.
    keep : callable, optional
        Called with the best pipeline so far.
    """

    tournament: Tournament
    entries: Sequence[Entry]
    members: int = 4
    keep: Callable[[Pipeline], None] = attrs.field(default=lambda _: None)
    courses: list[Course] = attrs.field(factory=list, init=False)
    best: Course | None = attrs.field(default=None, init=False)

    @property
    def bench(self) -> Bench:
        return self.tournament.bench

    def run(self) -> SearchResult:
        """Try the recipes, choose, and return the choice as values of the enclosing recipe."""
        self.courses = [Course(each) for each in self.entries]
        rungs = list(self._list_rungs())
        alive = list(self.courses)
        for number, rows in enumerate(rungs):
            self._try_all(alive, rows, number + 1 == len(rungs))
            alive = self._halve([each for each in alive if not each.out], number, len(rungs))
        if self.best is None:  # rows that cannot be held out
            return Choice(self.tournament, self.courses, 1).give_up()
        rung = self._find_last_rung()
        finalists = [each for each in self.courses if each.find(rung, 0)]
        if rung == rungs[-1].rung and len(finalists) > 1:
            self._repeat(self.tournament.rank(finalists, rung)[:FINALISTS])
        return Choice(self.tournament, self.courses, self.members).conclude(finalists, rung)

    def _list_rungs(self) -> Sequence[TrialRows]:
        """The rows of each halving: samples of the rows outside the first fold, then all."""
        whole = self.tournament.deal(0)
        sizes, size = [], choose_first_rows(self.bench.budget.seconds)
        while size * 2 <= len(whole.learned):
            sizes.append(size)
            size *= FACTOR
        rungs = []
        for size in sizes:
            y = self.bench.y[whole.learned]
            some = hold_out(y, size / len(y), True, self.bench.seed).test
            rungs.append(TrialRows(whole.learned[some], whole.judged[:FEW_JUDGES], size))
        return [*rungs, whole]

    def _try_all(self, alive: Sequence[Course], rows: TrialRows, is_last: bool) -> None:
        for number, course in enumerate(alive):
            waiting = len(alive) - number
            self._try(course, rows, f"{number + 1} of {len(alive)}", waiting)

    def _try(self, course: Course, rows: TrialRows, title: str, waiting: int) -> None:
        """Try one recipe, unless its forecast exceeds the remaining time."""
        left = self.bench.budget.left
        reserve = self.tournament.find_reserve(self.courses)
        if not course.trials:  # a first trial takes little, and the reserve is a guess
            reserve = min(reserve, RESERVED * left)
        allowed = left - reserve
        n_rows, before = len(rows.learned), course.trials
        needed = course.forecast(n_rows, len(rows.judged)) if before else 0.0
        after = self.tournament.hope_seconds(course)
        if self.best is not None and (needed > allowed or needed + after > left):
            course.out = f"not begun on {n_rows:,} rows: no time was left"
            if before:
                course.out = (
                    f"not begun on {n_rows:,} rows: about {needed:.0f} s more, then {after:.0f} s "
                    f"to learn all rows; {max(left, 0):.0f} s were left"
                )
            return
        if not before:
            allowed = max(min(BLIND_SHARE * left, 2 * allowed / waiting), 0.5)
        name = course.entry.name
        self.bench.observer.on_step_begin(
            f"trying {name} on {n_rows:,} rows ({title}), {max(left, 0):.0f} s left", n_rows
        )
        grid = self._choose_grid(course, n_rows, SEARCH_SHARE * allowed)
        given = before[-1].values if before else {}
        trial, model = self.bench.run(course.entry, rows, given, grid, allowed)
        if trial.error and not before and self._has_grid(course):
            middle = {name: values[(len(values) - 1) // 2] for name, values in grid.items()}
            trial, model = self.bench.run(course.entry, rows, middle, {}, 2 * allowed)
        course.add(trial)
        if not trial.error:
            self._note_best(course, model)

    def _has_grid(self, course: Course) -> bool:
        return bool(course.entry.candidate.grid)

    def _choose_grid(self, course: Course, n_rows: int, allowed: float) -> Any:
        """The values to choose among: all at first, then neighbours where there is time."""
        if not course.trials:
            return course.entry.candidate.grid
        last = course.last
        cells = math.prod(map(len, last.grid.values()))
        earlier = course.entry.candidate.grid if len(course.trials) < 2 else last.grid
        tried = math.prod(map(len, earlier.values()))
        seconds = last.search_seconds * cells / max(tried, 1)
        growth = course.fit.forecast(n_rows) / max(last.fit_seconds, 1e-6)
        return last.grid if cells > 1 and 0 < seconds * growth <= allowed else {}

    def _note_best(self, course: Course, model: Pipeline | None) -> None:
        """Keep the model if it is the best so far of the largest sample so far."""
        if self.tournament.rank(self.courses, course.last.rung)[0] is course:
            self.best = course
            if model is not None:
                self.keep(model)

    def _halve(self, alive: list[Course], number: int, n_rungs: int) -> list[Course]:
        """The better half of those that can still be trained on all rows in time, in order."""
        if not alive:
            return []
        left = self.bench.budget.left
        able = [each for each in alive if self.tournament.hope_seconds(each) <= left] or alive
        for each in alive:
            if each not in able:
                needed = self.tournament.finish_seconds(each)
                each.out = f"too slow: about {needed:.0f} s for all rows"
        least = FINALISTS if n_rungs - number <= 3 else 2
        most = max(math.ceil(len(able) / 2), least)
        ranked = self.tournament.rank(able, able[0].last.rung)
        for each in ranked[most:]:
            each.out = f"not in the better half on {each.last.n_rows:,} rows"
        return ranked[:most]

    def _repeat(self, finalists: Sequence[Course]) -> None:
        """Evaluate the last few on more folds; a fold counts if it is that of all."""
        for fold in range(1, FOLDS):
            rows = self.tournament.deal(fold)
            n_rows = len(rows.learned)
            for number, course in enumerate(finalists):
                cost = sum(each.forecast(n_rows, len(rows.judged)) for each in finalists[number:])
                if cost > self.bench.budget.left - self._finish_all(finalists):
                    return
                title = f"trying {course.entry.name} on {n_rows:,} rows, fold {fold + 1}"
                self.bench.observer.on_step_begin(title, n_rows)
                trial, _ = self.bench.run(course.entry, rows, course.last.values, {}, 2 * cost + 1)
                if trial.error:
                    return
                course.trials.append(trial)

    def _find_last_rung(self) -> int:
        """The largest sample that any recipe learned."""
        return max(each.last.rung for each in self.courses if each.trials)

    def _finish_all(self, courses: Sequence[Course]) -> float:
        ranked = sorted(self.tournament.finish_seconds(each) for each in courses)
        return sum(ranked[-self.members :])


def choose_first_rows(seconds: float) -> int:
    """The rows of the first trials: fewer where there is little time."""
    return int(max(LEAST_ROWS, min(1.0, seconds / FULL_SECONDS) * FIRST_ROWS))


def search_portfolio(
    recipe: Recipe,
    data: Dataset,
    train: IntArray,
    finals: Sequence[tuple[int, int]],
    context: RunContext,
) -> SearchResult:
    """Search the portfolio of a recipe with the rows `train`; see PortfolioSearch."""
    own, asked = recipe.candidates[0], recipe.search
    assert asked.seconds is not None
    overhead = forecast_report(data.n_rows) * context.keeps_model
    entries = [
        Entry(
            *(each, data, recipe.data.missing, own.classifier.class_weight),
            *(context.seed, context.n_jobs),
        )
        for each in find_portfolio(own.registry, asked, count_sizes(data, train))
    ]
    bench = Bench(
        *(data.X, data.y, context.engine, context.seed, context.observer),
        Budget(asked.seconds, began=context.began, overhead=overhead),
        asked.score,
    )
    tournament = Tournament(bench, train, finals)
    return PortfolioSearch(tournament, entries, asked.members, context.record_best).run()
