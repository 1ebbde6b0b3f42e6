"""Pilots of a forecast: what learners and whole strategies take for samples of the rows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from dcsvm.base.errors import DcsvmError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import KernelExpansion, LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.subproblem import Subproblem
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.mapped_rows import MappedRows

#: Seconds grow like this power of the rows at the most; the same as the progress bar's.
GROWTH = 1.8
#: Seconds grow like this power of the classes at the most: each row is asked of each pair.
CLASS_GROWTH = 3.0
#: Rows of the first sample, which are doubled so many times at the most, while it is quick.
PILOT_ROWS, DOUBLINGS, PATIENCE = 400, 3, 0.3
#: A sample is predicted in part, as a search judges by a fifth of its rows.
JUDGED = 5
#: Seconds after which no further settings of a search are tried.
TRYING = 2.0
#: Rows of a class in a sample: of many classes, it holds some instead of a few rows of each.
CLASS_ROWS = 20
#: Bytes of a kernel machine's matrices at the most: beyond, it works on some rows at a time.
KERNEL_BYTES = 400e6


@attrs.frozen
class Pilot:
    """What a learner took for a sample of a part, and how the seconds grow with the rows."""

    seconds: float
    rows: int
    bytes_by_row: int
    keeps_kernel: bool = False
    power: float = GROWTH

    @classmethod
    def of(cls, job: Subproblem) -> Pilot:
        cut = job.extract().problem
        models: list[LocalModel | None] = []

        def fit(some: IntArray) -> None:
            models.append(_fit_some(job.learner, cut, some))

        timed = time_samples(fit, cut)
        rows, seconds = timed[-1]
        return cls(
            seconds,
            rows,
            count_bytes(cut.X) // max(cut.n_rows, 1),
            isinstance(models[-1], KernelExpansion),
            find_power(timed, cut),
        )

    def seconds_for(self, rows: float) -> float:
        return float(self.seconds * (rows / self.rows) ** self.power)

    def bytes_for(self, rows: int) -> float:
        """The part's own rows, and what a kernel machine keeps of the values between them."""
        kernel = min(8.0 * rows**2, KERNEL_BYTES) if self.keeps_kernel else 0.0
        return rows * self.bytes_by_row + kernel


@attrs.frozen
class StrategyPilot:
    """What a whole strategy took for samples: rows and seconds, and the rows of the largest.

    `calibration` is how many times longer it takes with probabilities, and `settings` how many
    times longer with settings of a search than with its own, on average.
    """

    timed: list[tuple[int, float]]
    sample: IntArray
    power: float
    calibration: float = 1.0
    settings: float = 1.0

    @classmethod
    def of(
        cls,
        model: DivideAndConquerClassifier,
        others: Iterable[tuple[DivideAndConquerClassifier, Any]],
        problem: Problem,
        labels: Any,
    ) -> StrategyPilot | None:
        """None if a sample has too few rows.

        `others` are models with other settings and all rows as they want them; as many are tried
        as are quick.
        """
        samples: list[IntArray] = []

        def fit(
            some: IntArray, estimator: Any = model, rows: Any = problem.X, way: Any = "off"
        ) -> float:
            samples.append(some)
            X, began = rows[some], time.perf_counter()
            estimator = clone(estimator).set_params(probability=way)
            estimator.fit(X, labels[some]).predict(X[::JUDGED])
            return max(time.perf_counter() - began, 1e-6)

        try:
            timed = time_samples(fit, problem)
            own, sample = timed[-1][1], samples[-1]
            wanted = model.probability
            longer = fit(sample, way=wanted) if wanted != "off" else own
            seconds: list[float] = []
            for other, rows in others:
                seconds.append(fit(sample, other, rows))
                if sum(seconds) > TRYING:
                    break
        except DcsvmError:
            return None
        spread = float(np.mean(seconds)) / own if seconds else 1.0
        return cls(timed, sample, find_power(timed, problem), max(longer / own, 1.0), spread)

    def forecast(self, rows: float, by_parts: Callable[[float], float]) -> float:
        """Seconds for so many rows, without probabilities.

        `by_parts` gives the seconds of the parts that this many rows are divided into. What the
        strategy took beyond its parts is taken to grow with them. A further row takes as long as
        those of the samples did at least.
        """
        last, seconds = self.timed[-1]
        if rows <= last:
            return float(seconds * rows / last)
        fewer, before = self.timed[-2] if len(self.timed) > 1 else (0, 0.0)
        by_row = max(seconds - before, 0.0) / max(last - fewer, 1)
        guess = seconds * by_parts(rows) / max(by_parts(last), 1e-9)
        most = seconds * (rows / last) ** max(self.power, GROWTH)
        return float(min(max(guess, seconds + by_row * (rows - last)), most))


def time_samples(fit: Callable[[IntArray], Any], problem: Problem) -> list[tuple[int, float]]:
    """Rows and seconds of fits of growing samples; the first, which loads things, runs twice."""
    timed: list[tuple[int, float]] = []
    for doubling in range(DOUBLINGS + 1):
        some = sample_rows(problem, PILOT_ROWS << doubling)
        if timed and (len(some) < 1.5 * timed[-1][0] or timed[-1][1] > PATIENCE):
            break
        if not timed:
            fit(some)
        began = time.perf_counter()
        fit(some)
        timed.append((len(some), max(time.perf_counter() - began, 1e-6)))
    return timed


def find_power(timed: list[tuple[int, float]], problem: Problem) -> float:
    """The power of the rows that seconds grow by; with many classes, of rows and classes."""
    many = problem.n_classes * CLASS_ROWS > timed[-1][0]
    most = CLASS_GROWTH if many else GROWTH
    if len(timed) < 2:
        return min(2.0, most)
    (few, quick), (more, slow) = timed[-2:]
    return min(max(math.log(slow / quick) / math.log(more / few), 1.0), most)


def sample_rows(problem: Problem, n_rows: int) -> IntArray:
    """Some rows, of every class at least one; of many classes only some, to scale with them."""
    if problem.n_rows <= n_rows:
        return np.arange(problem.n_rows)
    generator = np.random.default_rng(0)
    by_class = max(n_rows / problem.n_classes, min(problem.n_rows / problem.n_classes, CLASS_ROWS))
    n_classes = min(problem.n_classes, max(2, round(n_rows / by_class)))
    kept = generator.permutation(problem.n_classes)[:n_classes]
    ids = np.flatnonzero(np.isin(problem.y, kept))
    firsts = ids[np.unique(problem.y[ids], return_index=True)[1]]
    others = generator.permutation(np.setdiff1d(ids, firsts))
    return np.sort(np.concatenate([firsts, others[: max(n_rows - len(firsts), 0)]]))


def _fit_some(learner: LocalLearner, problem: Problem, some: IntArray) -> LocalModel | None:
    """The model of some rows, if they have several classes."""
    present, y = np.unique(problem.y[some], return_inverse=True)
    if len(present) < 2:
        return None
    return learner.fit(attrs.evolve(problem.subset(some), y=y, n_classes=len(present)))


def count_bytes(X: Any) -> int:
    """The bytes of rows in memory."""
    if isinstance(X, MappedRows):
        return 0
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
