"""The forecast of a run: parts, rows, memory and time, without training the models."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterSampler

from dcsvm.base.problem import Problem
from dcsvm.base.row_splitting import TrainTestRows
from dcsvm.base.seed import DIVISION, PARTS
from dcsvm.base.subproblem import Subproblem
from dcsvm.classifier import DivideAndConquerClassifier, Strategy
from dcsvm.datasets.dataset import Dataset
from dcsvm.experiments.recipe import Candidate, Recipe, Search
from dcsvm.experiments.run.grid_extension import count_open_lists
from dcsvm.experiments.run.load_data import (
    build_pipeline,
    list_feature_names,
    load,
    warn_of_unsuited,
)
from dcsvm.experiments.run.parameter_search import VALIDATION, needs_decisions
from dcsvm.experiments.run.pilot import (
    KERNEL_BYTES,
    Pilot,
    StrategyPilot,
    count_bytes,
    sample_rows,
)
from dcsvm.experiments.run.train_test_splits import split_rows
from dcsvm.model_selection.levels import parts_of
from dcsvm.numeric.array_types import IntArray

#: Parts of a stage that are divided further, and parts that are looked at: the rest is alike.
LOOKED_INTO, MOST_PARTS = 20, 2000
#: Seconds that a run takes for the checkpoint and the record of a part.
KEEPING_SECONDS = 1.3e-4
#: Combinations of a search that are tried on a sample.
SETTINGS = 8
#: Bytes that the program and its libraries take.
PROGRAM_BYTES = 150e6


@attrs.frozen
class CandidatePlan:
    """The cost of searching and training one candidate, without measuring it.

    Later stages depend on earlier ones, and are not counted.
    """

    model: str
    parts: int
    smallest: int
    median: int
    largest: int
    homogeneous: int
    combinations: int
    megabytes: float
    seconds: float


@attrs.frozen
class RunPlan:
    """The forecast of a run."""

    recipe: str
    data: str
    rows: int
    features: int
    classes: int
    n_train: int
    n_test: int
    folds: int
    jobs: int
    candidates: tuple[CandidatePlan, ...]
    #: The recipes of the portfolio that would be tried.
    portfolio: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


def plan_run(recipe: Recipe, seed: int, n_jobs: int, memory: float | None = None) -> RunPlan:
    """Read the data, divide them, train a small pilot, and forecast the rest."""
    data = load(recipe.data, memory, recipe.decomposers)
    warn_of_unsuited(recipe, data)
    splits = split_rows(data, recipe.split, seed)
    portfolio = _list_portfolio(recipe, data, splits)
    return RunPlan(
        portfolio=portfolio,
        recipe=recipe.title,
        data=data.title,
        rows=data.n_rows,
        features=data.X.shape[1],
        classes=len(np.unique(data.y)),
        n_train=len(splits[0].train),
        n_test=sum(len(rows.test) for rows in splits),
        folds=len(splits),
        jobs=n_jobs,
        candidates=tuple(
            _plan_portfolio(each, recipe, data, splits, len(portfolio))
            if portfolio and each is recipe.candidates[0]
            else _plan_candidate(each, recipe, data, splits, seed, n_jobs)
            for each in recipe.candidates
        ),
    )


def _list_portfolio(recipe: Recipe, data: Dataset, splits: list[TrainTestRows]) -> tuple[str, ...]:
    """The names of the recipes that a portfolio would try."""
    if recipe.search.use != "portfolio":
        return ()
    from dcsvm.experiments.portfolio.portfolio_recipes import count_sizes, find_portfolio

    sizes = count_sizes(data, splits[0].train)
    found = find_portfolio(recipe.candidates[0].registry, recipe.search, sizes)
    return tuple(each.name for each in found)


def _plan_portfolio(
    candidate: Candidate,
    recipe: Recipe,
    data: Dataset,
    splits: list[TrainTestRows],
    n_recipes: int,
) -> CandidatePlan:
    """The forecast of a portfolio: it takes the time that it is given."""
    n_rows, folds = len(splits[0].train), len(splits)
    seconds = (recipe.search.seconds or 0.0) * (folds + (folds > 1))
    return CandidatePlan(
        model=candidate.name,
        parts=1,
        smallest=n_rows,
        median=n_rows,
        largest=n_rows,
        homogeneous=0,
        combinations=n_recipes,
        megabytes=(PROGRAM_BYTES + 2 * count_bytes(data.X) + KERNEL_BYTES) / 1e6,
        seconds=seconds,
    )


def _plan_candidate(
    candidate: Candidate,
    recipe: Recipe,
    data: Dataset,
    splits: list[TrainTestRows],
    seed: int,
    n_jobs: int,
) -> CandidatePlan:
    train = splits[0].train
    # The seed is the run's, so that random divisions are the same ones.
    classifier = clone(candidate.classifier).set_params(random_state=seed)
    prepare = build_pipeline(classifier, recipe.data, data, {})[0]
    rows = prepare.fit_transform(data.X[train])
    problem = classifier._problem(rows, data.y[train], names=list_feature_names(prepare))
    divided = _Divided.of(classifier, problem)
    sizes, largest, pilot = divided.sizes, int(divided.sizes.max()), divided.pilot
    others = _draw_settings(candidate, recipe, data, train, seed)
    whole = StrategyPilot.of(classifier, others, problem, data.y[train])
    fitting = _forecast_fits(classifier, problem, whole, divided)
    n_fits = len(splits) + (len(splits) > 1)
    refits = len(splits) == 1 and recipe.split.refit and candidate is recipe.candidates[0]
    n_rows = min(recipe.search.rows or len(train), len(train))
    levels = _find_coarser_sizes(candidate, problem, recipe.search, n_rows)
    cells, further = _count_cells(candidate, recipe.search)
    searching = _forecast_search(candidate, recipe, n_rows, fitting)
    searching += further * sum(pilot.seconds_for(size) for level in levels for size in level)
    searching = min(searching / n_jobs, recipe.search.seconds or math.inf)
    alike = min(n_jobs, len(sizes))
    kept = max([alike * pilot.bytes_for(largest), *(pilot.bytes_for(max(s)) for s in levels)])
    final = fitting(len(train), True) / alike + KEEPING_SECONDS * len(sizes)
    return CandidatePlan(
        model=candidate.name,
        parts=len(sizes),
        smallest=int(sizes.min()),
        median=int(np.median(sizes)),
        largest=largest,
        homogeneous=round(sum(copies for _, job, copies in divided.parts if job is None)),
        combinations=cells + further * len(levels),
        megabytes=(PROGRAM_BYTES + count_bytes(data.X) + kept) / 1e6,
        seconds=n_fits * (final + searching) + refits * final * data.n_rows / len(train),
    )


def _count_cells(candidate: Candidate, search: Search) -> tuple[int, int]:
    """The combinations of a search, and those of them that it tries on coarser levels."""
    cells = _count_all_cells(candidate)
    if search.use == "random":
        cells = min(cells, search.tries)
    return cells, min(cells, search.top)


def _count_all_cells(candidate: Candidate) -> int:
    return math.prod(len(values) for values in candidate.grid.values()) if candidate.grid else 0


def _forecast_search(
    candidate: Candidate, recipe: Recipe, n_rows: int, fitting: Callable[[float, bool], float]
) -> float:
    """Seconds of all combinations on `n_rows` rows, and of one extension of each open list."""
    search = recipe.search
    cells = _count_cells(candidate, search)[0]
    if not cells:
        return 0.0
    cells += count_open_lists(candidate.grid)
    judging = 1 / search.folds if search.folds else recipe.split.validation or VALIDATION
    decides = needs_decisions(search.score, candidate)
    return cells * (search.folds or 1) * fitting(n_rows * (1 - judging), decides)


def _draw_settings(
    candidate: Candidate, recipe: Recipe, data: Dataset, train: IntArray, seed: int
) -> Iterator[tuple[DivideAndConquerClassifier, Any]]:
    """The candidate with some combinations of its search, and the rows as each prepares them."""
    n_cells = min(SETTINGS, _count_all_cells(candidate))
    for cell in ParameterSampler(candidate.grid, n_cells, random_state=seed) if n_cells else ():
        model = clone(candidate.build_classifier(cell)).set_params(random_state=seed)
        prepare = build_pipeline(model, recipe.data, data, cell)[0]
        yield model, prepare.fit_transform(data.X[train])


def _forecast_fits(
    classifier: DivideAndConquerClassifier,
    problem: Problem,
    whole: StrategyPilot | None,
    divided: _Divided,
) -> Callable[[float, bool], float]:
    """A function that gives the seconds of a fit of some rows, with or without probabilities."""
    known = {problem.n_rows: divided.seconds_by_parts()}
    if whole is not None and len(whole.sample) < problem.n_rows:
        small = _Divided.of(classifier, _take(problem, whole.sample), divided.pilot)
        known[len(whole.sample)] = small.seconds_by_parts()

    def by_parts(rows: float) -> float:
        nearest = min(known, key=lambda each: abs(each - rows))
        return known[nearest] * rows / nearest

    def forecast(rows: float, calibrated: bool) -> float:
        if whole is None:
            return by_parts(rows)
        longer = whole.settings * (whole.calibration if calibrated else 1.0)
        return whole.forecast(rows, by_parts) * longer

    return forecast


def _take(problem: Problem, rows: IntArray) -> Problem:
    """Some rows of a problem, and the classes that they have."""
    present, y = np.unique(problem.y[rows], return_inverse=True)
    return attrs.evolve(problem.subset(rows), y=y, n_classes=len(present))


@attrs.frozen
class _Divided:
    """The parts of a division with their jobs and numbers of similar parts, and a pilot."""

    parts: list[tuple[int, Subproblem | None, float]]
    seconds: float
    pilot: Pilot

    @classmethod
    def of(
        cls, model: DivideAndConquerClassifier, problem: Problem, pilot: Pilot | None = None
    ) -> _Divided:
        began = time.perf_counter()
        parts = _divide(model, problem)
        seconds = time.perf_counter() - began
        jobs = [(size, job) for size, job, _ in parts if job is not None]
        if pilot is None:
            pilot = Pilot.of(max(jobs, key=lambda each: each[0])[1]) if jobs else Pilot(0.0, 1, 0)
        return cls(parts, seconds, pilot)

    @property
    def sizes(self) -> IntArray:
        return np.repeat(
            [size for size, _, _ in self.parts],
            [max(round(copies), 1) for _, _, copies in self.parts],
        )

    def seconds_by_parts(self) -> float:
        """The seconds of dividing, and of learning each part."""
        learning = (
            self.pilot.seconds_for(size) * copies for size, job, copies in self.parts if job
        )
        return self.seconds + sum(learning)


def _find_coarser_sizes(
    candidate: Candidate, problem: Problem, search: Search, n_rows: int
) -> list[list[int]]:
    """The sizes of parts on each coarser level of a search, which may end before the last."""
    if search.levels == 1 or not candidate.uses_levels(search):
        return []
    own = candidate.classifier
    strategy = Strategy.of(own.decomposer, own.learner, own.combiner)
    some = problem if n_rows == problem.n_rows else problem.subset(sample_rows(problem, n_rows))
    found: list[list[int]] = []
    for level in strategy.decomposer.levels(some.with_child_seed(DIVISION), search.factor):
        sizes = [len(part.rows) for part in parts_of(level)]
        if not found or len(sizes) != len(found[-1]):
            found.append(sizes)
    return found[1 : search.levels]


def _divide(
    model: DivideAndConquerClassifier, problem: Problem, copies: float = 1.0
) -> list[tuple[int, Subproblem | None, float]]:
    """Each part of the first stages: its rows, its job if any, the number of similar parts."""
    strategy = Strategy.of(model.decomposer, model.learner, model.combiner)
    stages = strategy.decomposer.divide(problem.with_child_seed(DIVISION))
    parts = next(stages)
    stages.close()
    looked_at = range(0, len(parts), max(1, len(parts) // MOST_PARTS))
    copies *= len(parts) / len(looked_at)
    jobs = [
        Subproblem(
            *(problem, parts[place], parts[place].learner or strategy.learner),
            problem.seed.child(PARTS, 0, place),
        )
        for place in looked_at
    ]
    found: list[tuple[int, Subproblem | None, float]] = []
    nested = [job for job in jobs if isinstance(job.learner, DivideAndConquerClassifier)]
    looked_into = nested[:: max(1, len(nested) // LOOKED_INTO)]
    for job in jobs:
        if not isinstance(job.learner, DivideAndConquerClassifier):
            cut = job.extract()
            found.append((len(cut.rows), job if cut.n_classes > 1 else None, copies))
    for job in looked_into:
        cut = job.extract()
        share = copies * len(nested) / len(looked_into)
        if cut.constant() is not None:
            found.append((len(cut.rows), None, share))
        else:
            found += _divide(job.learner, cut.problem, share)
    return found
