"""Coefficients of many columns over one pool of points, packed for fast evaluation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import Expansion, evaluate, prepare
from dcsvm.numeric.kernels.kernel import Kernel


@attrs.frozen(eq=False)
class PairColumns:
    """Columns that are all pairs of k classes: a point has k - 1 coefficients.

    `places` and `signs` map the pairs in their natural order to the given columns.
    """

    expansion: Expansion
    places: IntArray
    signs: FloatArray

    @classmethod
    def of(
        cls, kernel: Kernel, points: Matrix, coefficients: Any, biases: FloatArray, code: IntArray
    ) -> PairColumns | None:
        """Arrange coefficients (points, columns) by pairs; None if they are not all pairs."""
        pairs = _find_pairs(code)
        if pairs is None:
            return None
        first, second, signs, k = pairs
        owner = _find_class(coefficients, code)
        entries = coefficients.tocoo()
        own = owner[entries.row]
        if not ((own == first[entries.col]) | (own == second[entries.col])).all():
            return None
        order = np.argsort(owner, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        other = np.where(own == first[entries.col], second[entries.col] - 1, first[entries.col])
        compressed = np.zeros((len(order), k - 1))
        compressed[place[entries.row], other] = signs[entries.col] * entries.data
        natural = np.empty(len(signs), dtype=np.intp)
        natural[first * k - first * (first + 1) // 2 + second - first - 1] = np.arange(len(signs))
        counts = np.bincount(owner, minlength=k)
        expansion = prepare(
            kernel, points[order], compressed, (signs * biases)[natural], counts[:k]
        )
        places = np.empty_like(natural)
        places[natural] = np.arange(len(natural))
        return cls(expansion, places, signs)

    def values(self, X: Matrix) -> FloatArray:
        return evaluate(self.expansion, X)[:, self.places] * self.signs


@attrs.frozen(eq=False)
class BlockColumns:
    """Columns with coefficients in blocks: points of a class mostly use the same columns."""

    kernel: Kernel
    points: Matrix
    blocks: tuple[tuple[int, int, IntArray, FloatArray], ...]
    biases: FloatArray

    @classmethod
    def of(
        cls, kernel: Kernel, points: Matrix, coefficients: Any, biases: FloatArray, code: IntArray
    ) -> BlockColumns:
        owner = _find_class(coefficients, code)
        order = np.argsort(owner, kind="stable")
        sorted_by_owner = coefficients[order]
        blocks = []
        for start, stop in pairwise(np.concatenate([[0], np.cumsum(np.bincount(owner))])):
            rows = sorted_by_owner[start:stop]
            filled = np.unique(rows.indices)
            if len(filled):
                blocks.append((int(start), int(stop), filled, rows[:, filled].toarray()))
        return cls(kernel, points[order], tuple(blocks), biases)

    def values(self, X: Matrix) -> FloatArray:
        gram = self.kernel(X, self.points)
        values = np.broadcast_to(self.biases, (X.shape[0], len(self.biases))).copy()
        for start, stop, columns, coefficients in self.blocks:
            values[:, columns] += gram[:, start:stop] @ coefficients
        return values


def _find_pairs(code: IntArray) -> tuple[IntArray, IntArray, FloatArray, int] | None:
    """First and second class and sign of columns that are all pairs of k classes, else None."""
    two_sided = ((code > 0).sum(axis=1) == 1) & ((code < 0).sum(axis=1) == 1)
    if not two_sided.all():
        return None
    plus, minus = code.argmax(axis=1), code.argmin(axis=1)
    first, second = np.minimum(plus, minus), np.maximum(plus, minus)
    k = int(second.max()) + 1
    if k < 3 or len(code) != k * (k - 1) // 2 or len(np.unique(first * k + second)) != len(code):
        return None
    return first, second, np.where(plus == first, 1.0, -1.0), k


def _find_class(coefficients: Any, code: IntArray) -> IntArray:
    """The class that each point's coefficients favor most: its own, for a support vector."""
    return np.asarray((coefficients @ code).argmax(axis=1)).astype(np.intp)
