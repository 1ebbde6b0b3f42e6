"""Oblique trees: rows going down them, and whole trees grown in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric.backend import library
from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix
from dcsvm.numeric.native import GrowthStructure, ObliqueStructure, address
from dcsvm.numeric.oblique_reference import PlaneOf, exact_products, grow_numpy
from dcsvm.numeric.pegasos import PegasosSettings, Rows, padded

#: Rows that numpy looks at together: their products stay in the processor's cache.
BLOCK_ROWS = 4096


@attrs.frozen(eq=False, slots=False)
class PlaneTree:
    """A binary tree of hyperplanes as arrays over its inner nodes, parents first.

    A row goes left where its product with the node's weights is at most the threshold. Rows and
    weights are in single precision, their products summed in double precision in one order, so
    that a row takes the same way on every machine, dense or CSR, alone or among others.

    Parameters
    ----------
    weights : (nodes, stride) float32 array
        Normals of the hyperplanes, padded with zeros.
    thresholds : (nodes,) array
    children : (nodes, 2) int32 array
        Left and right: the number of a node, or the complement `~leaf` of the number of a leaf.
    n_features : int
    """

    weights: FloatArray
    thresholds: FloatArray
    children: IntArray
    n_features: int

    @classmethod
    def leaf(cls, n_features: int) -> PlaneTree:
        """The tree without hyperplanes: every row is in leaf 0."""
        return cls(
            np.zeros((0, padded(n_features)), dtype=np.float32),
            np.zeros(0),
            np.zeros((0, 2), dtype=np.int32),
            n_features,
        )

    @property
    def n_leaves(self) -> int:
        return len(self.thresholds) + 1

    @cached_property
    def depth(self) -> int:
        """The most hyperplanes that a row can pass."""
        deep = np.ones(len(self.thresholds), dtype=np.intp)
        for node, pair in enumerate(self.children):
            for child in pair[pair >= 0]:
                deep[child] = deep[node] + 1
        return int(deep.max(initial=0))

    def route(
        self, X: Matrix, offset: FloatArray | None = None, factor: FloatArray | None = None
    ) -> tuple[IntArray, IntArray]:
        """The leaf of each row of X (n, d), and how many hyperplanes it passed.

        With an offset and a factor (d,), rows are asked as `(X - offset) * factor`; dense only.
        """
        n_rows = X.shape[0]
        leaf, passed = np.zeros(n_rows, dtype=np.int32), np.zeros(n_rows, dtype=np.int32)
        if not len(self.thresholds) or not n_rows:
            return leaf, passed
        compiled = library()
        if compiled is None:
            return self._route_numpy(X if offset is None else (X - offset) * np.asarray(factor))
        if sparse.issparse(X):
            rows = Rows.of(X)
            given = rows.structure()
            compiled.dcsvm_oblique_leaves(
                *(self._pointer, ctypes.byref(given), n_rows, address(leaf), address(passed))
            )
            return leaf, passed
        dense = np.ascontiguousarray(X, dtype=np.float64)
        done = compiled.dcsvm_oblique_route(
            *(self._pointer, address(dense), dense.shape[1], address(offset), address(factor)),
            *(n_rows, address(leaf), address(passed)),
        )
        if done < 0:
            raise MemoryError("oblique tree: no memory for a row")
        return leaf, passed

    def path(self, x: Matrix) -> list[tuple[int, float]]:
        """The nodes that the single row x (1, d) passes, with its product less the threshold."""
        row, node, passed = Rows.of(_dense(x)), 0, []
        while len(self.thresholds) and node >= 0:
            product = float(exact_products(row.dense, self.weights[node])[0])
            passed.append((node, product - float(self.thresholds[node])))
            node = int(self.children[node, int(product > self.thresholds[node])])
        return passed

    def products(self, X: Matrix, node: int) -> FloatArray:
        """The products of rows X (n, d) with a node's weights, as its threshold is asked."""
        blocks = [
            exact_products(Rows.of(_dense(X[at : at + BLOCK_ROWS])).dense, self.weights[node])
            for at in range(0, X.shape[0], BLOCK_ROWS)
        ]
        return np.concatenate(blocks)

    @cached_property
    def structure(self) -> ObliqueStructure:
        """The C struct; it holds addresses of the tree's own arrays."""
        return ObliqueStructure(
            *(self.weights.shape[1], address(self.weights)),
            *(address(self.thresholds), address(self.children)),
        )

    @property
    def _pointer(self) -> Any:
        return ctypes.byref(self.structure)

    def _route_numpy(self, X: Matrix) -> tuple[IntArray, IntArray]:
        leaf = np.zeros(X.shape[0], dtype=np.int32)
        passed = np.zeros(X.shape[0], dtype=np.int32)
        for first in range(0, X.shape[0], BLOCK_ROWS):
            values = Rows.of(_dense(X[first : first + BLOCK_ROWS])).dense
            assert values is not None
            waiting = [(0, np.arange(len(values)))]
            while waiting:
                node, here = waiting.pop()
                passed[first + here] += 1
                right = exact_products(values[here], self.weights[node]) > self.thresholds[node]
                for child, side in zip(self.children[node], (~right, right), strict=True):
                    if child < 0:
                        leaf[first + here[side]] = ~child
                    elif side.any():
                        waiting.append((int(child), here[side]))
        return leaf, passed

    def grafted(self, stumps: Mapping[int, PlaneTree]) -> tuple[PlaneTree, IntArray]:
        """Put other trees in the place of some leaves, by their numbers.

        Returns the tree, and for each of its leaves the leaf of this one that it stands for.
        """
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        origins: list[int] = []
        waiting = [_Place(self, 0 if len(self.thresholds) else ~0)]
        while waiting:
            here = waiting.pop()
            if here.at < 0 and here.tree is self and ~here.at in stumps:
                stump = stumps[~here.at]
                here = attrs.evolve(
                    here, tree=stump, at=0 if len(stump.thresholds) else ~0, origin=~here.at
                )
            if here.at < 0:
                new = ~len(origins)
                origins.append(~here.at if here.tree is self else here.origin)
            else:
                new = len(sources)
                sources.append((here.tree, here.at))
                children.append([0, 0])
                waiting += here.below(new)
            if here.parent >= 0:
                children[here.parent][here.side] = new
        return _assembled(sources, children, self.n_features), np.array(origins, dtype=np.intp)

    def cut(self, nodes: Iterable[int]) -> tuple[PlaneTree, IntArray]:
        """Make leaves of some nodes; what is below them falls away.

        Returns the tree, and for each leaf of this one the leaf that now stands for it.
        """
        stumps = set(nodes)
        home = np.zeros(self.n_leaves, dtype=np.intp)
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        n_leaves = 0
        waiting = [_Place(self, 0 if len(self.thresholds) else ~0)]
        while waiting:
            here = waiting.pop()
            if here.at < 0 or here.at in stumps:
                home[self._leaves_below(here.at)] = n_leaves
                new = ~n_leaves
                n_leaves += 1
            else:
                new = len(sources)
                sources.append((self, here.at))
                children.append([0, 0])
                waiting += here.below(new)
            if here.parent >= 0:
                children[here.parent][here.side] = new
        return _assembled(sources, children, self.n_features), home

    def _leaves_below(self, at: int) -> list[int]:
        found, waiting = [], [at]
        while waiting:
            here = waiting.pop()
            if here < 0:
                found.append(~here)
            else:
                waiting += self.children[here].tolist()
        return found


