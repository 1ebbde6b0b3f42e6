"""Held-out rows, and what the models of parts answered to them: combined, and scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.member import Member
from dcsvm.base.models import LocalModel, winners
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Router
from dcsvm.base.row_splitting import deal_folds_by_class
from dcsvm.drive.calibration import Calibration, exponentiate, fit_curve
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import Group
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.model_selection.named_scores import Answered, rate
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.mapped_rows import take_rows
from dcsvm.numeric.probability_scores import (
    LOSSES,
    PROBABILITY_SCORES,
    needs_probabilities,
    score_probabilities,
)
from dcsvm.numeric.row_plan import Plan, Step

#: Each half of the rows that are rated by probabilities has the curve of the other one.
HALVES = 2


@attrs.frozen(eq=False)
class HeldOut:
    """Rows to judge by: X (n, d), classes y (n,) with -1 for unknown ones, weights (n,).

    `total` is the weight of all held-out rows, if these are some of them. `labels` (n,) are the
    classes of the rows as they are called, unknown ones too, and `classes` those that are known.
    """

    X: Matrix
    y: IntArray
    weights: FloatArray
    total: float = attrs.field(
        default=attrs.Factory(lambda held_out: float(held_out.weights.sum()), takes_self=True)
    )
    labels: Any = None
    classes: Any = None

    def subset(self, rows: IntArray) -> HeldOut:
        """Some of the rows, to be sent to another process."""
        return HeldOut(take_rows(self.X, rows), self.y[rows], self.weights[rows], self.total)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def share(self, right: BoolArray, rows: IntArray) -> float:
        """The weight of those of `rows` that were answered right, as a share of all held out."""
        return float(self.weights[rows][right].sum() / self.total)


@attrs.frozen(eq=False)
class RecordedAnswers:
    """Recorded answers in place of a model: X (n, 1) holds row numbers.

    No LocalModel, for it is never kept.
    """

    rows: IntArray
    values: FloatArray

    def scores(self, X: Matrix) -> FloatArray:
        places = np.searchsorted(self.rows, X[:, 0].astype(np.intp))
        return np.asarray(self.values[places])

    def margins(self, X: Matrix) -> FloatArray:
        return self.scores(X)

    def labels(self, X: Matrix) -> IntArray:
        return winners(self.scores(X))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return None


def combine_answers(
    recorded: Sequence[RecordedAnswers],
    codes: Sequence[IntArray],
    groups: Iterable[tuple[int, Router | None]],
    combiner: Combiner,
    problem: Problem,
    n_rows: int,
) -> IntArray:
    """The winning class of rows 0 .. n_rows - 1, from the recorded answers of the members."""
    composite = build_recorded(recorded, codes, groups, combiner, problem)
    return composite.labels(number_rows(n_rows))


def build_recorded(
    recorded: Sequence[RecordedAnswers],
    codes: Sequence[IntArray],
    groups: Iterable[tuple[int, Router | None]],
    combiner: Combiner,
    problem: Problem,
    sizes: Sequence[int] | None = None,
) -> FittedStrategy:
    """A strategy that repeats recorded answers, by row number, of members with `sizes` rows."""
    members = tuple(
        Member(cast(LocalModel, one), code, n_rows=size)
        for one, code, size in zip(recorded, codes, sizes or [0] * len(recorded), strict=True)
    )
    seats, first = [], 0
    for size, router in groups:
        seats.append(Group(first, first + size, router))
        first += size
    committee = Committee(members, tuple(seats), problem.n_classes)
    return FittedStrategy(committee, combiner.fit(committee, problem, None))


def number_rows(n_rows: int) -> FloatArray:
    """The rows (n, 1) that recorded answers know."""
    return np.arange(n_rows, dtype=float)[:, None]


def calibrate_margins(model: FittedStrategy, held_out: HeldOut) -> FloatArray:
    """Probabilities of the held-out rows by a model that repeats its margins."""
    rows = number_rows(held_out.n_rows)
    margins, missing_class_mass = (
        model.class_margins(rows),
        model.committee.missing_class_mass(rows),
    )
    y, weights = held_out.y, held_out.weights
    fold_of = deal_folds_by_class(
        np.maximum(y, 0), margins.shape[1], HALVES, np.random.default_rng(0)
    )
    logs = np.zeros_like(margins)
    for fold in range(HALVES):
        learned, rated = np.flatnonzero((fold_of != fold) & (y >= 0)), fold_of == fold
        curve = _fit(margins[learned], y[learned], weights[learned])
        logs[rated] = curve.apply(margins[rated], missing_class_mass[rated].__getitem__)
    logs[fold_of < 0] = np.log(1.0 / margins.shape[1])
    return exponentiate(logs)


def rate_answers(scoring: str, model: FittedStrategy, held_out: HeldOut) -> float:
    """A score, the larger the better, of a model that repeats its answers or its margins."""
    if not needs_probabilities(scoring):
        winners = model.labels(number_rows(held_out.n_rows))
        return _rate_by_name(scoring, held_out, winners)
    probabilities = calibrate_margins(model, held_out)
    if scoring not in PROBABILITY_SCORES:
        return _rate_by_name(scoring, held_out, probabilities.argmax(axis=1), probabilities)
    found = score_probabilities(scoring, probabilities, held_out.y, held_out.weights)
    return -found if scoring in LOSSES else found


def _rate_by_name(
    scoring: str, held_out: HeldOut, winners: IntArray, probabilities: FloatArray | None = None
) -> float:
    """A score of scikit-learn for the classes that rows were given, and their probabilities."""
    names, weights = held_out.classes, held_out.weights
    weighted = None if (weights == weights[0]).all() else weights
    return rate(scoring, Answered(held_out.labels, names[winners], names, probabilities, weighted))


def _fit(margins: FloatArray, y: IntArray, weights: FloatArray) -> Calibration:
    priors = np.bincount(y, weights, minlength=margins.shape[1])
    curve: dict[str, Any] = fit_curve(margins, y, weights)
    return Calibration("margins", class_priors=priors / max(priors.sum(), 1e-300), **curve)
