"""The rows just outside of a region."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix


class BoxBorders:
    """Finds the rows nearest to a box among rows that are sorted into boxes, without asking all.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    inside : list of int arrays
        The rows inside of each box; together they are all rows, each once.
    low, high : (boxes, d) arrays
        The corners of the boxes, infinite where a box is open.
    """

    def __init__(
        self, X: Matrix, inside: list[IntArray], low: FloatArray, high: FloatArray
    ) -> None:
        # Only features that close some box can be farther from it than nothing.
        closing = np.flatnonzero((np.isfinite(low) | np.isfinite(high)).any(axis=0))
        self.X = X[:, closing]
        self.low, self.high = low[:, closing], high[:, closing]
        self.inside = inside
        self.sizes = np.array([len(rows) for rows in inside])
        spans = [_span(self.X[rows]) for rows in inside]
        self.least = np.array([least for least, _ in spans])
        self.most = np.array([most for _, most in spans])

    def nearest(self, box: int, count: int) -> IntArray:
        """The `count` rows outside of a box with the least distance to it, ascending."""
        sides = np.flatnonzero(np.isfinite(self.low[box]) | np.isfinite(self.high[box]))
        low, high = self.low[box, sides], self.high[box, sides]
        bound = _outside(self.least[:, sides], self.most[:, sides], low, high)
        bound[box] = np.inf
        count = min(count, int(self.sizes.sum() - self.sizes[box]))
        if count < 1:
            return np.zeros(0, dtype=np.intp)
        # Whole neighbours in the order of what they promise, until they could be enough ...
        order = np.argsort(bound, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.sizes[order]), count)) + 1
        first, distances = self._distances(order[:enough], sides, low, high)
        # ... and then all neighbours that promise to be as near as the last of these.
        radius = np.partition(distances, count - 1)[count - 1]
        more, farther = self._distances(
            order[enough:][bound[order[enough:]] <= radius], sides, low, high
        )
        rows, distances = np.concatenate([first, more]), np.concatenate([distances, farther])
        return np.sort(rows[np.lexsort((rows, distances))[:count]])

    def _distances(
        self, boxes: IntArray, sides: IntArray, low: FloatArray, high: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        if len(boxes) == 0:
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        rows = np.concatenate([self.inside[other] for other in boxes])
        values = self.X[rows][:, sides]
        values = values.toarray() if sparse.issparse(values) else values
        return rows, _outside(values, values, low, high)


def _span(X: Matrix) -> tuple[FloatArray, FloatArray]:
    least, most = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        least, most = least.toarray().ravel(), most.toarray().ravel()
    return least, most


def _outside(least: FloatArray, most: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Squared distances to a box of boxes with these corners."""
    gaps = np.maximum(np.maximum(low - most, least - high), 0.0)
    return np.asarray((gaps**2).sum(axis=1))
