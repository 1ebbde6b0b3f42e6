"""Combiner: turns the answers of a committee into one score per class and row."""

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
    """A fitted combiner: what `Combiner.fit` returns and a model keeps.

    A combiner with nothing to learn is its own Combination. One that learns returns an attrs
    class, listed in its `stored_types`.
    """

    @abstractmethod
    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Score rows X (n, d) as (n, n_classes); NaN where no member can speak for a class.

        Ask through `committee.answers(X)`, or lazily through `committee.ask(...)`: both count
        what was asked.
        """

    def labels(self, committee: Committee, X: Matrix) -> IntArray | None:
        """The winning class of each row X (n, d), as (n,), if that is quicker than scores.

        `predict` asks this first. None: the class with the largest score wins.
        """
        return None

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        """Say in sentences how the answer for the single row x (1, d) came about."""
        return []

    def picture(self, committee: Committee, x: Matrix, names: Sequence[Any]) -> str:
        """Draw as SVG how the answer for the single row x (1, d) came about, for `explain`.

        `names` are those of the classes.
        """
        return ""

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how answers are combined, for a report, like `Router.overview`."""
        return ""


class Combiner(Component, Combination):
    """Turns the committee's answers into one score per class and row."""

    #: The words of YIELDS this combiner can work with.
    accepts: ClassVar[frozenset[str]] = YIELDS
    #: Whether `fit` wants the members' answers on the training rows.
    wants_answers: ClassVar[bool] = False
    #: With `wants_answers`: 0 for in-sample answers, k for answers from k folds.
    folds: int = 0

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> Combination:
        """Learn how to combine; most combiners have nothing to learn and return themselves.

        Called once per fit, when every member is trained. `answers` is (n, columns), what
        `committee.table` says of the training rows (with `folds`, what committees without the row
        say), or None if the combiner does not want them.
        """
        return self
