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
from dcsvm.experiments.portfolio.portfolio_evaluation import FOLDS, PortfolioEvaluation
from dcsvm.experiments.portfolio.portfolio_recipes import (
    PortfolioRecipe,
    count_sizes,
    find_portfolio,
)
from dcsvm.experiments.portfolio.recipe_trials import (
    RecipeTrials,
    Trial,
    TrialContext,
    TrialRows,
    find_middle,
)
from dcsvm.experiments.portfolio.winner_selection import WinnerSelection
from dcsvm.experiments.recipe import Recipe
from dcsvm.experiments.run.run_context import RunContext
from dcsvm.experiments.run.search_result import SearchResult
from dcsvm.numeric.array_types import IntArray

#: The rows of the first trials, how many times more the next ones have, and the validation
#: rows of trials on a sample.
FIRST_ROWS, GROWTH_FACTOR, SAMPLE_VALIDATION = 2000, 4, 5000
#: The last recipes of a halving are judged by all folds, as far as there is time.
FINALISTS = 4
#: With fewer seconds than these, the first trials have fewer rows, but at least so many.
FULL_SECONDS, MIN_ROWS = 40.0, 500
#: The most of the time left that is kept for the last fits while a recipe is tried first.
MAX_RESERVE = 0.6
#: The share of the time left that one trial may take where nothing is known about it, and that a
#: search among values may take on more rows.
BLIND_SHARE, SEARCH_SHARE = 0.2, 0.15


