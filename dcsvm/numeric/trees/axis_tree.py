"""Axis-parallel trees as arrays, and the leaves of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.native import address

#: Rows per block, to fit in the cache.
BLOCK_ROWS = 8192


@attrs.frozen(eq=False)
class AxisTree:
    """A binary tree as arrays over its nodes, parents first; -1 as a child marks a leaf.

    A row goes left if its value, in float32, is at most the threshold.
    """

    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray

    def leaves(self, X: Matrix) -> IntArray:
        """The leaf of each row of X (n, d)."""
        leaf = np.zeros(X.shape[0], dtype=np.int64)
        if self.left[0] < 0 or len(leaf) == 0:
            return leaf
        compiled = native.library
        if compiled is not None and not sparse.issparse(X):
            return self._descend_compiled(compiled, X, leaf)
        for first, values, column in self._blocks(X):
            leaf[first : first + len(values)] = self._descend(values, column)
        return leaf

    def path(self, x: Matrix) -> list[tuple[int, float]]:
        """The inner nodes that the single row x (1, d) passes, with its value at each."""
        values, node, passed = to_float32(x)[0], 0, []
        while self.left[node] >= 0:
            value = values[self.feature[node]]
            passed.append((node, float(value)))
            node = self.left[node] if value <= self.threshold[node] else self.right[node]
        return passed

    def boxes(self, n_features: int) -> tuple[FloatArray, FloatArray]:
        """The box of each leaf in the order of nodes: lower and upper corners, (leaves, d)."""
        low = np.full((len(self.left), n_features), -np.inf, dtype=np.float32)
        high = np.full((len(self.left), n_features), np.inf, dtype=np.float32)
        for node in np.flatnonzero(self.left >= 0):
            for child, corner in ((self.left[node], high), (self.right[node], low)):
                low[child], high[child] = low[node], high[node]
                corner[child, self.feature[node]] = self.threshold[node]
        is_leaf = self.left < 0
        return low[is_leaf], high[is_leaf]

    def _blocks(self, X: Matrix) -> Iterator[tuple[int, FloatArray, IntArray]]:
        """Yield blocks of rows with the features in use, and the column of each node."""
        used = np.unique(self.feature[self.left >= 0])
        some = len(used) < X.shape[1]
        column = np.searchsorted(used, self.feature) if some else self.feature
        for first in range(0, X.shape[0], BLOCK_ROWS):
            block = X[first : first + BLOCK_ROWS]
            yield first, to_float32(block[:, used] if some else block), column

    def _descend_compiled(self, compiled: Any, X: FloatArray, leaf: IntArray) -> IntArray:
        # Named, so that the arrays are alive while C reads them.
        rows = np.ascontiguousarray(X, dtype=np.float64)
        nodes = [
            np.ascontiguousarray(each, dtype=np.int64)
            for each in (self.left, self.right, self.feature)
        ]
        threshold = np.ascontiguousarray(self.threshold, dtype=np.float32)
        compiled.dcsvm_leaves(
            *(address(rows), *rows.shape, *(address(each) for each in nodes)),
            *(address(threshold), address(leaf)),
        )
        return leaf

    def _descend(self, values: FloatArray, column: IntArray) -> IntArray:
        leaf = np.zeros(len(values), dtype=np.intp)
        row = np.arange(len(values))
        node, start = np.zeros(len(row), dtype=np.intp), row * values.shape[1]
        children = np.column_stack([self.right, self.left]).ravel()
        flat = values.ravel()
        while len(row):
            goes_left = flat.take(start + column.take(node)) <= self.threshold.take(node)
            node = children.take(2 * node + goes_left)
            arrived = self.left.take(node) < 0
            if arrived.any():
                leaf[row[arrived]] = node[arrived]
                row, node, start = row[~arrived], node[~arrived], start[~arrived]
        return leaf


def to_float32(X: Matrix) -> FloatArray:
    """Convert X to a dense float32 array, in which scikit-learn's trees compare values."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32, order="C")


def round_thresholds(threshold: FloatArray) -> FloatArray:
    """Round down to float32, which gives the same comparisons with float32 values."""
    rounded = np.asarray(threshold).astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > threshold, below, rounded)
