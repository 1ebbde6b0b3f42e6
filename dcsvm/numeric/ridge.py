"""Kernel ridge regression: one Gram matrix serves every ridge, with exact leave-one-out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf

from dcsvm.numeric import backend
from dcsvm.numeric.distances import Floats, Rows, as_dense, is_sparse
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.shifted import solve_shifted

SHARING = frozenset({"rbf", "laplacian", "linear", "poly", "sigmoid"})
"""Kinds of kernels whose matrices for all gammas come from one matrix."""


@attrs.frozen(eq=False)
class Ridge:
    """A kernel ridge regression for one ridge value.

    Parameters
    ----------
    ridge : float
    coefficients : (n, outputs) array
        Predictions are ``k(x, X) @ coefficients``.
    """

    ridge: float
    coefficients: Floats
    _matrix: Weighted = attrs.field(repr=False)

    @property
    def left_out(self) -> Floats:
        """What a regression without row i would predict for row i, (n, outputs); exact.

        The first of a Gram matrix decomposes it, the other ridges then take next to nothing.
        """
        # With G the inverse of the matrix plus ridge, leaving row i out gives the residual
        # c_i / G_ii.
        matrix = self._matrix
        scale = matrix.spectrum.diagonal(self.ridge) * matrix.roots**2
        return np.asarray(matrix.targets - self.coefficients / scale[:, None])


@attrs.define(eq=False)
class Weighted:
    """A weighted Gram matrix and what is to be regressed on it.

    With weights w, the problem min sum_i w_i (y_i - f(x_i))^2 + ridge |f|^2 is that of the matrix
    ``sqrt(w) K sqrt(w)`` and the targets ``sqrt(w) y``.
    """

    values: Floats
    targets: Floats
    roots: Floats
    _spectrum: Spectrum | None = None

    @property
    def spectrum(self) -> Spectrum:
        """The eigendecomposition, made when first asked for."""
        if self._spectrum is None:
            self._spectrum = decompose(self.values)
        return self._spectrum

    def solve(self, ridges: Sequence[float]) -> list[Ridge]:
        """The regression of every ridge."""
        roots = self.roots[:, None]
        duals = solve_shifted(self.values, roots * self.targets, ridges)
        return [
            Ridge(ridge, roots * dual, self) for ridge, dual in zip(ridges, duals, strict=True)
        ]


@attrs.frozen(eq=False)
class Spectrum:
    """Eigenvalues, and what each unit vector has of each eigenvector, squared.

    A matrix of rank r < n has r values; what their vectors leave of each unit vector is `rest`.
    """

    values: Floats
    squares: Floats
    rest: Floats

    def diagonal(self, ridge: float) -> Floats:
        """The diagonal of the inverse of the matrix plus ridge, an (n,) array."""
        return np.asarray(self.squares @ (1.0 / (self.values + ridge)) + self.rest / ridge)


def ridge_path(
    K: npt.NDArray[np.floating],
    targets: npt.ArrayLike,
    ridges: Sequence[float],
    weights: npt.ArrayLike | None = None,
) -> list[Ridge]:
    """Regressions on one Gram matrix, for every ridge.

    Parameters
    ----------
    K : (n, n) array
        Symmetric and positive semidefinite.
    targets : (n,) or (n, outputs) array
    ridges : values
        Positive; what scikit-learn's KernelRidge calls alpha.
    weights : (n,) array, optional
        All positive.
    """
    for ridge in ridges:
        if not ridge > 0.0:
            raise ValueError(f"ridge_path: a ridge is positive, not {ridge}")
    y = np.asarray(targets, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    given = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (given > 0.0).all():
        raise ValueError("ridge_path: weights are positive; leave out rows that weigh nothing")
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.shape != (len(y), len(y)):
        raise ValueError(f"ridge_path: {len(y)} targets do not fit a matrix of {matrix.shape}")
    roots = np.sqrt(given)
    if weights is not None:
        matrix = matrix * roots[:, None] * roots[None, :]
    return Weighted(matrix, y, roots).solve(ridges)


def decompose(matrix: Floats) -> Spectrum:
    """The eigendecomposition of a symmetric, positive semidefinite matrix."""
    values, vectors = _eigenpairs(matrix)
    squares = vectors * vectors
    return Spectrum(values, squares, np.maximum(1.0 - squares.sum(axis=1), 0.0))


def _eigenpairs(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues that rounding has not swallowed, and their vectors."""
    n = len(matrix)
    # A smooth kernel has a low numerical rank: its pivoted Cholesky factor stops early, and the
    # small matrix of its products has the same eigenvalues.
    factor, pivots, rank, _ = dpstrf(matrix, lower=1)
    if 5 * rank > 4 * n:
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        return np.maximum(values, 0.0), vectors
    tall = np.tril(factor[:, :rank])
    values, inner = eigh(tall.T @ tall, check_finite=False, overwrite_a=True)
    kept = values > 0.0
    vectors = np.empty((n, int(kept.sum())))
    vectors[pivots - 1] = (tall @ inner[:, kept]) / np.sqrt(values[kept])
    return values[kept], vectors


def ridge_grid(
    kernel: Kernel,
    X: Rows,
    targets: npt.ArrayLike,
    ridges: Sequence[float],
    gammas: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
) -> Iterator[tuple[float, float, Ridge]]:
    """Regressions for every gamma and ridge: one matrix of distances for all.

    Parameters
    ----------
    kernel : Kernel
        Its gamma is replaced by each of `gammas`.
    X : (n, features) array or CSR
    targets : (n,) or (n, outputs) array
    ridges, gammas : values
    weights : (n,) array, optional

    Yields
    ------
    (ridge, gamma, Ridge)
    """
    kernels = [attrs.evolve(kernel, gamma=gamma) for gamma in gammas]
    for gamma, K in zip(gammas, kernel_matrices(kernels, X), strict=True):
        for model in ridge_path(K, targets, ridges, weights):
            yield model.ridge, gamma, model


def kernel_matrices(kernels: Iterable[Kernel], X: Rows) -> Iterator[Floats]:
    """The Gram matrices of several kernels; those of one kind share distances or products."""
    common: dict[str, Floats] = {}
    for kernel in kernels:
        kind = kernel.kind
        if kind not in SHARING:
            yield kernel(X)
            continue
        if kind not in common:
            dense = kind == "rbf" and not is_sparse(X)
            common[kind] = backend.distances(as_dense(X)) if dense else kernel.common(X)
        if kind == "rbf":
            yield backend.rbf_values(common[kind], kernel.gamma)
        else:
            yield kernel.from_common(common[kind])
