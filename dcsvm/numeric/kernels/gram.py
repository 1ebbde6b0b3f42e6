"""Gram matrices as the solvers keep them: float32, less a constant, and exact where it matters."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats, squared_distances

BLOCK = 64
"""The compiled solver's rows are padded to whole blocks of so many entries."""


def allocate_rows(n: int) -> npt.NDArray[np.float32]:
    """Room for the values (n, n) of a Gram matrix, in rows as the compiled solver takes them.

    What lies behind each row is for the maker of the matrix to set to zero.
    """
    return np.empty((n, -(-n // BLOCK) * BLOCK), dtype=np.float32)


@attrs.frozen(eq=False)
class Gram:
    """A Gram matrix as the solvers keep it: ``K = scale * (values + shift)``.

    Values are float32: twice as many pass through the caches, and part of what rounding costs
    is made up by subtracting a constant first. That changes nothing in the dual, whose signed
    coefficients sum to zero, and leaves for a small gamma the digits that matter. Where the
    rest of the rounding would show in the optimality gap (large C), the solvers put the
    gradient right with exact values, from `matrix` or from the RBF kernel on `X`.

    Parameters
    ----------
    values : (n, n) array of float32
        With `allocate_rows` behind it the compiled solver works on it as it is, else on a copy.
    shift : float
    scale : float
    matrix : (n, n) array of float64, optional
        Kernel values; with a positive gamma the distances that they are made of.
    X : (n, features) array of float64, optional
    gamma : float
    """

    values: npt.NDArray[np.float32]
    shift: float = 0.0
    scale: float = 1.0
    matrix: Floats | None = None
    X: Floats | None = None
    gamma: float = 0.0

    def exact(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> Floats | None:
        """Float64 entries on the scale of `values`, or None where nothing exact is known."""
        if self.matrix is not None:
            entries = self.matrix[np.ix_(rows, columns)]
            if self.gamma == 0.0:
                return np.asarray(entries / self.scale - self.shift)
        elif self.X is not None:
            entries = squared_distances(self.X[rows], self.X[columns])
        else:
            return None
        return np.asarray(np.exp(-self.gamma * entries) - self.shift)


def as_gram(K: npt.NDArray[np.floating] | Gram) -> Gram:
    """A kernel matrix ready for the solvers.

    Parameters
    ----------
    K : (n, n) array or Gram
        Symmetric and finite.
    """
    if isinstance(K, Gram):
        return K
    matrix = np.ascontiguousarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"as_gram: a Gram matrix is square, this one is {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("as_gram: the Gram matrix holds values that are not finite")
    if not matrix.size:
        return Gram(np.empty((0, 0), dtype=np.float32))
    diagonal = np.diagonal(matrix)
    constant = np.ptp(diagonal) == 0
    shift = float(diagonal[0] if constant else matrix.mean())
    scale = abs(shift) if constant else float(np.abs(matrix - shift).max())
    # A power of two, so that coefficients come back from the scale with their last bit.
    scale = float(2.0 ** np.ceil(np.log2(scale))) if scale > 0 else 1.0
    rows, n = allocate_rows(len(matrix)), len(matrix)
    np.subtract(matrix / scale, shift / scale, out=rows[:, :n], casting="same_kind")
    rows[:, n:] = 0.0
    return Gram(rows[:, :n], shift / scale, scale, matrix=matrix)
