"""Oblique trees as arrays, and the leaves of rows."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.linear.pegasos_solver import Float32Rows, exact_products, pad_width
from dcsvm.numeric.native import ObliqueStructure, address
from dcsvm.numeric.stored_arrays import Stored, axes

#: Rows per block in numpy, to fit in the cache.
BLOCK_ROWS = 4096


@attrs.frozen(eq=False, slots=False)
class PlaneTree(Stored):
    """A binary tree of hyperplanes as arrays over its inner nodes, parents first.

    A row goes left if its product with the node's weights (nodes, stride), which are padded with
    zeros, is at most the threshold. Rows and weights are float32, and products are summed in
    float64 in a fixed order, so that a row takes the same path on every machine, dense or CSR,
    alone or with others. `children` (nodes, 2) are left and right: a node, or the complement
    `~leaf` of a leaf.
    """

    weights: FloatArray = attrs.field(
        repr=False, metadata=axes("nodes", "stride", dtype=np.float32)
    )
    thresholds: FloatArray = attrs.field(repr=False, metadata=axes("nodes", dtype=np.float64))
    children: IntArray = attrs.field(repr=False, metadata=axes("nodes", 2, dtype=np.int32))
    n_features: int

    @classmethod
    def leaf(cls, n_features: int) -> PlaneTree:
        """The tree without hyperplanes, with a single leaf."""
        return cls(
            np.zeros((0, pad_width(n_features)), dtype=np.float32),
            np.zeros(0),
            np.zeros((0, 2), dtype=np.int32),
            n_features,
        )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        if sizes.setdefault("features", self.n_features) != self.n_features or self.n_features < 0:
            raise ValueError(
                f"PlaneTree.n_features is {self.n_features}, but must be {sizes['features']}"
            )
        if sizes["stride"] != pad_width(self.n_features):
            raise ValueError(
                f"PlaneTree.weights has {sizes['stride']} columns, but must have "
                f"{pad_width(self.n_features)} for {self.n_features} features"
            )
        check_binary_tree("PlaneTree", self.children)
        return sizes | {"leaves": self.n_leaves}

    @property
    def n_leaves(self) -> int:
        return len(self.thresholds) + 1

    @cached_property
    def depth(self) -> int:
        """The largest number of hyperplanes on a path."""
        deep = np.ones(len(self.thresholds), dtype=np.intp)
        for node, pair in enumerate(self.children):
            for child in pair[pair >= 0]:
                deep[child] = deep[node] + 1
        return int(deep.max(initial=0))

    def route(
        self, X: Matrix, offset: FloatArray | None = None, factor: FloatArray | None = None
    ) -> tuple[IntArray, IntArray]:
        """The leaf of each row of X (n, d), and how many hyperplanes it passed.

        With an offset and a factor (d,), dense rows are transformed to `(X - offset) * factor`.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"oblique tree: rows have {X.shape[1]} features, but must have {self.n_features}"
            )
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
        if done == -2:
            raise ValueError(f"oblique tree: {dense.shape[1]} features do not fit the tree")
        if done < 0:
            raise MemoryError("oblique tree: not enough memory for a row")
        return leaf, passed

    def path(self, x: Matrix) -> list[tuple[int, float]]:
        """The nodes on the path of the row x (1, d), with its product minus the threshold."""
        row, node, passed = Float32Rows.of(_dense(x)), 0, []
        while len(self.thresholds) and node >= 0:
            product = float(exact_products(row.dense, self.weights[node])[0])
            passed.append((node, product - float(self.thresholds[node])))
            node = int(self.children[node, int(product > self.thresholds[node])])
        return passed

    def products(self, X: Matrix, node: int) -> FloatArray:
        """The products of rows X (n, d) with the weights of a node."""
        blocks = [
            exact_products(
                Float32Rows.of(_dense(X[at : at + BLOCK_ROWS])).dense, self.weights[node]
            )
            for at in range(0, X.shape[0], BLOCK_ROWS)
        ]
        return np.concatenate(blocks)

    @property
    def structure(self) -> ObliqueStructure:
        """The C struct, which points to the arrays of the tree.

        Built at every call: models hold no pointers, so that they can be copied and pickled.
        """
        return ObliqueStructure(
            *(self.weights.shape[1], address(self.weights)),
            *(address(self.thresholds), address(self.children)),
        )

    @cached_property
    def lengths(self) -> FloatArray:
        """Upper bounds of the lengths of the normals, for the error bounds of fast products."""
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
        """Replace some leaves, given by number, by other trees.

        Returns the tree, and for each of its leaves the leaf of this tree that it replaces.
        """
        origins: list[int] = []

        def visit(here: _Position, leaf: int) -> _Position:
            if here.at < 0 and here.tree is self and ~here.at in stumps:
                stump = stumps[~here.at]
                here = attrs.evolve(here, tree=stump, at=stump._root, origin=~here.at)
            if here.at < 0:
                origins.append(~here.at if here.tree is self else here.origin)
            return here

        return self._rebuild(visit), np.array(origins, dtype=np.intp)

    def cut(self, nodes: Iterable[int]) -> tuple[PlaneTree, IntArray]:
        """Turn some nodes into leaves.

        Returns the tree, and for each leaf of this tree the leaf that replaces it.
        """
        stumps = set(nodes)
        replacement = np.zeros(self.n_leaves, dtype=np.intp)

        def visit(here: _Position, leaf: int) -> _Position:
            if here.at < 0 or here.at in stumps:
                replacement[self._leaves_below(here.at)] = leaf
                return attrs.evolve(here, at=~0)
            return here

        return self._rebuild(visit), replacement

    def simplify(self, masses: FloatArray) -> PlaneTree:
        """Remove sides without rows, and splits between leaves that predict the same class.

        `masses` (leaves, classes) are the weights of the rows of each class at each leaf.
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
        return self._rebuild(
            lambda here, _: attrs.evolve(here, at=stands[here.at]) if here.at >= 0 else here
        )

    @property
    def _root(self) -> int:
        return 0 if len(self.thresholds) else ~0

    def _rebuild(self, visit: Callable[[_Position, int], _Position]) -> PlaneTree:
        """Copy the tree; `visit(position, next leaf)` returns the position to copy there."""
        sources: list[tuple[PlaneTree, int]] = []
        children: list[list[int]] = []
        n_leaves = 0
        waiting = [_Position(self, self._root)]
        while waiting:
            here = visit(waiting.pop(), n_leaves)
            if here.at < 0:
                new, n_leaves = ~n_leaves, n_leaves + 1
            else:
                new = len(sources)
                sources.append((here.tree, here.at))
                children.append([0, 0])
                waiting += here.below(new)
            if here.parent >= 0:
                children[here.parent][here.side] = new
        if not sources:
            return PlaneTree.leaf(self.n_features)
        return PlaneTree(
            np.stack([tree.weights[node] for tree, node in sources]),
            np.array([tree.thresholds[node] for tree, node in sources]),
            np.array(children, dtype=np.int32),
            self.n_features,
        )

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
    """A position while a tree is copied: a node or `~leaf` of a tree, and its new parent."""

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


def check_binary_tree(owner: str, children: IntArray, leaves: int | None = None) -> None:
    """Raise unless every node but the root, and every leaf, has one parent, which comes first.

    `children` (nodes, 2) are nodes, or ~leaf; `leaves` is how many leaves there must be.
    """
    nodes = np.arange(len(children))
    inner, outer = children[children >= 0], ~children[children < 0]
    if not (
        ((children < 0) | (children > nodes[:, None])).all()
        and np.array_equal(np.sort(inner), nodes[1:])
        and (len(nodes) == 0 or np.array_equal(np.sort(outer), np.arange(len(nodes) + 1)))
        and leaves in (None, len(nodes) + 1)
    ):
        raise ValueError(
            f"{owner}.children must name every node but the root after its parent, and every "
            "leaf, once each"
        )


def _dense(X: Matrix) -> Any:
    return X.toarray() if sparse.issparse(X) else X