@attrs.define
class PortfolioSearch:
    """Tries recipes on growing samples of the rows; the better half goes on.

    Parameters
    ----------
    evaluation : PortfolioEvaluation
    recipes : sequence of PortfolioRecipe
        In the order of trial.
    members : int
        The most members of a blend.
    keep : callable, optional
        Called with the best pipeline so far.
    """

    evaluation: PortfolioEvaluation
    recipes: Sequence[PortfolioRecipe]
    members: int = 4
    keep: Callable[[Pipeline], None] = attrs.field(default=lambda _: None)
    candidates: list[RecipeTrials] = attrs.field(factory=list, init=False)
    best: RecipeTrials | None = attrs.field(default=None, init=False)

    @property
    def context(self) -> TrialContext:
        return self.evaluation.context

    def run(self) -> SearchResult:
        """Try the recipes, choose, and return the choice as values of the enclosing recipe."""
        self.candidates = [RecipeTrials(each) for each in self.recipes]
        samples = list(self._list_samples())
        alive = list(self.candidates)
        for number, rows in enumerate(samples):
            self._try_all(alive, rows)
            alive = self._halve(
                [each for each in alive if not each.drop_reason], number, len(samples)
            )
        if self.best is None:  # rows that cannot be held out
            return WinnerSelection(self.evaluation, self.candidates, 1).fall_back()
        sample_size = self._find_largest_sample()
        finalists = [each for each in self.candidates if each.find(sample_size, 0)]
        if sample_size == samples[-1].sample_size and len(finalists) > 1:
            self._repeat(self.evaluation.rank_for_blend(finalists, sample_size)[:FINALISTS])
        return WinnerSelection(self.evaluation, self.candidates, self.members).select(
            finalists, sample_size
        )

    def _list_samples(self) -> Sequence[TrialRows]:
        """The rows of each halving: samples of the rows outside the first fold, then all."""
        whole = self.evaluation.split_fold(0)
        sizes, size = [], choose_first_rows(self.context.budget.seconds)
        while size * 2 <= len(whole.train):
            sizes.append(size)
            size *= GROWTH_FACTOR
        samples = []
        for size in sizes:
            y = self.context.y[whole.train]
            some = hold_out(y, size / len(y), True, self.context.seed).test
            samples.append(
                TrialRows(whole.train[some], whole.validation[:SAMPLE_VALIDATION], size)
            )
        return [*samples, whole]

    def _try_all(self, alive: Sequence[RecipeTrials], rows: TrialRows) -> None:
        for number, candidate in enumerate(alive):
            waiting = len(alive) - number
            self._try(candidate, rows, f"{number + 1} of {len(alive)}", waiting)

    def _try(self, candidate: RecipeTrials, rows: TrialRows, title: str, waiting: int) -> None:
        """Try one recipe, unless its forecast exceeds the remaining time."""
        left = self.context.budget.left
        reserve = self.evaluation.estimate_reserve(self.candidates)
        if not candidate.trials:  # a first trial takes little, and the reserve is a guess
            reserve = min(reserve, MAX_RESERVE * left)
        allowed = left - reserve
        n_rows, before = len(rows.train), candidate.trials
        needed = candidate.forecast(n_rows, len(rows.validation)) if before else 0.0
        after = self.evaluation.forecast_hopefully(candidate)
        if self.best is not None and (needed > allowed or needed + after > left):
            candidate.drop_reason = f"not begun on {n_rows:,} rows: no time was left"
            if before:
                candidate.drop_reason = (
                    f"not begun on {n_rows:,} rows: about {needed:.0f} s more, then {after:.0f} s "
                    f"to learn all rows; {max(left, 0):.0f} s were left"
                )
            return
        if not before:
            allowed = max(min(BLIND_SHARE * left, 2 * allowed / waiting), 0.5)
        name = candidate.recipe.name
        self.context.observer.on_step_begin(
            f"trying {name} on {n_rows:,} rows ({title}), {max(left, 0):.0f} s left", n_rows
        )
        grid = self._choose_grid(candidate, n_rows, SEARCH_SHARE * allowed)
        given = before[-1].values if before else {}
        trial, model = self.context.run(candidate.recipe, rows, given, grid, allowed)
        if trial.error and not before and candidate.recipe.candidate.grid:
            trial, model = self._try_middle(candidate, rows, allowed, trial)
        candidate.add(trial)
        if not trial.error:
            self._note_best(candidate, model)

    def _try_middle(
        self, candidate: RecipeTrials, rows: TrialRows, allowed: float, failed: Trial
    ) -> tuple[Trial, Pipeline | None]:
        """Try the middle of each list where one fit has time enough, though the search had not."""
        recipe, context = candidate.recipe, self.context
        middle = find_middle(recipe.candidate.grid)
        if context.forecast_fit(recipe, rows, middle, context.engine) > allowed:
            return failed, None
        return context.run(recipe, rows, middle, {}, 2 * allowed)

    def _choose_grid(self, candidate: RecipeTrials, n_rows: int, allowed: float) -> Any:
        """The values to choose among: all at first, then neighbours where there is time."""
        if not candidate.trials:
            return candidate.recipe.candidate.grid
        last = candidate.last
        cells = math.prod(map(len, last.grid.values()))
        earlier = candidate.recipe.candidate.grid if len(candidate.trials) < 2 else last.grid
        tried = math.prod(map(len, earlier.values()))
        seconds = last.search_seconds * cells / max(tried, 1)
        growth = candidate.fit_time.forecast(n_rows) / max(last.fit_seconds, 1e-6)
        return last.grid if cells > 1 and 0 < seconds * growth <= allowed else {}

    def _note_best(self, candidate: RecipeTrials, model: Pipeline | None) -> None:
        """Keep the model if it is the best so far of the largest sample so far."""
        if self.evaluation.rank(self.candidates, candidate.last.sample_size)[0] is candidate:
            self.best = candidate
            if model is not None:
                self.keep(model)

    def _halve(self, alive: list[RecipeTrials], number: int, n_samples: int) -> list[RecipeTrials]:
        """The better half of those that can still be trained on all rows in time, in order."""
        if not alive:
            return []
        left = self.context.budget.left
        able = [
            each for each in alive if self.evaluation.forecast_hopefully(each) <= left
        ] or alive
        for each in alive:
            if each not in able:
                needed = self.evaluation.forecast_final_fits(each)
                each.drop_reason = f"too slow: about {needed:.0f} s for all rows"
        least = FINALISTS if n_samples - number <= 3 else 2
        most = max(math.ceil(len(able) / 2), least)
        ranked = self.evaluation.rank_for_blend(able, able[0].last.sample_size)
        for each in ranked[most:]:
            each.drop_reason = f"not in the better half on {each.last.n_rows:,} rows"
        return ranked[:most]

    def _repeat(self, finalists: Sequence[RecipeTrials]) -> None:
        """Evaluate the last few on more folds; a fold counts if it is that of all."""
        for fold in range(1, FOLDS):
            rows = self.evaluation.split_fold(fold)
            n_rows = len(rows.train)
            for number, candidate in enumerate(finalists):
                cost = sum(
                    each.forecast(n_rows, len(rows.validation)) for each in finalists[number:]
                )
                if cost > self.context.budget.left - self._forecast_blend(finalists):
                    return
                title = f"trying {candidate.recipe.name} on {n_rows:,} rows, fold {fold + 1}"
                self.context.observer.on_step_begin(title, n_rows)
                trial, _ = self.context.run(
                    candidate.recipe, rows, candidate.last.values, {}, 2 * cost + 1
                )
                if trial.error:
                    return
                candidate.trials.append(trial)

    def _find_largest_sample(self) -> int:
        """The largest sample that any recipe was trained on."""
        return max(each.last.sample_size for each in self.candidates if each.trials)

    def _forecast_blend(self, candidates: Sequence[RecipeTrials]) -> float:
        ranked = sorted(self.evaluation.forecast_final_fits(each) for each in candidates)
        return sum(ranked[-self.members :])


def choose_first_rows(seconds: float) -> int:
    """The rows of the first trials: fewer where there is little time."""
    return int(max(MIN_ROWS, min(1.0, seconds / FULL_SECONDS) * FIRST_ROWS))


def search_portfolio(
    recipe: Recipe,
    data: Dataset,
    train: IntArray,
    final_fits: Sequence[tuple[int, int]],
    context: RunContext,
) -> SearchResult:
    """Search the portfolio of a recipe with the rows `train`; see PortfolioSearch."""
    own, settings = recipe.candidates[0], recipe.search
    assert settings.seconds is not None
    overhead = forecast_report(data.n_rows) * context.keeps_model
    recipes = [
        PortfolioRecipe(
            *(each, data, recipe.data.missing, own.classifier.class_weight),
            *(context.seed, context.n_jobs),
        )
        for each in find_portfolio(own.registry, settings, count_sizes(data, train))
    ]
    trial_context = TrialContext(
        *(data.X, data.y, context.engine, context.seed, context.observer),
        Budget(settings.seconds, began=context.began, overhead=overhead),
        settings.score,
    )
    evaluation = PortfolioEvaluation(trial_context, train, final_fits)
    return PortfolioSearch(evaluation, recipes, settings.members, context.record_best).run()
