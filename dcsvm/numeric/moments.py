"""Means, covariances and eigenvectors, for linear transforms of features."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.kernels.distances import BLOCK_BYTES, Floats, Rows, as_dense, row_slices


def covariance(
    X: Rows, weights: FloatArray | None, centres: Floats, assignment: IntArray | None = None
) -> Floats:
    """The mean outer product (d, d) of rows X (n, d) around centers (k, d).

    Row i has center `assignment[i]`, or the only one; a row of weight w counts as w rows.
    """
    n, d = X.shape
    total = np.zeros((d, d))
    given = np.ones(n) if weights is None else weights
    roots = np.sqrt(given / given.sum())
    for rows in row_slices(n, 8 * d, BLOCK_BYTES):
        around = centres[0] if assignment is None else centres[assignment[rows]]
        block = (as_dense(X[rows]) - around) * roots[rows, None]
        total += block.T @ block
    return total


def means(
    X: Rows,
    weights: FloatArray | None = None,
    assignment: IntArray | None = None,
    n_groups: int = 1,
) -> Floats:
    """The weighted mean rows (n_groups, d) of all rows X (n, d), or of the rows of each group.

    A group without rows has zeros.
    """
    n = X.shape[0]
    given = np.ones(n) if weights is None else weights
    where = np.zeros(n, dtype=np.intp) if assignment is None else assignment
    shares = sparse.csr_array((given, (where, np.arange(n))), shape=(n_groups, n))
    masses = np.bincount(where, given, minlength=n_groups)
    return np.asarray(as_dense(shares @ X) / np.where(masses > 0, masses, 1.0)[:, None])


def block_products(
    X: Rows,
    weights: FloatArray | None,
    place: IntArray,
    block: IntArray,
    n_blocks: int,
    width: int,
) -> Floats:
    """The sum over rows X (n, d) of the inner products of every two blocks, (n_blocks, n_blocks).

    Feature j is at `place[j]` of block `block[j]`; blocks have `width` places, padded with zeros.
    """
    total = np.zeros((n_blocks, n_blocks))
    roots = np.ones(X.shape[0]) if weights is None else np.sqrt(weights)
    for columns in _stack(X, roots, place, block, n_blocks, width):
        product = columns.T @ columns
        total += product.toarray() if sparse.issparse(product) else product
    return total


def directions(matrix: Floats, metric: Floats | None = None) -> Floats:
    """Eigenvectors as columns (d, d), by decreasing eigenvalue.

    With a metric they solve `matrix v = value metric v`. The largest entry of each is positive, so
    that signs do not depend on the library.
    """
    _, vectors = scipy.linalg.eigh(matrix, metric)
    vectors = vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.ascontiguousarray(vectors * np.where(signs == 0, 1.0, signs))


def _stack(
    X: Rows, roots: Floats, place: IntArray, block: IntArray, n_blocks: int, width: int
) -> Iterator[Any]:
    """Yield some rows at a time, with stacked blocks as columns: (rows * width, n_blocks)."""
    n, d = X.shape
    if sparse.issparse(X):
        per_row = 64 * max(1, X.nnz // max(1, n))
        for rows in row_slices(n, per_row, BLOCK_BYTES):
            part = X[rows]
            row = np.repeat(np.arange(part.shape[0], dtype=np.int64), np.diff(part.indptr))
            entry = row * width + place[part.indices]
            # Empty rows are left out.
            used, where = np.unique(entry, return_inverse=True)
            values = part.data * roots[rows][row]
            yield sparse.csr_array(
                (values, (where, block[part.indices])), shape=(len(used), n_blocks)
            )
        return
    order = np.full((n_blocks, width), d)
    order[block, place] = np.arange(d)
    for rows in row_slices(n, 24 * d, BLOCK_BYTES):
        weighted = X[rows] * roots[rows, None]
        padded = np.hstack([weighted, np.zeros((len(weighted), 1))])
        yield padded[:, order].transpose(0, 2, 1).reshape(-1, n_blocks)
