"""The search of a recipe: combinations of its keys scored in parallel, within a time budget.

The best mean score over the folds wins; of equal scores, the combination that was tried first,
which is the middle of every list. Other choices have rules of their own: beyond the ends of lists
`grid_extension.py`, among levels of a division `level_search.py` (`rank_cells` in
`model_selection/levels.py`: fewer kernel evaluations), among recipes
`portfolio/winner_selection.py`.
"""

import itertools
import sys
import time
from collections.abc import Mapping
from typing import Any

import attrs
import joblib
import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils.parallel import Parallel, delayed

from dcsvm.base.errors import DataError
from dcsvm.base.row_splitting import deal_folds, hold_out
from dcsvm.base.threads import find_blas
from dcsvm.drive.engine import LocalExecutor
from dcsvm.drive.observers import Observer
from dcsvm.experiments.recipe import Candidate, Search, Split
from dcsvm.experiments.recipe.sections import (
    CLASS_WEIGHT,
    COSTS,
    PROBABILITY,
    THRESHOLD,
    change_search,
)
from dcsvm.experiments.run.grid_extension import Grid, extend_grid, note_edges
from dcsvm.experiments.run.level_search import search_levels
from dcsvm.experiments.run.load_data import fit_pipeline
from dcsvm.experiments.run.measures import predict_in_blocks
from dcsvm.experiments.run.search_result import (
    Maker,
    ScoredCell,
    SearchContext,
    SearchResult,
)
from dcsvm.model_selection.named_scores import Answered, rate
from dcsvm.model_selection.stop_reasons import describe_all_tried, explain_used_up
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.mapped_rows import select_rows
from dcsvm.numeric.probability_scores import needs_probabilities

#: The share of the training rows that parameters are judged by, where a recipe says nothing.
VALIDATION = 0.2
#: With a time budget, this many rows of a large set are searched first: they tell how many can be.
FEW_ROWS = 10_000


def search(
    candidate: Candidate,
    make: Maker,
    settings: Search,
    split: Split,
    X: Any,
    y: Any,
    train: IntArray,
    context: SearchContext,
) -> SearchResult:
    """Choose a candidate's parameters using only the rows `train` of X (n, d) and y (n,)."""
    given = (candidate, make, split, X, y, train, context)
    n_rows = min(settings.rows or len(train), len(train))
    if settings.seconds is None or n_rows < 2 * FEW_ROWS:
        return _search_rows(settings, *given)
    found = _search_rows(change_search(settings, rows=FEW_ROWS), *given)
    fitting = int(FEW_ROWS * (settings.seconds - context.spent) / max(context.spent, 1e-6))
    if fitting >= n_rows:
        return _search_rows(settings, *given)
    if fitting >= 2 * FEW_ROWS:
        found = _search_rows(change_search(settings, rows=fitting), *given)
    note = (
        f"; judged on {found.n_rows:,} of {n_rows:,} rows, all that {settings.seconds:g} s allow"
    )
    return attrs.evolve(found, stopped=found.stopped + note)


def _search_rows(
    settings: Search,
    candidate: Candidate,
    make: Maker,
    split: Split,
    X: Any,
    y: Any,
    train: IntArray,
    context: SearchContext,
) -> SearchResult:
    """Search on the requested number of the rows `train`."""
    n_rows, y = len(train), y[train]
    rows: IntArray = np.arange(n_rows)
    if settings.rows is not None and settings.rows < n_rows:
        rows = hold_out(y, settings.rows / n_rows, split.stratified, context.seed).test
    X, y = select_rows(X, train[rows]), y[rows]
    if settings.folds is not None:
        fold = deal_folds(y, settings.folds, split.stratified, context.seed + 1)
    else:
        fold = np.full(len(y), -1)
        share = VALIDATION if split.validation is None else split.validation
        fold[hold_out(y, share, split.stratified, context.seed + 1).test] = 0
    _check_learnable(y, fold)

    def run(grid: Grid) -> SearchResult:
        some = attrs.evolve(candidate, grid=grid)
        if candidate.uses_levels(settings):
            found = search_levels(some, make, settings, X, y, fold, context)
            return _note_sample(found, candidate, n_rows)
        return _search_cells(some, make, settings, X, y, fold, context)

    def has_time() -> bool:
        return settings.seconds is None or context.spent < settings.seconds

    found, beyond = extend_grid(run(candidate.grid), candidate.grid, run, has_time)
    return note_edges(found, candidate.grid, beyond)


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


