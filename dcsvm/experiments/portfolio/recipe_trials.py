"""Trials: one recipe trained on some rows, and its probabilities of held-out rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.base.digest import digest
from dcsvm.base.errors import DcsvmError
from dcsvm.base.models import KernelExpansion
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer
from dcsvm.experiments.portfolio.budget import (
    UNDIVIDED_POWER,
    USUAL_POWER,
    Budget,
    Deadline,
    TimeModel,
    TimeUpError,
)
from dcsvm.experiments.portfolio.portfolio_recipes import PortfolioRecipe
from dcsvm.experiments.run.load_data import fit_pipeline
from dcsvm.experiments.run.measures import predict_in_blocks
from dcsvm.experiments.run.parameter_search import search
from dcsvm.experiments.run.search_result import SearchContext, SearchResult
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.mapped_rows import select_rows

Grid = Mapping[str, list[Any]]
#: One row in so many is learned once more, to see how seconds grow.
PILOT = 4
#: One row in so many is learned first; no fit is begun whose forecast is so many times too long.
PROBE, TOO_LONG = 8, 2.0
#: A probe has at least so many rows.
MIN_PROBE = 20
#: The share of a trial's time that its search may take; one row in PILOT is searched first.
SEARCH_SHARE = 0.6


@attrs.frozen(eq=False)
class TrialRows:
    """The rows that a trial learns from, and its validation rows.

    `sample_size` is the size of the sample, the same for all folds; `fold` is the fold of the
    validation rows.
    """

    train: IntArray
    validation: IntArray
    sample_size: int
    fold: int = 0


@attrs.frozen(eq=False)
class Trial:
    """The result of training one recipe on some rows.

    `probabilities` are those of the validation rows (rows, all classes), `values` the chosen
    values of the recipe's keys, and `grid` the values to try on more rows. The time of a fit is
    assumed to grow with the rows to the power `growth`. `pilot_seconds` is the time of a fit on a
    quarter of the rows. `error` is the message of a trial that failed.
    """

    recipe: str
    n_rows: int
    sample_size: int
    fold: int
    probabilities: FloatArray
    values: Mapping[str, Any] = attrs.field(factory=dict)
    grid: Grid = attrs.field(factory=dict)
    search_seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    pilot_seconds: float = 0.0
    growth: float = USUAL_POWER
    error: str = ""

    @property
    def seconds(self) -> float:
        learning = self.search_seconds + self.fit_seconds + self.pilot_seconds
        return learning + self.predict_seconds

    @property
    def n_validation(self) -> int:
        return len(self.probabilities)


@attrs.define
class RecipeTrials:
    """A recipe and its trials so far."""

    recipe: PortfolioRecipe
    trials: list[Trial] = attrs.field(factory=list)
    fit_time: TimeModel = attrs.field(factory=TimeModel)
    predict_time: TimeModel = attrs.field(factory=TimeModel)
    #: Why the recipe was dropped; empty while it is in the search.
    drop_reason: str = ""

    @property
    def last(self) -> Trial:
        return self.trials[-1]

    def add(self, trial: Trial) -> None:
        if trial.error:
            self.drop_reason = trial.error
            return
        self.trials.append(trial)
        self.fit_time = attrs.evolve(self.fit_time, power=trial.growth)
        if trial.pilot_seconds:
            self.fit_time = self.fit_time.add(trial.n_rows // PILOT, trial.pilot_seconds)
        self.fit_time = self.fit_time.add(trial.n_rows, trial.fit_seconds)
        by_row = trial.predict_seconds / max(trial.n_validation, 1)
        self.predict_time = self.predict_time.add(trial.n_rows, by_row)

    def forecast(self, n_rows: int, n_validation: int) -> float:
        """The seconds of a fit and of predictions."""
        return self.fit_time.forecast(n_rows) + n_validation * self.predict_time.forecast(n_rows)

    def find(self, sample_size: int, fold: int) -> Trial | None:
        """The trial on a sample of this size that was scored on this fold."""
        found = (
            each for each in self.trials if (each.sample_size, each.fold) == (sample_size, fold)
        )
        return next(found, None)


@attrs.frozen(eq=False)
class TrialContext:
    """What all trials share: rows, the engine, the seed, the observer, the time."""

    X: Any
    y: Any
    engine: Engine
    seed: int
    observer: Observer
    budget: Budget
    score: str

    @property
    def classes(self) -> Any:
        return np.unique(self.y)

    def run(
        self,
        recipe: PortfolioRecipe,
        rows: TrialRows,
        given: Mapping[str, Any],
        grid: Grid,
        seconds: float,
    ) -> tuple[Trial, Pipeline | None]:
        """Try a recipe: choose among the values of the grid, train, predict the validation rows.

        `given` are values that were chosen before; the trial ends with an error after `seconds`.
        """
        key = digest("trial", recipe.name, dict(given), dict(grid), rows.train, rows.validation)
        key = digest(key, self.seed, self.score)
        stored = None if self.engine.checkpoints is None else self.engine.checkpoints.get(key)
        if stored is not None:
            self.budget.before += stored.seconds
            return stored, None
        trial, model = self._run(recipe, rows, given, grid, seconds)
        if self.engine.checkpoints is not None:
            self.engine.checkpoints.put(key, trial)
        return trial, model

    def _run(
        self,
        recipe: PortfolioRecipe,
        rows: TrialRows,
        given: Mapping[str, Any],
        grid: Grid,
        seconds: float,
    ) -> tuple[Trial, Pipeline | None]:
        empty = np.zeros((0, len(self.classes)))
        trial = Trial(recipe.name, len(rows.train), rows.sample_size, rows.fold, empty)
        engine = self._limit(seconds)
        try:
            if not given and (
                self.forecast_fit(recipe, rows, find_middle(grid), engine) > TOO_LONG * seconds
            ):
                raise TimeUpError
            found = self._choose(recipe, rows, given, grid, seconds)
            values = {**given, **({} if found is None else found.values)}
            began = time.perf_counter()
            model = recipe.build(values)
            fit_pipeline(model, engine, select_rows(self.X, rows.train), self.y[rows.train])
            fitted = time.perf_counter() - began
            predicted = predict_in_blocks(model, self.X, rows.validation, Observer(), cost=False)
            pilot = 0.0 if given else self._time_pilot(recipe.build(values), rows, engine)
        except TimeUpError:
            return attrs.evolve(trial, error=f"needs more than the {seconds:.1f} s it had"), None
        except DcsvmError as error:
            return attrs.evolve(trial, error=str(error)), None
        trial = attrs.evolve(
            trial,
            probabilities=self._align(predicted.probabilities, model[-1].classes_),
            values=values,
            grid=grid if found is None else narrow(grid, found),
            search_seconds=0.0 if found is None else found.seconds,
            fit_seconds=fitted,
            predict_seconds=predicted.seconds,
            pilot_seconds=pilot,
            growth=UNDIVIDED_POWER if _is_undivided(model, values) else USUAL_POWER,
        )
        return trial, model

    def _choose(
        self,
        recipe: PortfolioRecipe,
        rows: TrialRows,
        given: Mapping[str, Any],
        grid: Grid,
        seconds: float,
    ) -> SearchResult | None:
        """Choose among the values of the grid, using some of the training rows.

        A sample of them chooses first: a search that cannot end in time leaves that choice.
        """
        if not grid or (given and max(map(len, grid.values())) < 2):
            return None
        context = SearchContext(self._limit(SEARCH_SHARE * seconds), self.seed, self.observer)
        n_rows, found = len(rows.train), None
        few = [] if given or n_rows < PILOT * PILOT * MIN_PROBE else [n_rows // PILOT]
        for size in (*few, n_rows):
            if found is not None and context.spent * PILOT**USUAL_POWER > SEARCH_SHARE * seconds:
                break
            try:
                found = self._search(recipe, rows, given, grid, size, seconds / 2, context)
            except TimeUpError:
                if found is None:
                    raise
            except DcsvmError:  # a sample may lack a class
                if size == n_rows:
                    raise
        return None if found is None else attrs.evolve(found, seconds=context.spent)

    def _search(
        self,
        recipe: PortfolioRecipe,
        rows: TrialRows,
        given: Mapping[str, Any],
        grid: Grid,
        n_rows: int,
        seconds: float,
        context: SearchContext,
    ) -> SearchResult:
        """Search the grid on at most `n_rows` of the training rows."""
        settings = recipe.adapt_search(self.score, n_rows, seconds)
        probable = settings.score not in ("accuracy", "balanced_accuracy")
        return search(
            attrs.evolve(recipe.candidate, grid=grid),
            lambda cell: recipe.build({**given, **cell}, probable),
            *(settings, recipe.recipe.split, self.X, self.y, rows.train, context),
        )

    def _limit(self, seconds: float) -> Engine:
        """The engine, which ends a trial after this time."""
        deadline = Deadline(self.budget, seconds)
        observers = (*self.engine.observers, deadline)
        return attrs.evolve(self.engine, observers=observers, checkpoints=None)

    def forecast_fit(
        self, recipe: PortfolioRecipe, rows: TrialRows, values: Mapping[str, Any], engine: Engine
    ) -> float:
        """The seconds that one fit will take, by a fit of one row in PROBE; 0 if unknown."""
        if len(rows.train) < PROBE * MIN_PROBE:
            return 0.0
        spent = self._time_pilot(recipe.build(values), rows, engine, PROBE)
        return TimeModel().add(1, spent).forecast(PROBE) if spent else 0.0

    def _time_pilot(
        self, model: Pipeline, rows: TrialRows, engine: Engine, nth: int = PILOT
    ) -> float:
        """The seconds of every n-th row, to see how they grow; 0 if they cannot be learned."""
        some = rows.train[::nth]
        began = time.perf_counter()
        try:
            fit_pipeline(model, engine, select_rows(self.X, some), self.y[some])
        except DcsvmError:  # such as a single class
            return 0.0
        return time.perf_counter() - began

    def _align(self, probabilities: Any, classes: Any) -> FloatArray:
        """Probabilities of all classes, also of those that the model never saw."""
        whole = np.zeros((len(probabilities), len(self.classes)))
        whole[:, np.searchsorted(self.classes, classes)] = probabilities
        return whole


def _is_undivided(model: Pipeline, values: Mapping[str, Any]) -> bool:
    """Whether it is one kernel machine for all rows, however many they become."""
    if any(name.startswith("decomposer.") for name in values):  # a division of more rows
        return False
    members = model[-1].model_.committee.members
    return len(members) == 1 and isinstance(members[0].model, KernelExpansion)


def narrow(grid: Grid, found: SearchResult) -> dict[str, list[Any]]:
    """The values worth trying on more rows: the chosen ones and their neighbours in the list."""
    narrowed: dict[str, list[Any]] = {}
    for name, values in grid.items():
        best = found.values.get(name)
        numbers = all(type(each) in (int, float) for each in values)
        if numbers and best is not None:  # it may lie beyond the list
            values = sorted({*values, best})
        if best not in values:
            continue
        place = values.index(best)
        narrowed[name] = values[max(place - 1, 0) : place + 2] if numbers else [best]
    return narrowed


def find_middle(grid: Grid) -> dict[str, Any]:
    """The value in the middle of each list."""
    return {name: values[(len(values) - 1) // 2] for name, values in grid.items()}
