"""Combiner: turns the scores of a committee's members into one score per class and row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dcsvm.base.component import Component
from dcsvm.base.decomposer import YIELDS
from dcsvm.base.errors import ContractError
from dcsvm.base.problem import Problem
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import Stored

if TYPE_CHECKING:
    from dcsvm.drawing import Scene
    from dcsvm.drive.committee.committee import Committee


class Combination(Stored, ABC):
    """A fitted combiner, as returned by `Combiner.fit`.

    A combiner that learns nothing returns itself. Others return an attrs class that is listed in
    their `stored_types`.
    """

    #: Whether `labels` asks the committee for all that it needs, so that `cost` can count it.
    counts_labels: ClassVar[bool] = False

    @abstractmethod
    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Score rows X (n, d) as (n, n_classes); NaN for a class that no member scores.

        Query all members with `committee.answers(X)`, or some with `committee.ask(...)`; both
        count the cost.

        Called by `predict`, `decision_function` and `cost` with chunks of rows, from several
        threads: modify neither the committee nor X.
        """

    def labels(self, committee: Committee, X: Matrix) -> IntArray | None:
        """The predicted class of each row of X (n, d), as (n,), if that is faster than scores.

        `predict` calls this first. None means the class with the largest score.
        """
        return None

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step | None:
        """Add the way of combining to a plan.

        A plan without `votes` is one of margins: add what `margins` does, and None if that is
        something else. Called when single rows are first predicted. None means: ask `combine`, or
        `margins`, in Python.
        """
        return None

    def margins(self, committee: Committee, X: Matrix) -> FloatArray:
        """The scores that probabilities are learned from: like `combine`, but without votes.

        The committee answers with the margins of its members. Override it where `combine` counts
        votes of members, or asks only some of those that know a class.

        Called with rows X (n, d), in training and at prediction, if probabilities are wanted.
        """
        return self.combine(committee, X)

    def probabilities(self, committee: Committee, X: Matrix) -> FloatArray | None:
        """The probabilities of rows X (n, d), as (n, n_classes), from those of the members.

        None, the default, if there are none; the core then learns them from the margins, even if
        members have some. To use those, `return committee.mean_probabilities(X)`. A sum below one
        leaves the rest to classes without any probability.

        Called by `predict_proba` of a classifier with probabilities.
        """
        return None

    def check_committee(self, committee: Committee) -> None:
        """Raise ValueError if the members of a committee cannot be combined.

        Called when a model file is loaded or saved. The default compares the axes `classes` and
        `members` of array fields.
        """
        self.check_stored(classes=committee.n_classes, members=len(committee.members))

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        """Explain in sentences the prediction for the single row x (1, d).

        Called by `explain`.
        """
        return []

    def picture(self, committee: Committee, x: Matrix, names: Sequence[Any]) -> str:
        """Draw the prediction for the single row x (1, d) as SVG, for `explain`.

        `names` are the class names. Called by `explain` in a notebook and by reports.
        """
        return ""

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how scores are combined, for a report, like `Router.overview`.

        Called once per report of a run.
        """
        return ""


class Combiner(Component, Combination):
    """Turns the scores of a committee's members into one score per class and row."""

    #: The words of YIELDS, and declared ones, that this combiner can work with.
    accepts: ClassVar[frozenset[str]] = YIELDS
    #: Words of its own in `accepts`, with their meaning, unless a decomposer declares them.
    declares: ClassVar[Mapping[str, str]] = {}
    #: Whether `fit` needs the members' scores of the training rows.
    wants_answers: ClassVar[bool] = False
    #: With `wants_answers`: 0 for in-sample scores, k for out-of-fold scores from k folds. It may
    #: also be a setting, as in `folds: int = setting(3, help=...)`. If the division of a fold has
    #: other parts than that of all rows, the fit raises a CompositionError.
    folds: int = 0

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> Combination:
        """Learn how to combine; most combiners learn nothing and return themselves.

        Called once per fit, after all members are trained. `answers` (n, columns) is
        `committee.table` of the training rows (with `folds`, of committees trained without the
        row), or None if the combiner does not want it: without routers, columns `starts[m]` to
        `starts[m + 1] - 1` of it are those of member m. If folds are divided into other parts, the
        fit raises a CompositionError.
        """
        return self


def fit_combination(
    combiner: Combiner, committee: Committee, problem: Problem, answers: FloatArray | None
) -> Combination:
    """What `fit` of a combiner returns; raise if that is no combination."""
    combination = combiner.fit(committee, problem, answers)
    if not isinstance(combination, Combination):
        raise ContractError(
            f"{type(combiner).__name__}.fit must return a Combination, such as the combiner "
            f"itself, got {combination!r}"
        )
    return combination
