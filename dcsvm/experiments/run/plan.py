"""The plan of a run: parts, rows, memory and time, forecast without training what is asked."""

from __future__ import annotations

import math
import time
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from dcsvm.base.errors import DcsvmError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import KernelExpansion, LocalModel
from dcsvm.base.problem import DIVISION, PARTS, Problem
from dcsvm.base.row_splitting import TrainTestRows
from dcsvm.base.subproblem import Subproblem
from dcsvm.classifier import DivideAndConquerClassifier, Strategy
from dcsvm.datasets.dataset import Dataset
from dcsvm.experiments.recipe import Candidate, Recipe, Search
from dcsvm.experiments.run.load_data import (
    build_pipeline,
    list_feature_names,
    load,
    warn_of_unsuited,
)
from dcsvm.experiments.run.splitting import split_rows
from dcsvm.model_selection.levels import parts_of
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.mapped_rows import MappedRows

#: Seconds grow like this power of the rows at the most; the same as the progress bar's.
GROWTH = 1.8
#: Rows of the pilot: large enough to be timed, small enough to be quick.
PILOT_ROWS = 400
#: A second sample is so many times larger, if the first one took no more than these seconds.
FURTHER, PATIENCE = 4, 0.5
#: Parts of a stage that are divided further, to see how: the rest is taken to be alike.
LOOKED_INTO = 20
#: Bytes that the program and its libraries take, and a kernel machine's matrices at the most:
#: beyond, it works on some of the rows at a time.
PROGRAM_BYTES, KERNEL_BYTES = 150e6, 400e6


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
    data = load(recipe.data, memory)
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
    from dcsvm.experiments.portfolio.entries import count_sizes, find_portfolio

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
        megabytes=(PROGRAM_BYTES + 2 * _count_bytes(data.X) + KERNEL_BYTES) / 1e6,
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
    began = time.perf_counter()
    parts = list(_divide(classifier, problem))
    dividing = time.perf_counter() - began
    sizes = np.array([size for size, _, copies in parts for _ in range(round(copies))])
    jobs = max((each for each in parts if each[1] is not None), default=None, key=lambda p: p[0])
    pilot = _Pilot.of(jobs[1]) if jobs is not None and jobs[1] is not None else _Pilot(0.0, 1, 0)
    at_least = _time_pilot(classifier, problem, data.y[train])
    learning = sum(pilot.seconds_for(size) * copies for size, job, copies in parts if job)
    seconds = max(learning, at_least)
    largest = int(sizes.max())
    fits = len(splits) + (len(splits) > 1)
    refits = len(splits) == 1 and recipe.split.refit and candidate is recipe.candidates[0]
    search = recipe.search
    cells = math.prod(len(values) for values in candidate.grid.values()) if candidate.grid else 0
    if search.use == "random":
        cells = min(cells, search.tries)
    some = min(search.rows or len(train), len(train))
    levels = _find_coarser_sizes(candidate, problem, search, some)
    further = min(cells, search.top)
    # However few rows a search takes, it learns a part of them as large as the largest.
    trial = (dividing + learning) * some / len(train)
    trial = max(trial, pilot.seconds_for(min(some, largest)), at_least)
    searching = cells * trial * (search.folds or 1)
    searching += further * sum(pilot.seconds_for(size) for level in levels for size in level)
    searching = min(searching / n_jobs, search.seconds or math.inf)
    alike = min(n_jobs, len(sizes))
    kept = max([alike * pilot.bytes_for(largest), *(pilot.bytes_for(max(s)) for s in levels)])
    return CandidatePlan(
        model=candidate.name,
        parts=len(sizes),
        smallest=int(sizes.min()),
        median=int(np.median(sizes)),
        largest=largest,
        homogeneous=round(sum(copies for _, job, copies in parts if job is None)),
        combinations=cells + further * len(levels),
        megabytes=(PROGRAM_BYTES + _count_bytes(data.X) + kept) / 1e6,
        seconds=fits * (dividing + seconds / alike + searching)
        + refits * (dividing + seconds / alike),
    )


