"""Distances and inner products between rows, from which kernels are computed."""

import ctypes
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.native import address

Floats: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = Any
"""A dense (n, features) array or a SciPy CSR matrix or array of that shape."""

SUSPECT = 1e-7
"""Distances below this share of the squared norms have lost digits by cancellation."""

BLOCK_BYTES = 64 << 20
"""Default memory for one temporary block."""


def squared_distances(X: Rows, Y: Rows | None = None) -> Floats:
    """Squared Euclidean distances (n, m) between the rows of X (n, d) and of Y (m, d).

    They are computed as ``|x|^2 - 2 x.y + |y|^2``, for dense rows centered at the mean of Y.
    Entries with cancellation are computed again from differences, so none is negative, equal rows
    have distance zero, and small distances are accurate. Y is X by default; the diagonal is then
    exactly zero.
    """
    left = as_rows(X)
    right = left if Y is None or Y is X else as_rows(Y)
    if not (sparse.issparse(left) or sparse.issparse(right)) and len(right):
        origin = right.mean(axis=0)
        same = right is left
        right = right - origin
        left = right if same else left - origin
    left_squares, right_squares = squared_norms(left), squared_norms(right)
    result = products(left, right)
    result *= -2.0
    result += left_squares[:, None]
    result += right_squares[None, :]
    np.maximum(result, 0.0, out=result)
    _refine(result, left, right, left_squares, right_squares)
    if right is left:
        np.fill_diagonal(result, 0.0)
    return result


def manhattan_distances(X: Rows, Y: Rows | None = None) -> Floats:
    """Sums (n, m) of absolute differences between the rows of X (n, d) and of Y (m, d).

    CSR rows are made dense block by block.
    """
    left = as_rows(X)
    right = left if Y is None or Y is X else as_rows(Y)
    if max(left.shape[0], right.shape[0]) * 8 * left.shape[1] <= BLOCK_BYTES:
        return _dense_manhattan(as_dense(left), as_dense(right))
    result = np.empty((left.shape[0], right.shape[0]))
    for rows in row_slices(left.shape[0], 8 * left.shape[1], BLOCK_BYTES):
        for columns in row_slices(right.shape[0], 8 * right.shape[1], BLOCK_BYTES):
            result[rows, columns] = _dense_manhattan(
                as_dense(left[rows]), as_dense(right[columns])
            )
    return result


def products(X: Rows, Y: Rows | None = None) -> Floats:
    """Inner products (n, m) of the rows of X (n, d) and of Y (m, d), X by default."""
    left = as_rows(X)
    right = left if Y is None or Y is X else as_rows(Y)
    if not sparse.issparse(left) and sparse.issparse(right):
        return np.ascontiguousarray(products(right, left).T)
    result = left @ right.T
    return np.asarray(result.toarray() if sparse.issparse(result) else result)


def squared_norms(X: Rows) -> Floats:
    """Squared Euclidean norms of the rows of X, an (n,) array."""
    rows = as_rows(X)
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def as_rows(X: Rows) -> Any:
    """Convert X to float64, C-ordered or CSR; copied only if necessary."""
    if sparse.issparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    return np.ascontiguousarray(X, dtype=np.float64)


def as_dense(X: Rows) -> Floats:
    """Convert X to a dense, C-ordered float64 array."""
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def row_slices(rows: int, bytes_per_row: int, budget_bytes: int) -> Iterator[slice]:
    """Yield slices that cover ``range(rows)``, each within the budget, none empty."""
    step = max(1, budget_bytes // max(1, bytes_per_row))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def _refine(
    result: Floats, left: Any, right: Any, left_squares: Floats, right_squares: Floats
) -> None:
    """Compute entries with cancellation again, from differences."""
    same = right is left
    for rows in row_slices(len(left_squares), 16 * len(right_squares), BLOCK_BYTES):
        limit = SUSPECT * (left_squares[rows, None] + right_squares[None, :])
        i, j = np.nonzero(result[rows] < limit)
        i += rows.start
        if same:
            i, j = i[i < j], j[i < j]
        for part in row_slices(len(i), 16 * left.shape[1] + 1, BLOCK_BYTES):
            exact = squared_norms(left[i[part]] - right[j[part]])
            result[i[part], j[part]] = exact
            if same:
                result[j[part], i[part]] = exact


def _dense_manhattan(X: Floats, Y: Floats) -> Floats:
    compiled = native.library
    if compiled is None:
        return np.asarray(scipy.spatial.distance.cdist(X, Y, "cityblock"))
    if not len(X) or not len(Y):
        return np.empty((len(X), len(Y)))
    differ = (X[0] != X).any(axis=0) | (X[0] != Y).any(axis=0)
    if not differ.all():
        X, Y = (np.ascontiguousarray(each[:, differ]) for each in (X, Y))
    out = np.empty((len(X), len(Y)))
    if not compiled.dcsvm_manhattan(
        *(address(X), len(X), address(Y), len(Y), X.shape[1], address(out))
    ):
        raise MemoryError("manhattan: not enough memory for one panel of points")
    return out


def distances_within(X: Floats) -> Floats:
    """Squared distances between the rows of X, (n, n), as by `squared_distances`."""
    if native.library is None:
        return squared_distances(X)
    out = np.empty((len(X), len(X)))
    write_distances(native.library, X, None, 0.0, out)
    return out


def write_distances(
    library: ctypes.CDLL,
    X: Floats,
    Y: Floats | None,
    gamma: float,
    out: Floats | Singles,
) -> None:
    """Write squared distances, or exp(-gamma d) - 1 if `out` is float32, and zero the padding."""
    left, right = _center(X, X if Y is None else Y)
    single = out.dtype == np.float32
    done = library.dcsvm_distances(
        *(address(left), len(left), address(right), len(right), left.shape[1], gamma),
        *(int(Y is None), None if single else address(out), address(out) if single else None),
        out.shape[1],
    )
    if not done:
        raise MemoryError("distances: not enough memory for the packed rows")


def _center(X: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """Center both at the mean of Y, and drop constant columns."""
    if not len(X) or not len(Y):
        return X, Y
    first = Y[0]
    differ = (first != Y).any(axis=0)
    if X is not Y:
        differ |= (first != X).any(axis=0)
    columns = np.flatnonzero(differ) if differ.any() else np.arange(min(1, X.shape[1]))
    points = Y if differ.all() else Y[:, columns]
    right = np.ascontiguousarray(points - points.mean(axis=0))
    if X is Y:
        return right, right
    return np.ascontiguousarray(X[:, columns] - points.mean(axis=0)), right


def rbf_values(distances: Floats, gamma: float, out: Floats | None = None) -> Floats:
    """exp(-gamma d) of each squared distance, written to `out` if given."""
    if native.library is None:
        return np.asarray(np.exp(np.multiply(distances, -gamma, out=out), out=out))
    out = np.empty(distances.shape) if out is None else out
    native.library.dcsvm_values(address(distances), distances.size, gamma, address(out))
    return out
