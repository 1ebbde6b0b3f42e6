"""Oblique trees as arrays, and rows going down them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.linear.pegasos_solver import Float32Rows, pad_width
from dcsvm.numeric.native import ObliqueStructure, address
from dcsvm.numeric.trees.oblique_numpy import exact_products

#: Float32Rows that numpy looks at together: their products stay in the processor's cache.
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

    weights: FloatArray = attrs.field(repr=False)
    thresholds: FloatArray = attrs.field(repr=False)
    children: IntArray = attrs.field(repr=False)
    n_features: int

    @classmethod
    def leaf(cls, n_features: int) -> PlaneTree:
        """The tree without hyperplanes: every row is in leaf 0."""
        return cls(
            np.zeros((0, pad_width(n_features)), dtype=np.float32),
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
        compiled = native.library
        if compiled is None:
            return self._route_numpy(X if offset is None else (X - offset) * np.asarray(factor))
        if sparse.issparse(X):
            rows = Float32Rows.of(X)
            given = rows.structure()
            compiled.dcsvm_oblique_leaves(
                *(self._pointer, ctypes.byref(given), n_rows, address(leaf), address(passed))
            )
            return leaf, passed
        dense = np.ascontiguousarray(X, dtype=np.float64)
        done = compiled.dcsvm_oblique_route(
            *(self._pointer, address(self.lengths), address(dense), dense.shape[1]),
            *(address(offset), address(factor), n_rows, address(leaf), address(passed)),
        )
        if done < 0:
            raise MemoryError("oblique tree: no memory for a row")
        return leaf, passed

    def path(self, x: Matrix) -> list[tuple[int, float]]:
        """The nodes that the single row x (1, d) passes, with its product less the threshold."""
        row, node, passed = Float32Rows.of(_dense(x)), 0, []
        while len(self.thresholds) and node >= 0:
            product = float(exact_products(row.dense, self.weights[node])[0])
            passed.append((node, product - float(self.thresholds[node])))
            node = int(self.children[node, int(product > self.thresholds[node])])
        return passed

    def products(self, X: Matrix, node: int) -> FloatArray:
        """The products of rows X (n, d) with a node's weights, as its threshold is asked."""
        blocks = [
            exact_products(
                Float32Rows.of(_dense(X[at : at + BLOCK_ROWS])).dense, self.weights[node]
            )
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

    @cached_property
    def lengths(self) -> FloatArray:
        """Upper bounds of the lengths of the normals: how wrong a quick product may be."""
        exact = np.linalg.norm(self.weights.astype(np.float64), axis=1)
        return np.asarray(exact * (1 + 1e-12))

    @property
    def _pointer(self) -> Any:
        return ctypes.byref(self.structure)

    def _route_numpy(self, X: Matrix) -> tuple[IntArray, IntArray]:
        leaf = np.zeros(X.shape[0], dtype=np.int32)
        passed = np.zeros(X.shape[0], dtype=np.int32)
        for first in range(0, X.shape[0], BLOCK_ROWS):
            values = Float32Rows.of(_dense(X[first : first + BLOCK_ROWS])).dense
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

    def graft(self, stumps: Mapping[int, PlaneTree]) -> tuple[PlaneTree, IntArray]:
        """Put other trees in the place of some leaves, by their numbers.

        Returns the tree, and for each of its leaves the leaf of this one that it stands for.
        """
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        origins: list[int] = []
        waiting = [_Position(self, 0 if len(self.thresholds) else ~0)]
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
        return _assemble(sources, children, self.n_features), np.array(origins, dtype=np.intp)

    def cut(self, nodes: Iterable[int]) -> tuple[PlaneTree, IntArray]:
        """Make leaves of some nodes; what is below them falls away.

        Returns the tree, and for each leaf of this one the leaf that now stands for it.
        """
        stumps = set(nodes)
        home = np.zeros(self.n_leaves, dtype=np.intp)
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        n_leaves = 0
        waiting = [_Position(self, 0 if len(self.thresholds) else ~0)]
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
        return _assemble(sources, children, self.n_features), home

    def simplify(self, masses: FloatArray) -> PlaneTree:
        """The tree without sides that no row goes to and splits between leaves of one answer.

        Parameters
        ----------
        masses : (leaves, classes) array
            The weight of the rows of each class at each leaf; the largest is its answer.
        """
        answer, held = masses.argmax(axis=1), (masses.sum(axis=1) > 0).tolist()
        stands = np.arange(len(self.thresholds)).tolist()
        full = [False] * len(stands)
        for node in range(len(stands) - 1, -1, -1):
            pair = [stands[at] if at >= 0 else at for at in self.children[node].tolist()]
            here = [full[at] if at >= 0 else held[~at] for at in pair]
            full[node] = any(here)
            if not all(here):
                stands[node] = pair[0] if here[0] else pair[1]
            elif max(pair) < 0 and answer[~pair[0]] == answer[~pair[1]]:
                stands[node] = pair[0]
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        n_leaves = 0
        waiting = [_Position(self, 0 if stands else ~0)]
        while waiting:
            here_ = waiting.pop()
            at = stands[here_.at] if here_.at >= 0 else here_.at
            new = len(sources) if at >= 0 else ~n_leaves
            if at >= 0:
                sources.append((self, at))
                children.append([0, 0])
                waiting += attrs.evolve(here_, at=at).below(new)
            else:
                n_leaves += 1
            if here_.parent >= 0:
                children[here_.parent][here_.side] = new
        return _assemble(sources, children, self.n_features)

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
class _Position:
    """Where a walk over one or more trees is: at a node, or at the complement of a leaf."""

    tree: PlaneTree
    at: int
    parent: int = -1
    side: int = 0
    origin: int = -1

    def below(self, parent: int) -> list[_Position]:
        left, right = self.tree.children[self.at].tolist()
        return [
            _Position(self.tree, right, parent, 1, self.origin),
            _Position(self.tree, left, parent, 0, self.origin),
        ]


def _assemble(
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


def _dense(X: Matrix) -> Any:
    return X.toarray() if sparse.issparse(X) else X
