"""The search of a recipe: scikit-learn's searchers over its keys, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs
import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
)
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.engine import Done, Engine, Runnable
from dcsvm.numeric.matrix import IntArray
from dcsvm.preparation import Prepared
from dcsvm.problem import Problem
from dcsvm.recipe import Candidate, Search, Split
from dcsvm.run.measures import score_of
from dcsvm.run.splitting import folds_of, held_out
from dcsvm.search import GranularitySearch

#: The share of the training rows that parameters are judged by, where a recipe says nothing.
VALIDATION = 0.2
#: From a cell to a classifier, with the preparation of its rows.
Maker = Callable[[Mapping[str, Any]], DivideAndConquerClassifier]


@attrs.frozen
class Tried:
    """One combination of values, and what it was worth on rows held out."""

    values: Mapping[str, Any]
    score: float
    seconds: float


@attrs.frozen
class Found:
    """What a search chose, all that it tried, and why it ended."""

    values: Mapping[str, Any]
    score: float
    tried: tuple[Tried, ...]
    stopped: str
    n_rows: int
    scored_by: str = "accuracy"

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Found:
        tried = tuple(Tried(**each) for each in table["tried"])
        return cls(**{**table, "tried": tried})


def search(
    candidate: Candidate, make: Maker, asked: Search, split: Split, X: Any, y: Any, bench: Bench
) -> Found:
    """Choose values for a candidate's grid, from the training rows X (n, d) and y (n,) only."""
    rows: IntArray = np.arange(len(y))
    if asked.rows is not None and asked.rows < len(y):
        rows = held_out(y, asked.rows / len(y), split.stratified, bench.seed)[1]
    X, y = X[rows], y[rows]
    if asked.folds is not None:
        fold = folds_of(y, asked.folds, split.stratified, bench.seed + 1)
    else:
        fold = np.full(len(y), -1)
        share = VALIDATION if split.validation is None else split.validation
        fold[held_out(y, share, split.stratified, bench.seed + 1)[1]] = 0
    if asked.use == "granularity" and candidate.has_levels:
        return _from_fine_to_coarse(candidate, make, asked, X, y, fold, bench)
    return _by_scikit_learn(candidate, make, asked, X, y, fold, bench)


@attrs.define(eq=False)
class Bench:
    """What all trials of a search share: an engine, a seed, and the time they took.

    Time is taken from the outcomes, where finished parts keep theirs: a run that is resumed sees
    its budget as used up as it was.
    """

    engine: Engine
    seed: int
    began: float = attrs.field(factory=time.monotonic)
    recorded: float = 0.0

    def __deepcopy__(self, memo: Any) -> Bench:
        return self  # scikit-learn copies an estimator's parameters, and this must stay one

    @property
    def spent(self) -> float:
        jobs = joblib.effective_n_jobs(self.engine.n_jobs)
        return float(max(time.monotonic() - self.began, self.recorded / jobs))

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None:
        self.recorded += outcome.seconds

    def round_ends(self) -> None: ...


class Trial(ClassifierMixin, BaseEstimator):
    """A candidate as an estimator whose parameters are the keys of a recipe."""

    def __init__(self, bench: Any, make: Any, values: Any = None) -> None:
        self.bench = bench
        self.make = make
        self.values = values

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"bench": self.bench, "make": self.make, "values": self.values}

    def set_params(self, **values: Any) -> Trial:
        self.values = {**(self.values or {}), **values}
        return self

    def fit(self, X: Any, y: Any) -> Trial:
        engine = attrs.evolve(self.bench.engine, n_jobs=1, watchers=(self.bench,))
        model = self.make(self.values or {})
        self.model_ = model.fit_with(engine, X, y)
        self.classes_ = model.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


class _Shared:
    """A function that scikit-learn hands on as it is, without copying what it refers to."""

    def __init__(self, function: Maker) -> None:
        self.function = function

    def __deepcopy__(self, memo: Any) -> _Shared:
        return self

    def __call__(self, cell: Mapping[str, Any]) -> DivideAndConquerClassifier:
        return self.function(cell)


class _Budgeted:
    """Cells a few at a time, in an order that covers the grid early, until time is up."""

    def set_budget(
        self, cells: list[Any], seconds: float | None, bench: Bench, at_a_time: int
    ) -> None:
        self.cells, self.seconds, self.bench = cells, seconds, bench
        self.done, self.at_a_time = 0, at_a_time

    def _run_search(self, evaluate_candidates: Callable[[Iterable[Any]], Any]) -> None:
        size = len(self.cells) if self.seconds is None else self.at_a_time
        for batch in _batches(self.cells, size):
            evaluate_candidates(batch)
            self.done += len(batch)
            if self.seconds is not None and self.bench.spent >= self.seconds:
                break