@attrs.frozen(eq=False)
class _Place:
    """Where a walk over one or more trees is: at a node, or at the complement of a leaf."""

    tree: PlaneTree
    at: int
    parent: int = -1
    side: int = 0
    origin: int = -1

    def below(self, parent: int) -> list[_Place]:
        left, right = self.tree.children[self.at].tolist()
        return [
            _Place(self.tree, right, parent, 1, self.origin),
            _Place(self.tree, left, parent, 0, self.origin),
        ]


def _assembled(
    sources: list[tuple[PlaneTree, int]], children: list[list[int]], n_features: int
) -> PlaneTree:
    """A tree of nodes taken from others."""
    if not sources:
        return PlaneTree.leaf(n_features)
    return PlaneTree(
        np.stack([tree.weights[node] for tree, node in sources]),
        np.array([tree.thresholds[node] for tree, node in sources]),
        np.array(children, dtype=np.int32),
        n_features,
    )


@attrs.frozen
class GrowthSettings:
    """How a tree is grown.

    Parameters
    ----------
    pegasos : PegasosSettings
        How hyperplanes are learned; `iterations` is the most that any node takes.
    passes : float
        How often the rows of a node are visited at the most.
    fewest : int
        A node with at most so many rows is a leaf.
    deepest : int
        A node at this depth is a leaf.
    by_impurity : bool
        Move each hyperplane to where it lowers the entropy most; or leave it where it was learned.
    """

    pegasos: PegasosSettings = attrs.field(factory=PegasosSettings)
    passes: float = 20.0
    fewest: int = 1
    deepest: int = 2**31 - 1
    by_impurity: bool = True

    def structure(self) -> GrowthStructure:
        return GrowthStructure(
            *(self.pegasos.structure(), self.passes, self.fewest, self.deepest, self.by_impurity)
        )


