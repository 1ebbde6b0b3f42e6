"""The granularity search of a recipe, with every combination of preparation settings."""

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from dcsvm.drive.executor import Done, Runnable
from dcsvm.drive.observers import Observer
from dcsvm.experiments.recipe import Candidate, Search
from dcsvm.experiments.run.search_result import (
    Maker,
    ScoredCell,
    SearchContext,
    SearchResult,
)
from dcsvm.model_selection import GranularitySearch
from dcsvm.model_selection.granularity_search import DECOMPOSER
from dcsvm.model_selection.stop_reasons import USED_UP, describe_all_tried, explain_used_up
from dcsvm.numeric.mapped_rows import select_rows

#: Folds judge one after the other until so many rows have.
JUDGES = 2000


def search_levels(
    candidate: Candidate,
    make: Maker,
    settings: Search,
    X: Any,
    y: Any,
    fold: Any,
    context: SearchContext,
) -> SearchResult:
    """A granularity search for every way to prepare the rows, and the best of all."""
    ways = {name: values for name, values in candidate.grid.items() if name.startswith("data.")}
    found: list[SearchResult] = []
    for place, way in enumerate(ParameterGrid({name: list(ways[name]) for name in ways})):
        left = None if settings.seconds is None else settings.seconds - context.spent
        if found and left is not None and left <= 0:
            break
        share = None if left is None else max(left, 1e-9) / (_count_cells(ways) - place)
        numbers = range(_count_folds(fold))
        share = None if share is None else share / len(numbers)
        judged = [
            _search_prepared(
                candidate, make(way), settings, X, y, fold == number, context, way, share
            )
            for number in numbers
        ]
        found.append(judged[0] if len(judged) == 1 else _average(judged))
    best = max(found, key=lambda each: each.score)
    tried = tuple(trial for each in found for trial in each.tried)
    stopped = best.stopped
    if len(found) < _count_cells(ways) or stopped == USED_UP:
        stopped = explain_used_up(settings.seconds or 0.0)
    elif all(each.stopped == describe_all_tried(len(each.tried)) for each in found):
        stopped = describe_all_tried(len(tried))
    return attrs.evolve(best, tried=tried, stopped=stopped)


def _search_prepared(
    candidate: Candidate,
    model: Pipeline,
    settings: Search,
    X: Any,
    y: Any,
    held: Any,
    context: SearchContext,
    way: Mapping[str, Any],
    seconds: float | None,
) -> SearchResult:
    """The granularity search on rows prepared in one way, with validation rows."""
    training, judging = np.flatnonzero(~held), np.flatnonzero(held)
    prepare, classifier = model
    learned = select_rows(X, training)
    prepare.fit(learned)
    learned, judged = prepare.transform(learned), prepare.transform(select_rows(X, judging))
    grid = {
        name.replace(".", "__"): values
        for name, values in candidate.grid.items()
        if name not in way
    }
    searcher = GranularitySearch(
        classifier,
        grid or None,
        top=settings.top,
        factor=settings.factor,
        min_gain=settings.min_gain,
        levels=settings.levels,
        scoring=settings.score,
        seconds=seconds,
        refit=False,
        random_state=context.seed,
    )
    engine = attrs.evolve(context.engine, observers=(_Clock(context), *context.engine.observers))
    searcher.fit_with(
        engine,
        *(learned, y[training]),
        X_val=judged,
        y_val=y[judging],
    )
    results = searcher.results_
    tried = tuple(
        ScoredCell({**way, **_to_recipe_keys(values)}, float(score), float(seconds))
        for values, score, seconds in zip(
            results["params"], results["mean_test_score"], results["seconds"], strict=True
        )
    )
    chosen = searcher.best_params_
    if settings.levels == 1:  # the division was not chosen
        chosen = {name: chosen[name] for name in chosen if not name.startswith(DECOMPOSER)}
    elif searcher.undivided_ and settings.rows is None:
        # the rows judged by are learned, too
        chosen = chosen | searcher.build_undivided_params(prepare.transform(X), y)
    best, score = {**way, **_to_recipe_keys(chosen)}, float(searcher.best_score_)
    return SearchResult(best, score, tried, searcher.stopped_, len(y), settings.score)


def _count_folds(fold: Any) -> int:
    """The number of folds that have JUDGES validation rows together, or all folds."""
    judging = np.cumsum(np.bincount(fold[fold >= 0]))
    return min(int(np.searchsorted(judging, JUDGES)) + 1, len(judging))


def _average(folds: list[SearchResult]) -> SearchResult:
    """The result of several folds with one level each: the mean of each cell that all tried."""
    n_cells = min(len(each.tried) for each in folds)
    tried = tuple(
        ScoredCell(
            {k: v for k, v in cells[0].values.items() if not k.startswith("decomposer.")},
            float(np.mean([cell.score for cell in cells])),
            sum(cell.seconds for cell in cells),
        )
        for cells in zip(*(each.tried[:n_cells] for each in folds), strict=True)
    )
    best = max(tried, key=lambda each: each.score)
    stopped = max((each.stopped for each in folds), key=lambda text: text == USED_UP)
    return attrs.evolve(
        folds[0], values=best.values, score=best.score, tried=tried, stopped=stopped
    )


def _count_cells(grid: Mapping[str, Any]) -> int:
    return math.prod(len(values) for values in grid.values())


def _to_recipe_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.replace("__", "."): value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }


class _Clock(Observer):
    """Adds up the seconds of the parts of a search."""

    def __init__(self, context: SearchContext) -> None:
        self.context = context

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        self.context.recorded += outcome.seconds