class _Grid(_Budgeted, GridSearchCV):
    """scikit-learn's grid search with a time budget."""


class _Random(_Budgeted, RandomizedSearchCV):
    """scikit-learn's random search with a time budget."""


def _by_scikit_learn(
    candidate: Candidate, make: Maker, asked: Search, X: Any, y: Any, fold: Any, bench: Bench
) -> Found:
    trial = Trial(bench, _Shared(make))
    grid = {name: list(values) for name, values in candidate.grid.items()}
    cells = list(ParameterGrid(grid))
    options = {
        "cv": PredefinedSplit(fold),
        "refit": False,
        "error_score": "raise",
        "scoring": lambda trial, X, y: score_of(asked.score, y, trial.predict(X)),
    }
    if asked.use == "random":
        wanted = min(asked.tries, len(cells))
        cells = list(ParameterSampler(grid, wanted, random_state=bench.seed))
        searcher: Any = _Random(trial, grid, n_iter=wanted, **options)
    else:
        order = np.random.default_rng(bench.seed).permutation(len(cells))
        cells = [cells[place] for place in order]
        searcher = _Grid(trial, grid, **options)
    at_a_time = _cells_at_a_time(candidate, bench)
    searcher.set_budget(cells, asked.seconds, bench, at_a_time)
    # One thread of BLAS for all, so that cells that end do not give threads back to others.
    with threadpool_limits(limits=1, user_api="blas"), joblib.parallel_config("threading"):
        searcher.set_params(n_jobs=at_a_time).fit(X, y)
    results = searcher.cv_results_
    tried = tuple(
        Tried(dict(values), float(score), float(seconds))
        for values, score, seconds in zip(
            results["params"], results["mean_test_score"], results["mean_fit_time"], strict=True
        )
    )
    stopped = f"all {len(cells)} combinations were tried"
    if searcher.done < len(cells):
        stopped = (
            f"the time budget of {asked.seconds:g} s was used up after {searcher.done} of "
            f"{len(cells)} combinations"
        )
    best = int(searcher.best_index_)
    return Found(tried[best].values, tried[best].score, tried, stopped, len(y), asked.score)


def _cells_at_a_time(candidate: Candidate, bench: Bench) -> int:
    releases = getattr(candidate.classifier, "releases_gil", True)
    return int(joblib.effective_n_jobs(bench.engine.n_jobs)) if releases else 1


def _from_fine_to_coarse(
    candidate: Candidate, make: Maker, asked: Search, X: Any, y: Any, fold: Any, bench: Bench
) -> Found:
    """The granularity search, on rows that were prepared beforehand."""
    prepared = pipeline = make({})
    training, judging = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    if isinstance(prepared.decomposer, Prepared):
        pipeline = clone(prepared.learner).set_params(class_weight=prepared.class_weight)
        codes = np.unique(y, return_inverse=True)[1]
        problem = Problem(X[training], codes[training], int(codes.max()) + 1)
        (part,) = next(prepared.decomposer.divide(problem))
        if part.view is not None:
            X = part.view.fit(problem.X).apply(X)
    grid = {name.replace(".", "__"): values for name, values in candidate.grid.items()}
    searcher = GranularitySearch(
        pipeline,
        grid or None,
        top=asked.top,
        factor=asked.factor,
        min_gain=asked.min_gain,
        seconds=asked.seconds,
        refit=False,
        random_state=bench.seed,
    )
    balanced = asked.score == "balanced_accuracy"
    searcher.fit_with(
        bench.engine,
        *(X[training], y[training]),
        X_val=X[judging],
        y_val=y[judging],
        weights_val=compute_sample_weight("balanced", y[judging]) if balanced else None,
    )
    results = searcher.results_
    tried = tuple(
        Tried(_dotted(values), float(score), float(seconds))
        for values, score, seconds in zip(
            results["params"], results["mean_test_score"], results["seconds"], strict=True
        )
    )
    best, score = _dotted(searcher.best_params_), float(searcher.best_score_)
    return Found(best, score, tried, searcher.stopped_, len(y), asked.score)


def _dotted(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _batches(cells: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(cells), size):
        yield cells[start : start + size]
