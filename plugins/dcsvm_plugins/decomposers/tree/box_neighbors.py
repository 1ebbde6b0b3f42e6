"""Nearest rows outside of boxes."""

import numpy as np
from scipy import sparse

from dcsvm.numeric import FloatArray, IntArray, Matrix, address, native

#: Replaces infinity, as the C code is compiled for finite numbers; squares must stay below it.
OPEN, LARGEST = 1e300, 1e100


class BoxNeighbors:
    """Finds the rows of X (n, d) nearest to each box, without computing all distances.

    `inside` are the rows of each box; every row is in one box. `low` and `high` (boxes, d) are the
    corners of the boxes, infinite if a side is open.
    """

    def __init__(
        self, X: Matrix, inside: list[IntArray], low: FloatArray, high: FloatArray
    ) -> None:
        # Features without any finite side do not matter.
        closing = np.flatnonzero((np.isfinite(low) | np.isfinite(high)).any(axis=0))
        self.rows = np.concatenate(inside)
        self.X = X[self.rows][:, closing]
        self.low, self.high = low[:, closing], high[:, closing]
        self.sizes = np.array([len(rows) for rows in inside])
        self.starts = np.cumsum([0, *self.sizes])
        spans = [_span(self.X[self._within(box)]) for box in range(len(inside))]
        self.least = np.array([least for least, _ in spans])
        self.most = np.array([most for _, most in spans])

    def nearest(self, counts: IntArray) -> list[IntArray]:
        """The nearest rows outside of each box, as many as `counts` says, ascending.

        All rows if there are fewer; ties are broken by row number.
        """
        counts = np.minimum(counts, self.sizes.sum() - self.sizes)
        compiled = native.library
        moderate = (self.least > -LARGEST).all() and (self.most < LARGEST).all()
        if compiled is None or sparse.issparse(self.X) or not moderate:
            return [self._nearest(box, int(count)) for box, count in enumerate(counts)]
        X, *corners = (
            np.ascontiguousarray(each, dtype=np.float64)
            for each in (self.X, self.least, self.most, self.low, self.high)
        )
        corners = [np.clip(each, -OPEN, OPEN) for each in corners]
        starts, rows, counts = (
            np.ascontiguousarray(each, dtype=np.int64) for each in (self.starts, self.rows, counts)
        )
        found = np.zeros(counts.sum(), dtype=np.int64)
        status = compiled.dcsvm_borders(
            *(address(X), X.shape[1], address(starts), address(rows), len(counts)),
            *(*(address(each) for each in corners), address(counts), address(found)),
        )
        if status:
            raise MemoryError("not enough memory for the rows around boxes")
        return [np.sort(each) for each in np.split(found, np.cumsum(counts)[:-1])]

    def _within(self, box: int) -> slice:
        return slice(self.starts[box], self.starts[box + 1])

    def _nearest(self, box: int, count: int) -> IntArray:
        sides = np.flatnonzero(np.isfinite(self.low[box]) | np.isfinite(self.high[box]))
        low, high = self.low[box, sides], self.high[box, sides]
        bound = _outside(self.least[:, sides], self.most[:, sides], low, high)
        bound[box] = np.inf
        if count < 1:
            return np.zeros(0, dtype=np.intp)
        # First the boxes with the smallest lower bounds, until they have enough rows ...
        order = np.argsort(bound, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.sizes[order]), count)) + 1
        first, distances = self._distances(order[:enough], sides, low, high)
        # ... then all boxes whose lower bound is within the radius found.
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
        places = np.concatenate([np.r_[self._within(other)] for other in boxes])
        values = self.X[places][:, sides]
        values = values.toarray() if sparse.issparse(values) else values
        return self.rows[places], _outside(values, values, low, high)


def _span(X: Matrix) -> tuple[FloatArray, FloatArray]:
    least, most = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        least, most = least.toarray().ravel(), most.toarray().ravel()
    return least, most


def _outside(least: FloatArray, most: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Squared distances between a box and other boxes with corners `least` and `most`."""
    gaps = np.maximum(np.maximum(low - most, least - high), 0.0)
    return np.asarray((gaps**2).sum(axis=1))
