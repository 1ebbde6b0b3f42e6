"""The search of a recipe: scikit-learn's searchers over its keys, within a time budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
)
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from dcsvm.base.errors import DataError
from dcsvm.base.row_splitting import deal_folds, hold_out
from dcsvm.base.threads import ONE_BLAS_THREAD
from dcsvm.experiments.recipe import Candidate, Search, Split
from dcsvm.experiments.run.level_search import search_levels
from dcsvm.experiments.run.load_data import fit_pipeline
from dcsvm.experiments.run.measures import compute_score
from dcsvm.experiments.run.search_result import (
    Maker,
    ScoredCell,
    SearchContext,
    SearchResult,
    explain_used_up,
)
from dcsvm.model_selection.levels import describe_all_tried
from dcsvm.numeric.array_types import IntArray

#: The share of the training rows that parameters are judged by, where a recipe says nothing.
VALIDATION = 0.2


def search(
    candidate: Candidate,
    make: Maker,
    asked: Search,
    split: Split,
    X: Any,
    y: Any,
    bench: SearchContext,
) -> SearchResult:
    """Choose values for a candidate's grid, from the training rows X (n, d) and y (n,) only."""
    n_rows = len(y)
    rows: IntArray = np.arange(n_rows)
    if asked.rows is not None and asked.rows < n_rows:
        rows = hold_out(y, asked.rows / n_rows, split.stratified, bench.seed).test
    X, y = X[rows], y[rows]
    if asked.folds is not None:
        fold = deal_folds(y, asked.folds, split.stratified, bench.seed + 1)
    else:
        fold = np.full(len(y), -1)
        share = VALIDATION if split.validation is None else split.validation
        fold[hold_out(y, share, split.stratified, bench.seed + 1).test] = 0
    _check_learnable(y, fold)
    if candidate.uses_levels(asked):
        found = search_levels(candidate, make, asked, X, y, fold, bench)
        found = _note_sample(found, candidate, n_rows)
    else:
        found = _search_cells(candidate, make, asked, X, y, fold, bench)
    return _note_edges(found, candidate.grid)


def _note_sample(found: SearchResult, candidate: Candidate, n_rows: int) -> SearchResult:
    """Note that a division judged on a sample may divide all rows further."""
    of_division = (name for name in found.values if name.startswith("decomposer."))
    chosen = [name for name in of_division if name not in candidate.grid]
    if found.n_rows == n_rows or not chosen:
        return found
    note = (
        f"{found.stopped}; {' and '.join(chosen)} was judged on {found.n_rows:,} of {n_rows:,} "
        "rows and may divide all of them further"
    )
    return attrs.evolve(found, stopped=note)


def _note_edges(found: SearchResult, grid: Mapping[str, Any]) -> SearchResult:
    """Note chosen values that are the smallest or largest of their list."""
    note = found.stopped
    for name, values in grid.items():
        numbers = [value for value in values if isinstance(value, (int, float))]
        if len(numbers) < 3 or found.values.get(name) not in (min(numbers), max(numbers)):
            continue
        end = "largest" if found.values[name] == max(numbers) else "smallest"
        note += f"; {name} is the {end} that was listed, one beyond it may be better"
    return attrs.evolve(found, stopped=note)


def _check_learnable(y: Any, fold: IntArray) -> None:
    """Raise if a training fold has a single class."""
    for number in range(int(fold.max()) + 1):
        left = y[fold != number]
        if len(np.unique(left)) < 2:
            raise DataError(
                f"the search: the {len(left)} of {len(y)} rows left to learn from, while the "
                f"others judge, are all of class {left[0]}: a classifier needs two classes or "
                "more; let fewer rows judge, by folds in [search] or validation in [split]"
            )


