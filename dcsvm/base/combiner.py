"""Combiner: turns the scores of a committee's members into one score per class and row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dcsvm.base.component import Component
from dcsvm.base.decomposer import YIELDS
from dcsvm.base.problem import Problem
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    from dcsvm.drawing import Scene
    from dcsvm.drive.committee.committee import Committee


class Combination(ABC):
    """A fitted combiner, as returned by `Combiner.fit`.

    A combiner that learns nothing returns itself. Others return an attrs class that is listed in
    their `stored_types`.
    """

    @abstractmethod
    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Score rows X (n, d) as (n, n_classes); NaN for a class that no member scores.

        Query all members with `committee.answers(X)`, or some with `committee.ask(...)`; both
        count the cost.
        """

    def labels(self, committee: Committee, X: Matrix) -> IntArray | None:
        """The predicted class of each row of X (n, d), as (n,), if that is faster than scores.

        `predict` calls this first. None means the class with the largest score.
        """
        return None

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        """Explain in sentences the prediction for the single row x (1, d)."""
        return []

    def picture(self, committee: Committee, x: Matrix, names: Sequence[Any]) -> str:
        """Draw the prediction for the single row x (1, d) as SVG, for `explain`.

        `names` are the class names.
        """
        return ""

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how scores are combined, for a report, like `Router.overview`."""
        return ""


class Combiner(Component, Combination):
    """Turns the scores of a committee's members into one score per class and row."""

    #: The entries of YIELDS that this combiner can work with.
    accepts: ClassVar[frozenset[str]] = YIELDS
    #: Whether `fit` needs the members' scores of the training rows.
    wants_answers: ClassVar[bool] = False
    #: With `wants_answers`: 0 for in-sample scores, k for out-of-fold scores from k folds.
    folds: int = 0

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> Combination:
        """Learn how to combine; most combiners learn nothing and return themselves.

        Called once per fit, after all members are trained. `answers` (n, columns) is
        `committee.table` of the training rows (with `folds`, of committees trained without the
        row), or None if the combiner does not want it.
        """
        return self
