"""The granularity search as a recipe asks for it: with every way to prepare the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from dcsvm.drive.engine import Done, Runnable
from dcsvm.drive.observers import Observer
from dcsvm.experiments.recipe import Candidate, Search
from dcsvm.experiments.run.search_result import (
    Maker,
    ScoredCell,
    SearchContext,
    SearchResult,
    explain_used_up,
)
from dcsvm.model_selection import GranularitySearch
from dcsvm.model_selection.granularity_search import DECOMPOSER
from dcsvm.model_selection.levels import USED_UP, describe_all_tried


def search_levels(
    candidate: Candidate,
    make: Maker,
    asked: Search,
    X: Any,
    y: Any,
    fold: Any,
    bench: SearchContext,
) -> SearchResult:
    """A granularity search for every way to prepare the rows, and the best of all."""
    ways = {name: values for name, values in candidate.grid.items() if name.startswith("data.")}
    found: list[SearchResult] = []
    for place, way in enumerate(ParameterGrid({name: list(ways[name]) for name in ways})):
        left = None if asked.seconds is None else asked.seconds - bench.spent
        if found and left is not None and left <= 0:
            break
        share = None if left is None else max(left, 1e-9) / (_count_cells(ways) - place)
        found.append(_search_prepared(candidate, make(way), asked, X, y, fold, bench, way, share))
    best = max(found, key=lambda each: each.score)
    tried = tuple(trial for each in found for trial in each.tried)
    stopped = best.stopped
    if len(found) < _count_cells(ways) or stopped == USED_UP:
        stopped = explain_used_up(asked)
    elif all(each.stopped == describe_all_tried(len(each.tried)) for each in found):
        stopped = describe_all_tried(len(tried))
    return attrs.evolve(best, tried=tried, stopped=stopped)


def _search_prepared(
    candidate: Candidate,
    model: Pipeline,
    asked: Search,
    X: Any,
    y: Any,
    fold: Any,
    bench: SearchContext,
    way: Mapping[str, Any],
    seconds: float | None,
) -> SearchResult:
    """The granularity search on rows that are prepared in one way beforehand."""
    training, judging = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    prepare, classifier = model
    X = prepare.fit(X[training]).transform(X)
    grid = {
        name.replace(".", "__"): values
        for name, values in candidate.grid.items()
        if name not in way
    }
    searcher = GranularitySearch(
        classifier,
        grid or None,
        top=asked.top,
        factor=asked.factor,
        min_gain=asked.min_gain,
        levels=asked.levels,
        scoring=asked.score,  # type: ignore[arg-type] # a recipe with others was refused
        seconds=seconds,
        refit=False,
        random_state=bench.seed,
    )
    engine = attrs.evolve(bench.engine, observers=(_Clock(bench), *bench.engine.observers))
    searcher.fit_with(
        engine,
        *(X[training], y[training]),
        X_val=X[judging],
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
    if asked.levels == 1:  # the division was not chosen
        chosen = {name: chosen[name] for name in chosen if not name.startswith(DECOMPOSER)}
    elif searcher.undivided_ and asked.rows is None:
        chosen = chosen | searcher.undivided_params(X, y)  # the rows judged by are learned, too
    best, score = {**way, **_to_recipe_keys(chosen)}, float(searcher.best_score_)
    return SearchResult(best, score, tried, searcher.stopped_, len(y), asked.score)


def _count_cells(grid: Mapping[str, Any]) -> int:
    return math.prod(len(values) for values in grid.values())


def _to_recipe_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.replace("__", "."): value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
    }


class _Clock(Observer):
    """Adds up the seconds of the parts of a search."""

    def __init__(self, bench: SearchContext) -> None:
        self.bench = bench

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        self.bench.recorded += outcome.seconds