class CandidateEstimator(ClassifierMixin, BaseEstimator):
    """A candidate as an estimator whose parameters are the keys of a recipe."""

    def __init__(self, bench: Any, make: Any, values: Any = None) -> None:
        self.bench = bench
        self.make = make
        self.values = values

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"bench": self.bench, "make": self.make, "values": self.values}

    def set_params(self, **values: Any) -> CandidateEstimator:
        self.values = {**(self.values or {}), **values}
        return self

    def fit(self, X: Any, y: Any) -> CandidateEstimator:
        engine = attrs.evolve(self.bench.engine, n_jobs=1, observers=(self.bench,))
        model = self.make(self.values or {})
        self.model_ = fit_pipeline(model, engine, X, y)
        self.classes_ = model.classes_
        self.bench.observer.on_count()
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


class _Shared:
    """A function that scikit-learn hands on as it is, without copying what it refers to."""

    def __init__(self, function: Maker) -> None:
        self.function = function

    def __deepcopy__(self, memo: Any) -> _Shared:
        return self

    def __call__(self, cell: Mapping[str, Any]) -> Pipeline:
        return self.function(cell)


class _Budgeted:
    """Cells a few at a time, in an order that covers the grid early, until time is up."""

    def set_budget(
        self, cells: list[Any], seconds: float | None, bench: SearchContext, at_a_time: int
    ) -> None:
        self.cells, self.seconds, self.bench = cells, seconds, bench
        self.done, self.at_a_time = 0, at_a_time

    def _run_search(self, evaluate_candidates: Callable[[Iterable[Any]], Any]) -> None:
        size = len(self.cells) if self.seconds is None else self.at_a_time
        for start in range(0, len(self.cells), size):
            batch = self.cells[start : start + size]
            evaluate_candidates(batch)
            self.done += len(batch)
            if self.seconds is not None and self.bench.spent >= self.seconds:
                break


class _Grid(_Budgeted, GridSearchCV):
    """scikit-learn's grid search with a time budget."""


class _Random(_Budgeted, RandomizedSearchCV):
    """scikit-learn's random search with a time budget."""


def _search_cells(
    candidate: Candidate,
    make: Maker,
    asked: Search,
    X: Any,
    y: Any,
    fold: Any,
    bench: SearchContext,
) -> SearchResult:
    trial = CandidateEstimator(bench, _Shared(make))
    grid = {name: list(values) for name, values in candidate.grid.items()}
    cells = list(ParameterGrid(grid))
    options = {
        "cv": PredefinedSplit(fold),
        "refit": False,
        "error_score": "raise",
        "scoring": lambda trial, X, y: compute_score(asked.score, y, trial.predict(X)),
    }
    if asked.use == "random":
        wanted = min(asked.tries, len(cells))
        cells = list(ParameterSampler(grid, wanted, random_state=bench.seed))
        searcher: Any = _Random(trial, grid, n_iter=wanted, **options)
    else:
        order = np.random.default_rng(bench.seed).permutation(len(cells))
        cells = [cells[place] for place in order]
        # A search cut short at once has tried what stands in the middle of every list.
        middle = {name: values[(len(values) - 1) // 2] for name, values in grid.items()}
        cells.sort(key=lambda cell: cell != middle)
        searcher = _Grid(trial, grid, **options)
    releases = getattr(candidate.classifier, "releases_gil", True)
    at_a_time = int(joblib.effective_n_jobs(bench.engine.n_jobs)) if releases else 1
    n_fits = len(cells) * (int(fold.max()) + 1)
    bench.observer.on_count_begin("fits", n_fits, asked.seconds)
    searcher.set_budget(cells, asked.seconds, bench, at_a_time)
    # One thread of BLAS for all, so that cells that end do not give threads back to others.
    with threadpool_limits(**ONE_BLAS_THREAD), joblib.parallel_config("threading"):
        searcher.set_params(n_jobs=at_a_time).fit(X, y)
    results = searcher.cv_results_
    tried = tuple(
        ScoredCell(dict(values), float(score), float(seconds))
        for values, score, seconds in zip(
            results["params"], results["mean_test_score"], results["mean_fit_time"], strict=True
        )
    )
    stopped = describe_all_tried(len(cells))
    if searcher.done < len(cells):
        stopped = explain_used_up(asked, f" after {searcher.done} of {len(cells)} combinations")
    best = int(searcher.best_index_)
    return SearchResult(tried[best].values, tried[best].score, tried, stopped, len(y), asked.score)