def _check_learnable(y: Any, fold: IntArray) -> None:
    """Raise if a training fold has a single class."""
    for number in range(int(fold.max()) + 1):
        left = y[fold != number]
        if len(np.unique(left)) < 2:
            raise DataError(
                f"the search: all {len(left)} training rows of a fold (of {len(y)}) have class "
                f"{left[0]}, but a classifier needs at least two; use fewer validation rows, by "
                "folds in [search] or validation in [split]"
            )


def _search_cells(
    candidate: Candidate,
    make: Maker,
    settings: Search,
    X: Any,
    y: Any,
    fold: Any,
    context: SearchContext,
) -> SearchResult:
    cells, n_folds = _order_cells(candidate.grid, settings, context.seed), int(fold.max()) + 1
    engine = attrs.evolve(context.engine, observers=(context,))
    releases, at_a_time = candidate.classifier.releases_gil, 1
    if isinstance(engine.executor, LocalExecutor):  # a cluster trains the parts of one cell
        at_a_time = engine.count_cores() if releases else 1
        engine = attrs.evolve(engine, n_jobs=1)

    def judge(cell: Mapping[str, Any], number: int) -> tuple[float, float]:
        learned, judging = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        began = time.perf_counter()
        model = make(cell)
        if not decides:
            model[-1].set_params(probability="off")
        model = fit_pipeline(model, engine, select_rows(X, learned), y[learned])
        seconds = time.perf_counter() - began
        context.observer.on_count()
        predictions = predict_in_blocks(model, X, judging, Observer(), cost=False)
        known = Answered(
            y[judging], predictions.answers, model.classes_, predictions.probabilities
        )
        return rate(settings.score, known), seconds

    decides = needs_decisions(settings.score, candidate)
    batch = len(cells) if settings.seconds is None else at_a_time
    context.observer.on_count_begin("fits", len(cells) * n_folds, settings.seconds)
    tried: list[ScoredCell] = []
    # One thread of BLAS for all, so that cells that end do not give threads back to others.
    blas = find_blas(len(sys.modules)).limit(limits=1, user_api="blas")
    with blas, joblib.parallel_config("threading"):
        while len(tried) < len(cells):
            some = cells[len(tried) : len(tried) + batch]
            pairs = itertools.product(some, range(n_folds))
            judged = Parallel(at_a_time)(delayed(judge)(*pair) for pair in pairs)
            means = np.array(judged).T.reshape(2, len(some), n_folds).mean(axis=2).tolist()
            tried += map(ScoredCell, some, *means)
            if settings.seconds is not None and context.spent >= settings.seconds:
                break
    stopped = describe_all_tried(len(cells))
    if len(tried) < len(cells):
        stopped = explain_used_up(
            settings.seconds or 0.0, f" after {len(tried)} of {len(cells)} combinations"
        )
    best = max(tried, key=lambda each: each.score)
    return SearchResult(best.values, best.score, tuple(tried), stopped, len(y), settings.score)


def needs_decisions(score: str, candidate: Candidate) -> bool:
    """Whether probabilities matter to a search: to its score, or to labels other than usual."""
    model, searched = candidate.classifier, {name.partition(".")[0] for name in candidate.grid}
    choices = (model.class_weight, model.threshold, model.costs)
    return (
        needs_probabilities(score)
        or any(each is not None for each in choices)
        or bool(searched & {CLASS_WEIGHT, PROBABILITY, THRESHOLD, COSTS})
    )


def _order_cells(
    grid: Mapping[str, list[Any]], settings: Search, seed: int
) -> list[dict[str, Any]]:
    """The cells to try, in an order that covers the grid early."""
    cells = list(ParameterGrid(dict(grid)))
    if settings.use == "random":
        return list(
            ParameterSampler(dict(grid), min(settings.tries, len(cells)), random_state=seed)
        )
    order = np.random.default_rng(seed).permutation(len(cells))
    # A search cut short at once has tried what stands in the middle of every list.
    middle = {name: values[(len(values) - 1) // 2] for name, values in grid.items()}
    return sorted((cells[place] for place in order), key=lambda cell: cell != middle)
