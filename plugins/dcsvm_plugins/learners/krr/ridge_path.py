"""Kernel ridge regressions for many ridges on one Gram matrix, with exact leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from dcsvm.numeric import FloatArray
from dcsvm_plugins.learners.krr.shifted_systems import solve_shifted


@attrs.frozen(eq=False)
class Ridge:
    """A kernel ridge regression: predictions are ``k(x, X) @ coefficients`` for n rows X."""

    ridge: float
    coefficients: FloatArray
    _matrix: Weighted = attrs.field(repr=False)

    @property
    def left_out(self) -> FloatArray:
        """The exact leave-one-out predictions, (n, outputs): row i by a fit without row i.

        The first call decomposes the Gram matrix; calls for other ridges are then cheap.
        """
        # With G the inverse of the matrix plus ridge, leaving row i out gives the residual
        # c_i / G_ii.
        matrix = self._matrix
        scale = matrix.spectrum.diagonal(self.ridge) * matrix.roots**2
        return np.asarray(matrix.targets - self.coefficients / scale[:, None])


@attrs.define(eq=False)
class Weighted:
    """A weighted Gram matrix and its targets.

    With weights w, the problem min sum_i w_i (y_i - f(x_i))^2 + ridge |f|^2 is that of the matrix
    ``sqrt(w) K sqrt(w)`` and the targets ``sqrt(w) y``.
    """

    gram: FloatArray
    targets: FloatArray
    roots: FloatArray
    _spectrum: Spectrum | None = None

    @property
    def spectrum(self) -> Spectrum:
        """The eigendecomposition, computed at first use."""
        if self._spectrum is None:
            self._spectrum = decompose(self.apply_weights())
        return self._spectrum

    def apply_weights(self) -> FloatArray:
        """``sqrt(w) K sqrt(w)``; K itself if all weights are one."""
        if (self.roots == 1.0).all():
            return self.gram
        return self.gram * self.roots[:, None] * self.roots[None, :]

    def solve(self, ridges: Sequence[float]) -> list[Ridge]:
        """The regressions for all ridges."""
        roots = self.roots[:, None]
        duals = solve_shifted(self.apply_weights(), roots * self.targets, ridges)
        return [
            Ridge(ridge, roots * dual, self) for ridge, dual in zip(ridges, duals, strict=True)
        ]


@attrs.frozen(eq=False)
class Spectrum:
    """Eigenvalues, and the squared entries of the eigenvectors.

    A matrix of rank r < n has r eigenvalues; `rest` is 1 less the sum of squares of each row.
    """

    values: FloatArray
    squares: FloatArray
    rest: FloatArray

    def diagonal(self, ridge: float) -> FloatArray:
        """The diagonal of the inverse of the matrix plus ridge, (n,)."""
        return np.asarray(self.squares @ (1.0 / (self.values + ridge)) + self.rest / ridge)


def ridge_path(
    K: npt.NDArray[np.floating],
    targets: npt.ArrayLike,
    ridges: Sequence[float],
    weights: npt.ArrayLike | None = None,
) -> list[Ridge]:
    """Fit regressions of targets (n, outputs) for several ridges on one Gram matrix K (n, n).

    K is positive semidefinite; ridges (what scikit-learn's KernelRidge calls alpha) and row
    weights (n,) are positive.
    """
    matrix = np.asarray(K, dtype=np.float64)
    for ridge in ridges:
        if not ridge > 0.0:
            raise ValueError(f"ridge_path: ridges must be positive, got {ridge}")
    y = np.asarray(targets, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    given = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (given > 0.0).all():
        raise ValueError("ridge_path: weights must be positive; leave out rows of weight zero")
    if matrix.shape != (len(y), len(y)):
        raise ValueError(f"ridge_path: {len(y)} targets do not fit a matrix of {matrix.shape}")
    return Weighted(matrix, y, np.sqrt(given)).solve(ridges)


def decompose(matrix: FloatArray) -> Spectrum:
    """The eigendecomposition of a symmetric, positive semidefinite matrix."""
    values, vectors = _eigenpairs(matrix)
    squares = vectors * vectors
    return Spectrum(values, squares, np.maximum(1.0 - squares.sum(axis=1), 0.0))


def _eigenpairs(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues above rounding errors, and their eigenvectors."""
    n = len(matrix)
    # A smooth kernel has a low numerical rank: its pivoted Cholesky factor stops early, and the
    # small matrix of its products has the same eigenvalues.
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, lower=1)
    if 5 * rank > 4 * n:
        values, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
        return np.maximum(values, 0.0), vectors
    tall = np.tril(factor[:, :rank])
    values, inner = scipy.linalg.eigh(tall.T @ tall, check_finite=False, overwrite_a=True)
    kept = values > 0.0
    vectors = np.empty((n, int(kept.sum())))
    vectors[pivots - 1] = (tall @ inner[:, kept]) / np.sqrt(values[kept])
    return values[kept], vectors
