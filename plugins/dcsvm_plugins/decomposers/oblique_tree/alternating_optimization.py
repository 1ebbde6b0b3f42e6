"""Alternating optimization of oblique trees: one hyperplane at a time, the others fixed."""

import ctypes
from typing import Any

import attrs
import numpy as np

from dcsvm.numeric import (
    BoolArray,
    Float32Rows,
    FloatArray,
    IntArray,
    PlaneTree,
    address,
    exact_products,
    native,
)
from dcsvm_plugins.decomposers.oblique_tree.dual_coordinate_descent import (
    DualSettings,
    fit_linear_dual,
)
from dcsvm_plugins.decomposers.oblique_tree.oblique_numpy import NO_GAIN, dense_rows

EVERYONE = float(np.finfo(np.float64).max)


def optimize_oblique(
    tree: PlaneTree,
    rows: Float32Rows,
    y: IntArray,
    n_classes: int,
    masses: FloatArray | None,
    order: IntArray,
    rounds: int,
    settings: DualSettings,
) -> PlaneTree:
    """Refit all hyperplanes of a tree, from the leaves to the root, in several rounds.

    Leaves predict their majority class. At each node, a linear SVM is fitted to the rows that only
    one side classifies correctly, with the threshold that misdirects fewest. It replaces the
    hyperplane unless that was better, so errors never increase. Rounds end without progress.
    `masses` (n,) are row weights, and `order` (n,) is a random permutation of the rows.

    References
    ----------
    Carreira-Perpinan, Tavallali: Alternating optimization of decision trees, with application to
    learning sparse oblique trees (2018).
    """
    if not len(tree.thresholds):
        return tree
    moved = attrs.evolve(tree, weights=tree.weights.copy(), thresholds=tree.thresholds.copy())
    compiled = native.library
    if compiled is None:
        mass = np.ones(rows.n_rows) if masses is None else masses
        _Rounds(moved, dense_rows(rows), y, mass, n_classes, settings).run(rounds)
    else:
        given, wanted = rows.structure(), settings.structure()
        labels, places = np.ascontiguousarray(y, dtype=np.int32), np.array(order, dtype=np.int64)
        mass_ = None if masses is None else np.ascontiguousarray(masses, dtype=np.float64)
        done = compiled.dcsvm_oblique_settle(
            *(ctypes.byref(given), rows.n_rows, address(labels), n_classes, address(mass_)),
            *(address(places), rounds, ctypes.byref(wanted), ctypes.byref(moved.structure)),
            len(moved.thresholds),
        )
        if done < 0:
            raise MemoryError("oblique tree: not enough memory to optimize")
    return moved


@attrs.define(eq=False)
class _Rounds:
    """The rounds in numpy, on dense rows."""

    tree: PlaneTree
    values: Any
    y: IntArray
    mass: FloatArray
    n_classes: int
    settings: DualSettings
    answer: IntArray = attrs.field(init=False)

    def run(self, rounds: int) -> None:
        self.answer = np.zeros(self.tree.n_leaves, dtype=np.intp)
        for _ in range(rounds):
            rows = self._sort_rows()
            self._set_answers()
            gains = [self._refit(node, rows[node]) for node in reversed(range(len(rows)))]
            if not any(gain > 0 for gain in gains):
                return

    def _right(self, node: int, here: IntArray) -> BoolArray:
        products = exact_products(self.values[here], self.tree.weights[node])
        return np.asarray(products > self.tree.thresholds[node])

    def _leaf(self, at: int, here: IntArray) -> IntArray:
        """The leaves of some rows below a node, or `~leaf`."""
        if at < 0:
            return np.full(len(here), ~at)
        right = self._right(at, here)
        leaf = np.zeros(len(here), dtype=np.intp)
        for child, side in zip(self.tree.children[at].tolist(), (~right, right), strict=True):
            leaf[side] = self._leaf(child, here[side])
        return leaf

    def _sort_rows(self) -> list[IntArray]:
        """The rows of each node."""
        rows: list[IntArray] = [np.zeros(0, dtype=np.intp)] * len(self.tree.thresholds)
        rows[0] = np.arange(len(self.y))
        for node, here in enumerate(rows):
            right = self._right(node, here)
            for child, side in zip(self.tree.children[node], (~right, right), strict=True):
                if child >= 0:
                    rows[child] = here[side]
        return rows

    def _set_answers(self) -> None:
        masses = np.zeros((self.tree.n_leaves, self.n_classes))
        np.add.at(masses, (self._leaf(0, np.arange(len(self.y))), self.y), self.mass)
        self.answer = np.where(masses.any(axis=1), masses.argmax(axis=1), self.answer)

    def _refit(self, node: int, here: IntArray) -> float:
        left, right = (
            self.answer[self._leaf(child, here)] == self.y[here]
            for child in self.tree.children[node].tolist()
        )
        here, wanted = here[left != right], right[left != right]
        if not len(here):
            return 0.0
        mass = self.mass[here]
        before = float(mass[self._right(node, here) != wanted].sum())
        if wanted.all() or not wanted.any():
            self.tree.thresholds[node] = -EVERYONE if wanted.all() else EVERYONE
            return before
        rows = Float32Rows(len(here), self.tree.n_features, self.values[here])
        plane = fit_linear_dual(rows, np.where(wanted, 1.0, -1.0), mass, self.settings)
        w = np.zeros(rows.stride, dtype=np.float32)
        w[: rows.n_features] = plane.weights
        scores = exact_products(rows.dense, w)
        threshold, after = -plane.bias, float(mass[(scores > -plane.bias) != wanted].sum())
        moved, least = _least_wrong(scores, wanted, mass)
        if least < after * (1 - NO_GAIN):
            threshold, after = moved, least
        if after > before:
            return 0.0
        self.tree.weights[node], self.tree.thresholds[node] = w, threshold
        return before - after


def _least_wrong(scores: FloatArray, wanted: BoolArray, mass: FloatArray) -> tuple[float, float]:
    """The threshold with the least mass on the wrong side, and that mass."""
    order = np.argsort(scores, kind="stable")
    low = scores[order]
    high = np.append(low[1:], EVERYONE)
    wrong = mass[~wanted].sum() + np.cumsum(np.where(wanted, mass, -mass)[order])
    wrong = np.where(low < high, wrong, np.inf)
    best = int(wrong.argmin())
    if wrong[best] >= mass[~wanted].sum():
        return -EVERYONE, float(mass[~wanted].sum())
    middle = low[best] + (high[best] - low[best]) / 2.0
    threshold = EVERYONE if best == len(low) - 1 else middle if middle < high[best] else low[best]
    return float(threshold), float(wrong[best])
