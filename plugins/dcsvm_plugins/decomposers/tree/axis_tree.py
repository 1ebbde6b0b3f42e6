"""Axis-parallel trees as arrays: the leaves of rows, and growth by histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm import Problem
from dcsvm.numeric import (
    BoolArray,
    FeatureBins,
    FloatArray,
    IntArray,
    MappedRows,
    Matrix,
    Plan,
    Step,
    Stored,
    TreeGrowth,
    axes,
    native,
)
from dcsvm.toolbox import for_each

#: A split must gain more than a rounding error; otherwise the node is halved.
NO_GAIN = 1e-12
#: Rows per block, to fit in the cache.
BLOCK_ROWS = 8192


@attrs.frozen(eq=False)
class AxisTree(Stored):
    """A binary tree as arrays over its nodes, parents first; -1 as a child marks a leaf.

    A row goes left if its value, in float32, is at most the threshold.
    """

    left: IntArray = attrs.field(metadata=axes("nodes", dtype=np.integer, at_least=-1))
    right: IntArray = attrs.field(metadata=axes("nodes", dtype=np.integer, at_least=-1))
    feature: IntArray = attrs.field(
        metadata=axes("nodes", dtype=np.integer, at_least=0, below="features")
    )
    threshold: FloatArray = attrs.field(metadata=axes("nodes"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        inner = np.flatnonzero(self.left >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        later = children > np.concatenate([inner, inner])
        whole = np.array_equal(np.sort(children), np.arange(1, sizes["nodes"]))
        if not (whole and later.all() and np.array_equal(self.left < 0, self.right < 0)):
            raise ValueError(
                "AxisTree.left and AxisTree.right must name every node but the root once, after "
                "its parent"
            )
        return sizes

    def leaves(self, X: Matrix) -> IntArray:
        """The leaf of each row of X (n, d)."""
        if self.feature.max(initial=0) >= X.shape[1]:
            raise ValueError(
                f"tree: rows have {X.shape[1]} features, but {self.feature.max()} is one of its "
                "features"
            )
        leaf = np.zeros(X.shape[0], dtype=np.int64)
        if self.left[0] < 0 or len(leaf) == 0:
            return leaf
        compiled = native.library
        if compiled is not None and not sparse.issparse(X):
            # Rows of a file are read block by block, so that they need not fit in memory.
            blocks = X.blocks() if isinstance(X, MappedRows) else (X,)
            first = 0
            for block in blocks:
                self._descend_compiled(compiled, block, leaf[first : first + len(block)])
                first += len(block)
            return leaf
        for first, values, column in self._blocks(X):
            leaf[first : first + len(values)] = self._descend(values, column)
        return leaf

    def add_to_plan(self, plan: Plan, member: IntArray, n_features: int) -> Step:
        """Add the choice of `member` (nodes,) by the leaf of a row to a plan."""
        nodes = self.left, self.right, self.feature, self.threshold
        return plan.axis_tree(*nodes, member, n_features)

    def path(self, x: Matrix) -> list[tuple[int, float]]:
        """The inner nodes that the single row x (1, d) passes, with its value at each."""
        values, node, passed = to_float32(x)[0], 0, []
        while self.left[node] >= 0:
            value = values[self.feature[node]]
            passed.append((node, float(value)))
            node = self.left[node] if value <= self.threshold[node] else self.right[node]
        return passed

    def children(self) -> list[tuple[int, ...]]:
        """The children of each node, none of a leaf."""
        pairs = np.column_stack([self.left, self.right]).tolist()
        return [tuple(pair) if pair[0] >= 0 else () for pair in pairs]

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

    def _descend_compiled(self, compiled: Any, X: FloatArray, leaf: IntArray) -> None:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        nodes = [
            np.ascontiguousarray(each, dtype=np.int64)
            for each in (self.left, self.right, self.feature)
        ]
        threshold = np.ascontiguousarray(self.threshold, dtype=np.float32)
        compiled.dcsvm_leaves(
            *(rows.ctypes, *rows.shape, *(each.ctypes for each in nodes)),
            *(threshold.ctypes, leaf.ctypes),
        )

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


@attrs.define(eq=False)
class GrowingTree:
    """A growing tree as arrays over its nodes, parents before their children."""

    left: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    right: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    feature: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    threshold: FloatArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.float32))
    rows: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    gain: FloatArray = attrs.field(factory=lambda: np.zeros(0))
    alike: BoolArray = attrs.field(factory=lambda: np.zeros(0, dtype=bool))

    def graft(self, stem: int, **added: Any) -> int:
        """Add a tree, given as its arrays, below a node; return the number of its root."""
        first = len(self.left)
        if stem >= 0:
            (self.left if self.left[stem] < 0 else self.right)[stem] = first
        for side in ("left", "right"):
            added[side] = np.where(added[side] < 0, -1, added[side] + first)
        added["alike"] = np.zeros(len(added["left"]), dtype=bool)
        for name, values in added.items():
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, values.astype(before.dtype)]))
        return first

    def halve(self, node: int, X: Matrix) -> list[IntArray]:
        """Split a leaf with rows X as evenly as possible; return the rows of both sides."""
        found = _find_halving(X)
        if found is None:
            self.alike[node] = True
            return []
        feature, threshold = found
        goes_left = _take_column(X, feature) <= threshold
        self.feature[node], self.threshold[node] = feature, threshold
        return [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]

    def cut(self, ceiling: int) -> GrowingTree:
        """Return the tree with all nodes of at most `ceiling` rows as leaves."""
        return self._keep((self.left >= 0) & (self.rows > ceiling))

    def group_leaves(self, n_rows: int) -> list[IntArray]:
        """The numbers of the leaves, in groups below the topmost nodes of up to `n_rows` rows."""
        inner = self.left >= 0
        top = np.where(~inner | (self.rows <= n_rows), np.arange(len(inner)), -1)
        for node in np.flatnonzero(inner):
            if top[node] >= 0:  # parents come before their children
                top[self.left[node]] = top[self.right[node]] = top[node]
        _, group = np.unique(top[~inner], return_inverse=True)
        order = np.argsort(group, kind="stable")
        return np.split(order, np.cumsum(np.bincount(group))[:-1])

    def sum_gains_below(self, ceiling: int, n_features: int) -> FloatArray:
        """Sum the gain of each feature in the splits that `cut(ceiling)` removes.

        There is one row for each leaf of the cut tree, in order.
        """
        inner = self.left >= 0
        kept = inner & (self.rows > ceiling)
        leaf, leaves = np.full(len(inner), -1), 0
        for node in range(len(inner)):
            if not kept[node] and leaf[node] < 0:
                leaf[node], leaves = leaves, leaves + 1
            if inner[node] and not kept[node]:
                leaf[self.left[node]] = leaf[self.right[node]] = leaf[node]
        gains = np.zeros((leaves, n_features))
        below = inner & ~kept
        np.add.at(gains, (leaf[below], self.feature[below]), self.gain[below])
        return gains

    def collapse(self, nodes: IntArray) -> GrowingTree:
        """Return the tree with these nodes as leaves."""
        inner = self.left >= 0
        inner[nodes] = False
        for node in range(len(inner)):
            # Parents come before their children, so this reaches all nodes below.
            if not inner[node] and self.left[node] >= 0:
                inner[self.left[node]] = inner[self.right[node]] = False
        return self._keep(inner)

    def _keep(self, inner: BoolArray) -> GrowingTree:
        kept = np.zeros(len(self.left), dtype=bool)
        kept[0] = kept[self.left[inner]] = kept[self.right[inner]] = True
        number = np.cumsum(kept) - 1
        return GrowingTree(
            np.where(inner, number[self.left], -1)[kept],
            np.where(inner, number[self.right], -1)[kept],
            self.feature[kept],
            self.threshold[kept],
            self.rows[kept],
            self.gain[kept],
            self.alike[kept],
        )

    def tree(self) -> AxisTree:
        return AxisTree(self.left, self.right, self.feature, self.threshold)


@attrs.frozen
class SplitSettings:
    """Settings of the search for splits; nodes of up to `smallest` rows are never split."""

    criterion: str
    splitter: str
    max_features: float
    ceiling: int
    smallest: int


def grow_by_histograms(problem: Problem, settings: SplitSettings) -> GrowingTree:
    """Grow a tree over binned features, and halve impure leaves that are above the ceiling."""
    growth = TreeGrowth(
        problem.X,
        problem.y,
        problem.n_classes,
        problem.weights,
        _find_bins(problem, settings),
        smallest=settings.smallest,
        tried=max(1, int(settings.max_features * problem.n_features)),
        gini=settings.criterion == "gini",
        random=settings.splitter == "random",
        least_gain=NO_GAIN,
    )
    grown, rows = GrowingTree(), np.arange(problem.n_rows)
    key = int(problem.seed.generator().integers(2**63))
    waiting = [(0, len(rows), key, -1)]
    while waiting:
        begin, count, key, stem = waiting.pop()
        nodes = growth.grow(rows, begin, count, key, for_each)
        fields = ("left", "right", "feature", "threshold", "gain")
        first = grown.graft(stem, rows=nodes["count"], **{name: nodes[name] for name in fields})
        large = (nodes["left"] < 0) & (nodes["count"] > settings.ceiling) & (nodes["mixed"] > 0)
        for leaf in np.flatnonzero(large).tolist():
            start, size = int(nodes["begin"][leaf]), int(nodes["count"][leaf])
            mine = rows[start : start + size]
            sides = grown.halve(first + leaf, problem.X[mine])
            if not sides:
                continue
            rows[start : start + size] = mine[np.concatenate(sides)]
            middle, end = start + len(sides[0]), start + size
            left_key, right_key = TreeGrowth.side_keys(int(nodes["key"][leaf]))
            waiting.append((middle, end - middle, right_key, first + leaf))
            waiting.append((start, middle - start, left_key, first + leaf))
    return grown.cut(settings.smallest)


def _find_bins(problem: Problem, settings: SplitSettings) -> FeatureBins | None:
    """The bins of the features, which all trees of a forest share; None if none are needed."""
    if sparse.issparse(problem.X) or not TreeGrowth.needs_bins(problem.n_rows, settings.smallest):
        return None
    return problem.once("feature bins", lambda: FeatureBins.of(problem.X, for_each))


def _find_halving(X: Matrix) -> tuple[int, FloatArray] | None:
    """Find the most even split as (feature, threshold); None if all rows are identical."""
    best, least = None, np.inf
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    for feature in range(X.shape[1]):
        values, counts = np.unique(_take_column(X, feature), return_counts=True)
        if len(values) > 1:
            difference = np.abs(2 * np.cumsum(counts)[:-1] - X.shape[0])
            at = difference.argmin()
            if difference[at] < least:
                middle = values[at].astype(float) / 2 + values[at + 1].astype(float) / 2
                best, least = (feature, round_thresholds(middle)[()]), difference[at]
    return best


def _take_column(X: Matrix, feature: int) -> FloatArray:
    """Return one feature of all rows in float32, which scikit-learn's trees compare in."""
    values = X[:, [feature]].toarray().ravel() if sparse.issparse(X) else X[:, feature]
    return np.asarray(values, dtype=np.float32)


def to_float32(X: Matrix) -> FloatArray:
    """Convert X to a dense float32 array, in which scikit-learn's trees compare values."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32, order="C")


def round_thresholds(threshold: FloatArray) -> FloatArray:
    """Round down to float32, which gives the same comparisons with float32 values."""
    rounded = np.asarray(threshold).astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > threshold, below, rounded)
