"""Answers: the scores of queried members, and their sums, votes and margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.pair_votes import STEEPNESS

if TYPE_CHECKING:
    from dcsvm.drive.committee.committee import Committee

#: Exponents beyond this could overflow when they are summed.
LARGEST_EXPONENT = 300.0


@attrs.frozen(eq=False)
class Answers:
    """The scores of some members for some rows.

    Parameters
    ----------
    rows : (r,) int array
        Rows of X, each at most once.
    members : (m,) int array
    values : (r, columns of these members) array
    code : (columns, classes) array, or CSR matrix if large
        The members' codes, stacked.
    owner : (columns,) int array
        The position in `members` of each column's member.
    weights : (r, m) array, optional
        The router's weights; None means 1.
    """

    rows: IntArray
    members: IntArray
    values: FloatArray
    code: Any
    owner: IntArray
    weights: FloatArray | None = None

    def sums(self) -> FloatArray:
        """The weighted sums of scores for minus scores against each class: (r, classes).

        Called by combiners that add scores, such as `mean`.
        """
        return np.asarray(self._apply_weights(self.values) @ self.code)

    def total_weights(self) -> FloatArray:
        """The total weight of the columns that score each class: (r, classes).

        Called by combiners; zero for a class that no queried member scores.
        """
        return self._total(abs(self.code))

    def gains(self) -> FloatArray:
        """The weighted sums of the columns with each class on the positive side: (r, classes).

        Called by combiners that compare classes by members of their own, such as `argmax`.
        """
        return np.asarray(self._apply_weights(self.values) @ (self.code > 0))

    def positive_weights(self) -> FloatArray:
        """The total weight of the columns with each class on the positive side: (r, classes).

        Called by combiners that divide `gains` by it.
        """
        return self._total(self.code > 0)

    def votes(self) -> FloatArray:
        """The weighted number of members that vote for each class: (r, classes).

        Called by combiners that count votes, such as `vote`.
        """
        wins = np.where(self.values > 0, 1.0, -1.0)
        single = np.bincount(self.owner, minlength=len(self.members))[self.owner] == 1
        if single.all():
            # A column votes for the classes whose code has its sign.
            return np.asarray(self._apply_weights(wins) @ self.code + self.total_weights()) / 2.0
        wins[:, ~single] = 0.0
        for position in np.unique(self.owner[~single]):
            columns = np.flatnonzero(self.owner == position)
            best = self.values[:, columns].argmax(axis=1)
            wins[np.arange(len(wins)), columns[best]] = 1.0
        wins = self._apply_weights(wins)
        return np.asarray(wins @ self.code + np.abs(wins) @ abs(self.code)) / 2.0

    def _total(self, counted: Any) -> FloatArray:
        """The total weight of the columns marked in a table (columns, classes)."""
        if self.weights is None:
            total = np.empty((len(self.rows), counted.shape[1]))
            total[:] = counted.sum(axis=0)
            return total
        return np.asarray(self.weights[:, self.owner] @ counted)

    def _apply_weights(self, values: FloatArray) -> FloatArray:
        return values if self.weights is None else values * self.weights[:, self.owner]


def mean_or_nan(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Return `sums / counts`, NaN where the count is zero."""
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def rank_classes(scores: FloatArray, most: int = 3) -> list[int]:
    """Return the classes with the largest scores (n_classes,), best first, without NaN."""
    best = np.argsort(-scores, kind="stable")[:most].tolist()
    return [label for label in best if not np.isnan(scores[label])]


def are_pairs(committee: Committee) -> bool:
    """Whether each column of a committee separates two of three or more classes."""
    code = committee.code
    return committee.n_classes > 2 and bool((abs(code).sum(axis=1) == 2).all())


def couple_pairs(committee: Committee, X: Matrix) -> FloatArray:
    """The margin (n, n_classes) of each class against its rivals; NaN if it has none.

    All pairs are asked about every row of X. See `pair_margins` for the formula.
    """
    lost = np.zeros((X.shape[0], committee.n_classes))
    met = np.zeros_like(lost)
    for answers in committee.answers(X):
        exponents = STEEPNESS * answers.values
        np.clip(exponents, -LARGEST_EXPONENT, LARGEST_EXPONENT, out=exponents)
        weights = 1.0 if answers.weights is None else answers.weights[:, answers.owner]
        lost[answers.rows] += (np.exp(-exponents) * weights) @ (answers.code > 0)
        lost[answers.rows] += (np.exp(exponents) * weights) @ (answers.code < 0)
        met[answers.rows] += answers.total_weights()
    return np.where(met > 0.0, -np.log1p(lost) / STEEPNESS, np.nan)