def grow_oblique(
    rows: Rows,
    y: IntArray,
    n_classes: int,
    masses: FloatArray | None,
    order: IntArray,
    settings: GrowthSettings,
    plane_of: PlaneOf | None = None,
) -> PlaneTree:
    """Grow an oblique tree: at every node a hyperplane between two groups of its classes.

    Parameters
    ----------
    rows : Rows
    y : (n,) int array
    n_classes : int
    masses : (n,) array, optional
        Row weights. At each node both sides weigh the same in all, whatever these say.
    order : (n,) int array
        A random permutation of the rows, the only randomness there is.
    settings : GrowthSettings
    plane_of : function, optional
        Learns a node's hyperplane instead of Pegasos, from rows (m,), signs (m,), weights (m,).

    References
    ----------
    Rodriguez-Lujan, Santa Cruz, Huerta: Hierarchical linear support vector machine (2012).
    """
    compiled = library()
    if compiled is None or plane_of is not None:
        return PlaneTree(*grow_numpy(rows, y, n_classes, masses, order, settings, plane_of))
    n, stride = rows.n_rows, rows.stride
    # Pages that no node needs are never touched.
    weights = np.empty((max(n - 1, 0), stride), dtype=np.float32)
    thresholds, children = np.empty(max(n - 1, 0)), np.empty((max(n - 1, 0), 2), dtype=np.int32)
    tree = ObliqueStructure(stride, address(weights), address(thresholds), address(children))
    given, wanted = rows.structure(), settings.structure()
    labels = np.ascontiguousarray(y, dtype=np.int32)
    mass = None if masses is None else np.ascontiguousarray(masses, dtype=np.float64)
    places = np.array(order, dtype=np.int64)
    nodes = compiled.dcsvm_oblique_grow(
        *(ctypes.byref(given), n, address(labels), n_classes, address(mass), address(places)),
        *(ctypes.byref(wanted), ctypes.byref(tree)),
    )
    if nodes < 0:
        raise MemoryError("oblique tree: no memory to grow in")
    return PlaneTree(
        *(weights[:nodes].copy(), thresholds[:nodes].copy(), children[:nodes].copy()),
        rows.n_features,
    )


def _dense(X: Matrix) -> Any:
    return X.toarray() if sparse.issparse(X) else X
