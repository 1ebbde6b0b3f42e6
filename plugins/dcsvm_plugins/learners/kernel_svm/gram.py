"""Gram matrices of the solvers: float32 values less a constant, with exact values on demand."""

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats, address, native, squared_distances, write_distances

BLOCK = 64
"""Rows are padded to multiples of this for the compiled solver."""


def allocate_rows(n: int) -> npt.NDArray[np.float32]:
    """Allocate the values of an (n, n) Gram matrix, with rows padded for the compiled solver.

    The caller sets the padding to zero.
    """
    return np.empty((n, -(-n // BLOCK) * BLOCK), dtype=np.float32)


@attrs.frozen(eq=False)
class Gram:
    """A Gram matrix in the form of the solvers: ``K = scale * (values + shift)``.

    Values are float32, for twice as many in the caches; the compiled solver copies them unless
    they come from `allocate_rows`. Subtracting a constant first keeps more digits for a small
    gamma, and does not change the dual, as signed coefficients sum to zero. If rounding would
    affect the optimality gap (large C), the solvers correct the gradient with exact values, from
    `matrix` (kernel values, or distances with a positive gamma) or from the RBF kernel on `X`.
    """

    values: npt.NDArray[np.float32]
    shift: float = 0.0
    scale: float = 1.0
    matrix: Floats | None = None
    X: Floats | None = None
    gamma: float = 0.0

    def exact(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> Floats | None:
        """Float64 entries on the scale of `values`, or None if exact values are unknown."""
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
    """Convert a symmetric and finite kernel matrix (n, n) for the solvers."""
    if isinstance(K, Gram):
        return K
    matrix = np.ascontiguousarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"as_gram: a Gram matrix must be square, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("as_gram: the Gram matrix has values that are not finite")
    if not matrix.size:
        return Gram(np.empty((0, 0), dtype=np.float32))
    diagonal = np.diagonal(matrix)
    constant = np.ptp(diagonal) == 0
    shift = float(diagonal[0] if constant else matrix.mean())
    scale = abs(shift) if constant else float(np.abs(matrix - shift).max())
    # A power of two, so that scaling does not round.
    scale = float(2.0 ** np.ceil(np.log2(scale))) if scale > 0 else 1.0
    rows, n = allocate_rows(len(matrix)), len(matrix)
    np.subtract(matrix / scale, shift / scale, out=rows[:, :n], casting="same_kind")
    rows[:, n:] = 0.0
    return Gram(rows[:, :n], shift / scale, scale, matrix=matrix)


def rbf_rows(X: Floats, Y: Floats | None, gamma: float) -> npt.NDArray[np.float32]:
    """exp(-gamma d) - 1 of squared distances (n, m), in float32, without a matrix of distances."""
    if native.library is None:
        return np.expm1(-gamma * squared_distances(X, Y)).astype(np.float32)
    out = np.empty((len(X), len(X if Y is None else Y)), dtype=np.float32)
    write_distances(native.library, X, Y, gamma, out)
    return out


def gram_from_distances(distances: Floats, gamma: float) -> Gram:
    """The Gram matrix exp(-gamma d), stored less one to keep digits if gamma d is small.

    `distances` (n, n) are squared ones for the RBF kernel, L1 for the Laplacian kernel.
    """
    n = len(distances)
    if native.library is None:
        values = np.expm1(-gamma * distances).astype(np.float32)
    else:
        values = allocate_rows(n)
        native.library.dcsvm_exponentials(
            address(distances), n, n, gamma, address(values), values.shape[1]
        )
    return Gram(values[:, :n], shift=1.0, matrix=distances, gamma=gamma)


def rbf_gram(X: Floats, gamma: float) -> Gram:
    """The Gram matrix of the RBF kernel on dense rows, computed without a matrix of distances."""
    rows, n = np.ascontiguousarray(X, dtype=np.float64), len(X)
    if native.library is None:
        values = rbf_rows(rows, None, gamma)
    else:
        values = allocate_rows(n)
        write_distances(native.library, rows, None, gamma, values)
    return Gram(values[:, :n], shift=1.0, X=rows, gamma=gamma)


def gram_structure(gram: Gram) -> native.GramStructure:
    """The C struct of a Gram matrix; it points into the arrays and must not outlive them."""
    depth = 0 if gram.X is None else gram.X.shape[1]
    values, width = gram.values, gram.values.strides[0] // gram.values.itemsize
    if values.size and values.strides[1] != values.itemsize:
        raise ValueError("solve: the rows of a Gram matrix must be C-ordered")
    return native.GramStructure(
        *(values.ctypes.data, len(values), width, gram.shift),
        *(address(gram.matrix), address(gram.X), depth, gram.gamma, gram.scale),
    )