def _find_coarser_sizes(
    candidate: Candidate, problem: Problem, search: Search, n_rows: int
) -> list[list[int]]:
    """The sizes of parts on each coarser level of a search, which may end before the last."""
    if search.levels == 1 or not candidate.uses_levels(search):
        return []
    own = candidate.classifier
    strategy = Strategy.of(own.decomposer, own.learner, own.combiner)
    some = problem if n_rows == problem.n_rows else problem.subset(_sample_rows(problem, n_rows))
    found: list[list[int]] = []
    for level in strategy.decomposer.levels(some.with_child_seed(DIVISION), search.factor):
        sizes = [len(part.rows) for part in parts_of(level)]
        if not found or len(sizes) != len(found[-1]):
            found.append(sizes)
    return found[1 : search.levels]


def _divide(
    model: DivideAndConquerClassifier, problem: Problem, copies: float = 1.0
) -> list[tuple[int, Subproblem | None, float]]:
    """Each part of the first stages: its rows, its job if it has any, how many are alike."""
    strategy = Strategy.of(model.decomposer, model.learner, model.combiner)
    stages = strategy.decomposer.divide(problem.with_child_seed(DIVISION))
    parts = next(stages)
    stages.close()
    jobs = [
        Subproblem(
            problem, part, part.learner or strategy.learner, problem.seed.child(PARTS, 0, place)
        )
        for place, part in enumerate(parts)
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


@attrs.frozen
class _Pilot:
    """What a learner took for a sample of the largest part."""

    seconds: float
    rows: int
    bytes_by_row: int
    keeps_kernel: bool = False
    #: Seconds grow like this power of the rows, as two samples say.
    power: float = GROWTH

    @classmethod
    def of(cls, job: Subproblem) -> _Pilot:
        cut = job.extract().problem
        bytes_by_row = _count_bytes(cut.X) // max(cut.n_rows, 1)
        _fit_some(job.learner, cut, PILOT_ROWS)  # the first time loads what is needed, too
        rows, seconds, model = _fit_some(job.learner, cut, PILOT_ROWS)
        kernel = isinstance(model, KernelExpansion)
        if cut.n_rows < FURTHER * PILOT_ROWS or seconds > PATIENCE:
            return cls(seconds, rows, bytes_by_row, kernel)
        more, longer, _ = _fit_some(job.learner, cut, FURTHER * PILOT_ROWS)
        power = math.log(longer / seconds) / math.log(more / rows)
        return cls(longer, more, bytes_by_row, kernel, min(max(power, 1.0), GROWTH))

    def seconds_for(self, rows: int) -> float:
        return float(self.seconds * (rows / self.rows) ** self.power)

    def bytes_for(self, rows: int) -> float:
        """The part's own rows, and what a kernel machine keeps of the values between them."""
        kernel = min(8.0 * rows**2, KERNEL_BYTES) if self.keeps_kernel else 0.0
        return rows * self.bytes_by_row + kernel


def _fit_some(
    learner: LocalLearner, problem: Problem, n_rows: int
) -> tuple[int, float, LocalModel | None]:
    """Fit some rows; return their number, the seconds and the model, if they have classes."""
    some: IntArray = np.arange(problem.n_rows)
    if problem.n_rows > n_rows:
        some = _sample_rows(problem, n_rows)
    present, y = np.unique(problem.y[some], return_inverse=True)
    small = attrs.evolve(problem.subset(some), y=y, n_classes=len(present))
    began = time.perf_counter()
    model = learner.fit(small) if len(present) > 1 else None
    return len(some), max(time.perf_counter() - began, 1e-6), model


def _time_pilot(model: DivideAndConquerClassifier, problem: Problem, labels: Any) -> float:
    """Seconds that the whole strategy takes for a few rows: it never takes less."""
    some = _sample_rows(problem, PILOT_ROWS)
    X, y = problem.X[some], labels[some]
    seconds = 0.0
    try:
        for _ in range(2):  # the first time loads what is needed, too
            began = time.perf_counter()
            clone(model).fit(X, y).predict(X)
            seconds = time.perf_counter() - began
    except DcsvmError:  # too few rows for what is asked
        return 0.0
    return seconds


def _sample_rows(problem: Problem, n_rows: int) -> IntArray:
    """Some rows, of every class at least one."""
    generator = np.random.default_rng(0)
    firsts = np.unique(problem.y, return_index=True)[1]
    others = generator.permutation(np.setdiff1d(np.arange(problem.n_rows), firsts))
    return np.sort(np.concatenate([firsts, others[: max(n_rows - len(firsts), 0)]]))


def _count_bytes(X: Any) -> int:
    """The bytes of rows in memory."""
    if isinstance(X, MappedRows):
        return 0
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
