"""Pegasos with row weights: stochastic subgradient descent for hyperplanes, in C or numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.native import PegasosStructure, RowsStructure, address

#: Dense rows are padded with zeros to multiples of this.
LANES = 16
LARGEST = float(np.finfo(np.float32).max)


@attrs.frozen(eq=False)
class Float32Rows:
    """Rows in float32 for the compiled library, dense and padded or CSR."""

    n_rows: int
    n_features: int
    dense: FloatArray | None = None
    sparse: Any = None

    @classmethod
    def of(cls, X: Matrix) -> Float32Rows:
        """Convert X (n, d), dense or CSR; values too large for float32 are clipped."""
        n_rows, n_features = X.shape
        if sparse.issparse(X):
            return cls(n_rows, n_features, sparse=_sort_indices(X))
        dense = np.zeros((n_rows, pad_width(n_features)), dtype=np.float32)
        with np.errstate(over="ignore"):
            dense[:, :n_features] = X
        # The check takes a third of the time of clipping.
        if dense.size and not (dense.min() >= -LARGEST and dense.max() <= LARGEST):
            np.clip(dense, -LARGEST, LARGEST, out=dense)
        return cls(n_rows, n_features, dense)

    @property
    def stride(self) -> int:
        return pad_width(self.n_features)

    def structure(self) -> RowsStructure:
        """The C struct; keep the rows alive while it is used."""
        if self.dense is not None:
            return RowsStructure(self.n_features, self.stride, address(self.dense))
        entries = (self.sparse.data, self.sparse.indices, self.sparse.indptr)
        return RowsStructure(self.n_features, self.stride, None, *map(address, entries))

    def subset(self, rows: IntArray) -> Float32Rows:
        """Some of the rows."""
        taken = self.take(rows)
        if self.dense is not None:
            return Float32Rows(len(rows), self.n_features, taken)
        return Float32Rows(len(rows), self.n_features, sparse=_sort_indices(taken))

    def take(self, rows: IntArray) -> Any:
        """Some rows as an (m, stride) array or an (m, d) CSR matrix."""
        return self.sparse[rows] if self.dense is None else self.dense[rows]


def pad_width(n_features: int) -> int:
    """The padded length of rows with this many features."""
    return -(-n_features // LANES) * LANES


def _sort_indices(X: Any) -> Any:
    X = X.tocsr().astype(np.float64)
    X.sum_duplicates()
    values = np.clip(X.data, -LARGEST, LARGEST).astype(np.float32)
    kept = sparse.csr_array(
        (values, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape
    )
    # The constructor may narrow indices; the C struct has one type for each.
    kept.indices, kept.indptr = kept.indices.astype(np.int32), kept.indptr.astype(np.int64)
    return kept


def exact_products(values: Any, weights: FloatArray) -> FloatArray:
    """Products of float32 rows (n, stride) with a float32 vector, summed in a fixed order."""
    sums = np.zeros((len(values), LANES))
    for start in range(0, values.shape[1], LANES):
        chunk = values[:, start : start + LANES].astype(np.float64)
        sums += chunk * weights[start : start + LANES].astype(np.float64)
    half = LANES // 2
    while half:
        sums[:, :half] += sums[:, half : 2 * half]
        half //= 2
    return sums[:, 0].copy()


@attrs.frozen
class PegasosSettings:
    """Settings of Pegasos.

    `regularization` is lambda in lambda / 2 |w|^2 + mean of weight x hinge loss, `batch` are the
    rows per step (k), and `iterations` is the maximum number of steps (T), which end when w moves
    by less than `tolerance`. `bias_rate` is the step size of the bias relative to w (tau). With
    `project`, w stays in the ball of radius 1 / sqrt(lambda), which contains the optimum; with
    `average`, the result is the mean of the second half of the steps instead of the last one.
    `random` is the seed of batches that are drawn anew at each step, 0 for batches of consecutive
    rows.
    """

    regularization: float = 1e-4
    batch: int = 64
    iterations: int = 10_000
    tolerance: float = 0.0
    bias_rate: float = 0.01
    project: bool = True
    average: bool = True
    random: int = 0

    def structure(self) -> PegasosStructure:
        return PegasosStructure(
            *(self.regularization, self.bias_rate, self.tolerance),
            *(self.batch, self.iterations, self.project, self.average, self.random),
        )


@attrs.frozen(eq=False)
class Hyperplane:
    """A hyperplane `x @ weights + bias`, and the number of steps."""

    weights: FloatArray
    bias: float
    iterations: int


def fit_pegasos(
    rows: Float32Rows,
    signs: FloatArray,
    masses: FloatArray | None,
    order: IntArray,
    settings: PegasosSettings,
) -> Hyperplane:
    """Minimise lambda / 2 |w|^2 + sum(masses hinge) / sum(masses) without regularizing the bias.

    `signs` (n,) are +1 and -1, `masses` (n,) row weights of any scale, 1 by default, and `order`
    (n,) is a permutation of the rows: the order of the batches in every pass.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro: Pegasos: primal estimated sub-gradient solver for SVM (2007).
    """
    weights = np.ones(rows.n_rows) if masses is None else masses
    return solve_pegasos(rows, signs * weights / weights.mean(), order, settings)


def solve_pegasos(
    rows: Float32Rows, pulls: FloatArray, order: IntArray, settings: PegasosSettings
) -> Hyperplane:
    """Minimise lambda / 2 |w|^2 + mean of |pull| x hinge; a pull (n,) is a sign times a weight."""
    pulls = pulls[order].astype(np.float32)
    order = np.ascontiguousarray(order, dtype=np.int64)
    compiled = native.library
    if compiled is None:
        return _pegasos_numpy(rows, pulls, order, settings)
    w, bias = np.empty(rows.stride), ctypes.c_double()
    given, wanted = rows.structure(), settings.structure()
    taken = compiled.dcsvm_pegasos(
        *(ctypes.byref(given), address(order), rows.n_rows, address(pulls)),
        *(ctypes.byref(wanted), address(w), ctypes.byref(bias)),
    )
    if taken < 0:
        raise MemoryError("pegasos: not enough memory for a hyperplane")
    return Hyperplane(w[: rows.n_features], bias.value, int(taken))


def _pegasos_numpy(
    rows: Float32Rows, pulls: FloatArray, order: IntArray, settings: PegasosSettings
) -> Hyperplane:
    """The same in double precision."""
    n, k, lam = rows.n_rows, min(settings.batch, rows.n_rows), settings.regularization
    width = rows.stride if rows.dense is not None else rows.n_features
    w, bias = np.zeros(width), 0.0
    sums, bias_sum, summed = np.zeros(width), 0.0, 0
    batches = _random_batches(n, k, settings.random) if settings.random else _batches_in_turn(n, k)
    step = 0
    for step, places in zip(range(1, settings.iterations + 1), batches, strict=False):
        batch, pull = rows.take(order[places]), pulls[places].astype(np.float64)
        inside = np.sign(pull) * (batch @ w + bias) < 1.0
        pull = np.where(inside, pull, 0.0)
        rate = 1.0 / (lam * step)
        after = (1.0 - 1.0 / step) * w + rate / k * np.asarray(batch.T @ pull)
        size = float(np.linalg.norm(after))
        if settings.project and size > 1.0 / np.sqrt(lam):
            after *= 1.0 / (np.sqrt(lam) * size)
        moved = float(np.linalg.norm(after - w))
        w, bias = after, bias + settings.bias_rate * rate / k * float(pull.sum())
        if settings.average and 2 * step > settings.iterations:
            sums, bias_sum, summed = sums + w, bias_sum + bias, summed + 1
        if moved <= settings.tolerance:
            break
    if summed:
        w, bias = sums / summed, bias_sum / summed
    return Hyperplane(w[: rows.n_features], bias, step)


def _batches_in_turn(n: int, k: int) -> Iterator[IntArray]:
    first = 0
    while True:
        yield (first + np.arange(k)) % n
        first = (first + k) % n


def _random_batches(n: int, k: int, state: int) -> Iterator[IntArray]:
    """Random sets of k places, by the random numbers that the compiled code uses."""
    places = np.arange(n)
    while True:
        for c in range(k if k < n else 0):
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            z = state
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
            other = c + (z ^ (z >> 31)) % (n - c)
            places[[c, other]] = places[[other, c]]
        yield places[:k].copy()


def best_bias(scores: FloatArray, signs: FloatArray, masses: FloatArray | None) -> float:
    """The bias to add to scores (n,) that minimises sum(masses hinge).

    The loss is convex and piecewise linear: its slope is minus the mass of the positive rows at
    first, and grows by the mass of a row at each `sign - score`.
    """
    mass = np.ones(len(scores)) if masses is None else masses
    corners = signs - scores
    order = np.argsort(corners, kind="stable")
    slopes = np.cumsum(mass[order]) - mass[signs > 0].sum()
    flat = 1e-9 * mass.sum()
    first, last = np.searchsorted(slopes, [-flat, flat])
    # If a whole interval is optimal, its middle.
    ends = corners[order[np.minimum([first, last], len(order) - 1)]]
    return float(ends.mean())
