"""Kernel ridge regression: one eigendecomposition serves every ridge, with exact leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf

from dcsvm.numeric import backend
from dcsvm.numeric.distances import Floats, Rows, as_rows, is_sparse
from dcsvm.numeric.kernels import Kernel


@attrs.frozen(eq=False)
class Ridge:
    """A kernel ridge regression for one ridge value.

    Parameters
    ----------
    ridge : float
    coefficients : (n, outputs) array
        Predictions are ``k(x, X) @ coefficients``.
    left_out : (n, outputs) array
        What a regression without row i would predict for row i; exact.
    """

    ridge: float
    coefficients: Floats
    left_out: Floats


@attrs.frozen(eq=False)
class Spectrum:
    """The eigendecomposition of a weighted Gram matrix, and what is to be regressed on it.

    With weights w, the problem min sum_i w_i (y_i - f(x_i))^2 + ridge |f|^2 is that of the matrix
    ``sqrt(w) K sqrt(w)`` and the targets ``sqrt(w) y``. A matrix of rank r < n has r columns of
    `vectors`; what they leave of the targets is `rest`, and of each unit vector `rest_squares`.
    """

    values: Floats
    vectors: Floats
    rotated: Floats
    rest: Floats
    squares: Floats
    rest_squares: Floats
    targets: Floats
    roots: Floats


def decompose(
    K: npt.NDArray[np.floating], targets: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Spectrum:
    """Decompose a Gram matrix once for all ridge values.

    Parameters
    ----------
    K : (n, n) array
        Symmetric and positive semidefinite.
    targets : (n,) or (n, outputs) array
    weights : (n,) array, optional
        All positive.
    """
    y = np.asarray(targets, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    given = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (given > 0.0).all():
        raise ValueError("decompose: weights are positive; leave out rows that weigh nothing")
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.shape != (len(y), len(y)):
        raise ValueError(f"decompose: {len(y)} targets do not fit a matrix of {matrix.shape}")
    roots = np.sqrt(given)
    if weights is not None:
        matrix = matrix * roots[:, None] * roots[None, :]
    values, vectors = _eigenpairs(matrix)
    scaled = roots[:, None] * y
    rotated, squares = vectors.T @ scaled, vectors * vectors
    full = len(values) == len(y)
    return Spectrum(
        *(values, vectors, rotated),
        rest=np.zeros_like(scaled) if full else scaled - vectors @ rotated,
        squares=squares,
        rest_squares=np.zeros(len(y)) if full else np.maximum(1.0 - squares.sum(axis=1), 0.0),
        targets=y,
        roots=roots,
    )


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


def solve_ridge(spectrum: Spectrum, ridge: float) -> Ridge:
    """The regression for one ridge value, in O(n^2) operations per output.

    Parameters
    ----------
    spectrum : Spectrum
    ridge : float
        Positive; what scikit-learn's KernelRidge calls alpha.
    """
    if not ridge > 0.0:
        raise ValueError(f"solve_ridge: a ridge is positive, not {ridge}")
    inverse = 1.0 / (spectrum.values + ridge)
    dual = spectrum.vectors @ (inverse[:, None] * spectrum.rotated) + spectrum.rest / ridge
    # With G the inverse of the matrix plus ridge, leaving row i out gives the residual c_i / G_ii.
    diagonal = spectrum.squares @ inverse + spectrum.rest_squares / ridge
    roots = spectrum.roots[:, None]
    left_out = spectrum.targets - dual / diagonal[:, None] / roots
    return Ridge(ridge, roots * dual, left_out)


def ridge_grid(
    kernel: Kernel,
    X: Rows,
    targets: npt.ArrayLike,
    ridges: Sequence[float],
    gammas: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
) -> Iterator[tuple[float, float, Ridge]]:
    """Regressions for every gamma and ridge: one matrix of distances, one decomposition a gamma.

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
    shared = kernel.kind in ("rbf", "laplacian", "linear", "poly", "sigmoid")
    common: Floats | None = None
    if kernel.kind == "rbf" and not is_sparse(X):
        common = backend.distances(as_rows(X))
    elif shared:
        common = kernel.common(X)
    for gamma in gammas:
        one = attrs.evolve(kernel, gamma=gamma)
        spectrum = decompose(
            one(X) if common is None else one.from_common(common), targets, weights
        )
        for ridge in ridges:
            yield ridge, gamma, solve_ridge(spectrum, ridge)
