"""What all recipes of a portfolio are measured by: folds, judges, and the time they will take."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dcsvm.base.row_splitting import deal_folds
from dcsvm.experiments.portfolio.blending import Judge
from dcsvm.experiments.portfolio.budget import Pace
from dcsvm.experiments.portfolio.entries import Entry
from dcsvm.experiments.portfolio.recipe_trials import PILOT, Bench, Trial, TrialRows
from dcsvm.numeric.array_types import IntArray

#: The folds of the rows, and how many rows of one judge at the most.
FOLDS, MANY_JUDGES = 5, 20000
#: Forecasts for more than so many times the measured rows may be so many times too high.
FAR, ROUGH = 4, 4


@attrs.define
class Course:
    """A recipe and its trials so far."""

    entry: Entry
    trials: list[Trial] = attrs.field(factory=list)
    fit: Pace = attrs.field(factory=Pace)
    answer: Pace = attrs.field(factory=Pace)
    out: str = ""

    @property
    def last(self) -> Trial:
        return self.trials[-1]

    def add(self, trial: Trial) -> None:
        if trial.error:
            self.out = trial.error
            return
        self.trials.append(trial)
        self.fit = attrs.evolve(self.fit, power=trial.growth)
        if trial.pilot_seconds:
            self.fit = self.fit.add(trial.n_rows // PILOT, trial.pilot_seconds)
        self.fit = self.fit.add(trial.n_rows, trial.fit_seconds)
        by_row = trial.predict_seconds / max(trial.n_judged, 1)
        self.answer = self.answer.add(trial.n_rows, by_row)

    def forecast(self, n_rows: int, n_judged: int) -> float:
        """The seconds of a fit and of the answers."""
        return self.fit.forecast(n_rows) + n_judged * self.answer.forecast(n_rows)

    def find(self, rung: int, fold: int) -> Trial | None:
        """The trial on a sample of this size that these held-out rows judged."""
        found = (each for each in self.trials if (each.rung, each.fold) == (rung, fold))
        return next(found, None)


@attrs.frozen(eq=False)
class Tournament:
    """The rows `train`, dealt into folds, and what follows the search.

    `finals` are fits of so many rows, and answers for so many.
    """

    bench: Bench
    train: IntArray
    finals: Sequence[tuple[int, int]]
    _dealt: dict[int, TrialRows] = attrs.field(factory=dict, init=False)

    def deal(self, fold: int) -> TrialRows:
        """All rows except a fold, which is used for validation."""
        if fold not in self._dealt:
            home = deal_folds(self.bench.y[self.train], FOLDS, True, self.bench.seed)
            learned, judged = self.train[home != fold], self.train[home == fold]
            judged = np.random.default_rng(fold).permutation(judged)[:MANY_JUDGES]
            self._dealt[fold] = TrialRows(learned, judged, len(self.train), fold)
        return self._dealt[fold]

    def judge(self, fold: int, n_judged: int) -> Judge:
        """What scores the answers to the first judging rows of a fold."""
        rows = self.deal(fold).judged[:n_judged]
        return Judge(self.bench.y[rows], self.bench.classes, self.bench.score)

    def rank(self, courses: Sequence[Course], rung: int) -> list[Course]:
        """Best first, by the rows of the first fold that judged."""
        known = [(each, each.find(rung, 0)) for each in courses]
        rated = [
            (self.judge(0, trial.n_judged).rate(trial.shares), each)
            for each, trial in known
            if trial is not None
        ]
        return [each for _, each in sorted(rated, key=lambda pair: pair[0], reverse=True)]

    def finish_seconds(self, course: Course | None) -> float:
        """The forecast of what comes after the search, with this recipe."""
        if course is None or not course.trials:
            return 0.0
        return sum(course.forecast(*each) for each in self.finals)

    def find_reserve(self, courses: Sequence[Course]) -> float:
        """The time to reserve for the steps after the search."""
        return min((self.hope_seconds(each) for each in courses if each.trials), default=0.0)

    def hope_seconds(self, course: Course) -> float:
        """What comes after the search, at best: far from what was measured, forecasts are rough.

        More rows are tried on this hope, and then the forecast is better.
        """
        seconds = self.finish_seconds(course)
        is_far = bool(course.trials) and course.last.n_rows * FAR < self.finals[-1][0]
        return seconds / ROUGH if is_far else seconds
