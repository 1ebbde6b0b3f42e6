"""Sums of absolute differences: what the Laplacian kernel is made of."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dcsvm.numeric.backend import library
from dcsvm.numeric.kernels.distances import (
    BLOCK_BYTES,
    Floats,
    Rows,
    as_dense,
    as_rows,
    row_slices,
)
from dcsvm.numeric.native import address


def manhattan_distances(X: Rows, Y: Rows | None = None) -> Floats:
    """Sums of absolute differences between the rows of X and of Y.

    CSR rows are made dense a block at a time.

    Parameters
    ----------
    X : (n, features) array or CSR
    Y : (m, features) array or CSR, optional

    Returns
    -------
    (n, m) array of float64
    """
    left = as_rows(X)
    right = left if Y is None or Y is X else as_rows(Y)
    if max(left.shape[0], right.shape[0]) * 8 * left.shape[1] <= BLOCK_BYTES:
        return _dense(as_dense(left), as_dense(right))
    result = np.empty((left.shape[0], right.shape[0]))
    for rows in row_slices(left.shape[0], 8 * left.shape[1], BLOCK_BYTES):
        for columns in row_slices(right.shape[0], 8 * right.shape[1], BLOCK_BYTES):
            result[rows, columns] = _dense(as_dense(left[rows]), as_dense(right[columns]))
    return result


def _dense(X: Floats, Y: Floats) -> Floats:
    compiled = library()
    if compiled is None:
        return np.asarray(cdist(X, Y, "cityblock"))
    if not len(X) or not len(Y):
        return np.empty((len(X), len(Y)))
    differ = (X[0] != X).any(axis=0) | (X[0] != Y).any(axis=0)
    if not differ.all():
        X, Y = (np.ascontiguousarray(each[:, differ]) for each in (X, Y))
    out = np.empty((len(X), len(Y)))
    if not compiled.dcsvm_manhattan(
        *(address(X), len(X), address(Y), len(Y), X.shape[1], address(out))
    ):
        raise MemoryError("manhattan: no room for one panel of points")
    return out
