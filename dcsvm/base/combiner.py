"""Combiner: turns the answers of a committee into one score per class and row."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Protocol

from dcsvm.base.component import Component
from dcsvm.base.decomposer import YIELDS
from dcsvm.base.problem import Problem
from dcsvm.numeric.array_types import FloatArray, Matrix

if TYPE_CHECKING:
    from dcsvm.drawing import Scene
    from dcsvm.drive.committee.committee import Committee


class Combination(Protocol):
    """A combiner after fitting: all that is asked of it is to combine."""

    def combine(self, committee: Committee, X: Matrix) -> FloatArray: ...


class Combiner(Component):
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

        Called once per fit when every member is trained. `answers` is (n, columns), what
        `committee.table` says of the training rows (with `folds`, what committees without the row
        say), or None where the class does not want them. What is returned must be `self` or one of
        the `stored_types`.
        """
        return self

    @abstractmethod
    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Score rows X (n, d) as (n, n_classes); NaN where no member can speak for a class.

        Ask through `committee.answers(X)`, or lazily through `committee.ask(...)`: both count
        what was asked.
        """

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        """Say in sentences how the answer for the single row x (1, d) came about."""
        return []

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how answers are combined, like `Router.overview`.

        A combiner that learns is asked through what its `fit` returned, if that has the method.
        """
        return ""
