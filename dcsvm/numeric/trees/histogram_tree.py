"""Growing an axis-parallel tree from histograms of binned features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.native import TreeGrowthStructure
from dcsvm.numeric.trees import histogram_numpy
from dcsvm.numeric.trees.feature_bins import FeatureBins, ForEach, in_turn, to_single

#: Nodes of at most this many rows are searched by sorting, at every value.
SORTED_ROWS = 2048
#: The top of a tree is grown node by node until each node has at most one in SUBTREES of its rows;
#: the subtrees below may run in threads. A histogram is filled by CHUNKS calls.
SUBTREES, CHUNKS = 32, 4
#: Sums of whole numbers up to this one are exact.
LARGEST_SUM = 2.0**52
#: A histogram with more cells takes more memory than it saves time.
MOST_CELLS = 2**24

#: A node: its children (-1 for a leaf), its split, its rows as a range, the key of its random
#: numbers, what the split gains, and whether it holds several classes.
NODE = np.dtype(
    {
        "names": ["left", "right", "feature", "begin", "count", "key", "gain", "threshold",
                  "mixed"],
        "formats": [*["<i8"] * 5, "<u8", "<f8", "<f4", "<i4"],
    },
    align=True,
)  # fmt: skip
Nodes = npt.NDArray[Any]


@attrs.frozen(eq=False)
class TreeGrowth:
    """Rows X (n, d) of classes y (n,), and settings, to grow trees with.

    Values are compared in single precision; a missing value (NaN) is larger than all others.
    `weights` (n,) are rounded to multiples of their sum / 2^52, so that sums do not depend on
    their order. Without `bins`, as for sparse rows, all nodes are searched at every value. Nodes
    of at most `smallest` rows are leaves; `tried` features that are not constant are tried at a
    split, which must gain `least_gain`, as a share of all weight. `gini` is the impurity in place
    of entropy, and `random` draws thresholds in place of the best ones.

    Notes
    -----
    A node that is searched by its histogram has its cut moved to the best one among the values
    beside it. The same tree grows with any number of threads, and with NumPy.
    """

    X: Matrix
    y: IntArray
    classes: int
    weights: FloatArray | None = None
    bins: FeatureBins | None = None
    smallest: int = 1
    tried: int | None = None
    gini: bool = False
    random: bool = False
    least_gain: float = 1e-12
    sorted_rows: int = SORTED_ROWS

    @staticmethod
    def needs_bins(n_rows: int, smallest: int) -> bool:
        """Whether the root of so many rows is searched by its histogram."""
        return n_rows > max(SORTED_ROWS, smallest)

    def grow(
        self, rows: IntArray, begin: int, count: int, key: int, each: ForEach = in_turn
    ) -> Nodes:
        """Grow the tree of rows[begin : begin + count], which are reordered; return its nodes.

        The rows of each node are then a range of `rows`. Parents come before their children.
        """
        grown = _Growing(self._prepare(), rows, each)
        return grown.grow(begin, count, key)

    @staticmethod
    def side_keys(key: int) -> tuple[int, int]:
        """The keys of the two sides of a node that is split by the caller."""
        left, right = histogram_numpy.LEFT_KEY, histogram_numpy.RIGHT_KEY
        return histogram_numpy.mix(key + left), histogram_numpy.mix(key + right)

    def _prepare(self) -> _Prepared:
        X, y = self.X, np.ascontiguousarray(self.y, dtype=np.int32)
        if sparse.issparse(X):
            X = sparse.csr_array(X, copy=True)
            X.sum_duplicates()
            X.data = to_single(X.data)
            X.eliminate_zeros()
        else:
            X = np.ascontiguousarray(X, dtype=np.float64)
        masses = None if self.weights is None else round_weights(self.weights)
        total = float(len(y) if masses is None else masses.sum())
        tried = X.shape[1] if self.tried is None else self.tried
        bins = self.bins
        if bins is not None and bins.starts[-1] * self.classes > MOST_CELLS:
            bins = None
        return _Prepared(
            X, y, self.classes, masses, bins, self.smallest, tried, self.gini, self.random,
            self.least_gain * total, self.sorted_rows,
        )  # fmt: skip


def round_weights(weights: FloatArray) -> FloatArray:
    """Scale weights to whole numbers of at least 1 with an exact sum."""
    exponent = np.floor(np.log2(LARGEST_SUM / weights.sum(dtype=np.float64)))
    whole = np.maximum(np.rint(np.ldexp(weights.astype(np.float64), int(exponent))), 1.0)
    return np.asarray(whole)


@attrs.frozen(eq=False)
class _Prepared:
    """A TreeGrowth with its arrays as C takes them."""

    X: Matrix
    y: npt.NDArray[np.int32]
    classes: int
    masses: FloatArray | None
    bins: FeatureBins | None
    smallest: int
    tried: int
    gini: bool
    random: bool
    least_gain: float
    sorted_rows: int

    def structure(self) -> tuple[TreeGrowthStructure, list[Any]]:
        """The C struct, and the arrays that must live as long."""
        bins, dense = self.bins, not sparse.issparse(self.X)
        arrays: list[Any] = [self.X, None, None, None]
        if not dense:
            indices = self.X.indices.astype(np.int32), self.X.indptr.astype(np.int64)
            arrays = [None, self.X.data, *indices]
        binned = (bins.codes, bins.starts, bins.uppers, bins.exact) if bins else (None,) * 4
        arrays += [*binned, self.y, self.masses]
        settings = (self.smallest, self.sorted_rows, self.tried, self.gini, self.random)
        sizes = self.X.shape[1], self.classes
        assert all(each is None or each.flags.c_contiguous for each in arrays)
        places = [None if each is None else each.ctypes.data for each in arrays]
        filled = TreeGrowthStructure(*sizes, *places, self.least_gain, *map(int, settings))
        return filled, arrays


class _Growing:
    """A tree while it grows: its top node by node, then the subtrees below, in threads."""

    def __init__(self, given: _Prepared, rows: IntArray, each: ForEach) -> None:
        self.given, self.rows, self.each = given, rows, each
        self.structure, self.alive = given.structure()
        self.library = native.library

    def grow(self, begin: int, count: int, key: int) -> Nodes:
        root = np.zeros(1, dtype=NODE)
        root["begin"], root["count"], root["key"] = begin, count, key
        root["left"] = root["right"] = -1
        top, waiting = [root[0]], [0]
        if self._is_large(count):
            waiting = self._grow_top(top, count)
        subtrees: dict[int, Nodes] = {}

        def grow_below(number: int) -> None:
            subtrees[number] = self._grow_subtree(top[number])

        if waiting == [0]:
            return self._grow_subtree(root[0])
        waiting.sort(key=lambda number: -int(top[number]["count"]))
        self.each(grow_below, [(number,) for number in waiting])
        return _join(top, [(number, subtrees[number]) for number in sorted(waiting)])

    def _is_large(self, count: int) -> bool:
        given = self.given
        return given.bins is not None and count > max(given.sorted_rows, given.smallest)

    def _grow_top(self, top: list[Any], count: int) -> list[int]:
        """Split large nodes one by one; return the nodes below which subtrees are left to grow."""
        small: list[int] = []
        large: list[tuple[int, FloatArray | None]] = [(0, None)]
        while large:
            number, histogram = large.pop()
            node = top[number]
            if not self._is_large(node["count"]) or SUBTREES * node["count"] <= count:
                small.append(number)
                continue
            histogram = self._fill(node) if histogram is None else histogram
            done, (top[number], *sides) = self._split(node, histogram)
            if not done:
                continue
            top[number]["left"], top[number]["right"] = len(top), len(top) + 1
            large += self._share(sides, histogram, len(top))
            top += sides
        return small

    def _share(
        self, sides: list[Any], histogram: FloatArray, first: int
    ) -> Iterator[tuple[int, FloatArray | None]]:
        """Yield both sides with their histograms: one is filled, the other one subtracted."""
        less = int(sides[0]["count"] > sides[1]["count"])
        filled = self._fill(sides[less]) if self._is_large(sides[1 - less]["count"]) else None
        yield first + less, filled
        yield first + 1 - less, None if filled is None else histogram - filled

    def _fill(self, node: Any) -> FloatArray:
        """The histogram of a node, filled in chunks; sums of whole numbers have no order."""
        bins = self.given.bins
        assert bins is not None
        edges = np.linspace(node["begin"], node["begin"] + node["count"], CHUNKS + 1).astype(int)
        filled = np.zeros((CHUNKS, int(bins.starts[-1]) * self.given.classes))

        def fill(chunk: int) -> None:
            some = self.rows[edges[chunk] : edges[chunk + 1]]
            if self.library is None:
                filled[chunk] = histogram_numpy.fill_histogram(self.given, some)
            else:
                self.library.dcsvm_fill_histogram(
                    *(self.structure, some.ctypes, len(some), filled[chunk].ctypes)
                )

        self.each(fill, [(chunk,) for chunk in range(CHUNKS)])
        return np.asarray(filled.sum(axis=0))

    def _split(self, node: Any, histogram: FloatArray) -> tuple[int, list[Any]]:
        nodes = np.zeros(3, dtype=NODE)
        nodes[0] = node
        if self.library is None:
            done = histogram_numpy.split_node(self.given, self.rows, nodes, histogram)
        else:
            done = self.library.dcsvm_split_node(
                *(self.structure, self.rows.ctypes, nodes.ctypes, histogram.ctypes)
            )
        _check_memory(done)
        return done, list(nodes)

    def _grow_subtree(self, root: Any) -> Nodes:
        nodes = np.empty(2 * int(root["count"]), dtype=NODE)
        nodes[0] = root
        if self.library is None:
            used = histogram_numpy.grow_tree(self.given, self.rows, nodes)
        else:
            used = self.library.dcsvm_grow_tree(*(self.structure, self.rows.ctypes, nodes.ctypes))
        _check_memory(used)
        return nodes[:used].copy()


def _check_memory(done: int) -> None:
    if done < 0:
        raise MemoryError("tree: not enough memory to grow the tree")


def _join(top: list[Any], subtrees: list[tuple[int, Nodes]]) -> Nodes:
    """Attach the subtrees to their nodes of the top."""
    joined, first = [np.array(top, dtype=NODE)], len(top)
    for number, nodes in subtrees:
        for side in ("left", "right"):
            # The root of a subtree is a node of the top.
            nodes[side] += np.where(nodes[side] < 0, 0, first - 1)
        joined[0][number] = nodes[0]
        joined.append(nodes[1:])
        first += len(nodes) - 1
    return np.concatenate(joined)
