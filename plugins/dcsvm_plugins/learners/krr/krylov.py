"""Many shifted systems in one subspace: block Lanczos with full orthogonalisation."""

from collections.abc import Sequence

import numpy as np
import scipy

from dcsvm.numeric import FloatArray

FAR, PATIENCE = 5.0, 2
"""A shift is far if it needs more than FAR further checks at its last rate of convergence. After
PATIENCE checks in a row at which the nearest shift was far, the subspace stops growing. Five
checks cost about as much as a Cholesky factor."""

PRECISION = 1e-15
"""The backward error of a solution, about that of a Cholesky factorisation."""


def times(matrix: FloatArray, block: FloatArray) -> FloatArray:
    """A symmetric matrix times an (n, columns) array; one column reads half of the matrix."""
    if block.shape[1] == 1:
        return np.asarray(scipy.linalg.blas.dsymv(1.0, matrix.T, block[:, 0]))[:, None]
    return np.asarray(matrix @ block)


def lengths(block: FloatArray) -> FloatArray:
    """The norm of each column."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", block, block)))


class Krylov:
    """An orthonormal basis of b, Ab, AAb ..., in which every system (A + shift) x = b is small.

    A (n, n) is positive semidefinite, b has several columns, and there are at most `most` vectors.
    """

    def __init__(self, matrix: FloatArray, right: FloatArray, most: int) -> None:
        self.matrix = matrix
        self.right_lengths = lengths(right)
        block, self.first = np.linalg.qr(right)
        self.width = block.shape[1]
        self.basis = np.empty((len(right), most + self.width), order="F")
        self.basis[:, : self.width] = block
        self.projected = np.zeros((most + self.width, most))
        self.size = 0
        self.largest = 0.0

    def grow_for(self, shifts: Sequence[float]) -> dict[float, FloatArray]:
        """Grow while that solves further shifts precisely; return the solutions by shift."""
        each = max(8 // self.width, 1)
        found: dict[float, FloatArray] = {}
        before: dict[float, float] = {}
        far = 0
        while self.size + self.width <= self.projected.shape[1] and far < PATIENCE:
            self.grow()
            if (self.size // self.width) % each == 0 or self._is_closed():
                found, missing = self.solve(shifts)
                if not missing:
                    break
                far = far + 1 if _is_far(missing, before) else 0
                before = missing
        return found

    def grow(self) -> None:
        """Multiply the last block by the matrix, and orthogonalize it against all before it."""
        begin, end = self.size, self.size + self.width
        known = self.basis[:, :end]
        new = times(self.matrix, self.basis[:, begin:end])
        share = known.T @ new
        new -= known @ share
        again = known.T @ new  # a second time, because of rounding
        new -= known @ again
        block, rest = np.linalg.qr(new)
        if np.abs(np.diagonal(rest)).min() <= 1e-2 * np.abs(share).max():
            # What is left of a column is mostly rounding error, in any direction.
            block -= known @ (known.T @ block)
            block = np.linalg.qr(block - known @ (known.T @ block))[0]
            rest = block.T @ new
        self.basis[:, end : end + self.width] = block
        self.projected[:end, begin:end] = share + again
        self.projected[end : end + self.width, begin:end] = rest
        self.size = end

    def _is_closed(self) -> bool:
        """Whether the basis is invariant under the matrix."""
        return bool(np.abs(self._rest()).max() <= 1e-12 * np.abs(self.projected).max())

    def _rest(self) -> FloatArray:
        end = self.size
        return self.projected[end : end + self.width, end - self.width : end]

    def solve(self, shifts: Sequence[float]) -> tuple[dict[float, FloatArray], dict[float, float]]:
        """Solve in the basis: solutions (size, columns) of the shifts that are precise.

        For the other shifts, the error as a multiple of the allowed one.
        """
        bands, right = self._bands(), np.zeros((self.size, len(self.right_lengths)))
        right[: self.width] = self.first
        if self.largest == 0.0:
            self.largest = float(scipy.linalg.eigvals_banded(bands, check_finite=False)[-1])
        found, missing = {}, {}
        for shift in shifts:
            shifted = bands.copy()
            shifted[-1] += shift
            _, answer, failed = scipy.linalg.lapack.dpbsv(shifted, right, overwrite_ab=1)
            if failed:
                missing[shift] = np.inf
                continue
            outside = lengths(self._rest() @ answer[-self.width :])
            allowed = PRECISION * (self.largest * lengths(answer) + self.right_lengths)
            if (outside <= allowed).all():
                found[shift] = answer
            else:
                missing[shift] = float((outside[allowed > 0] / allowed[allowed > 0]).max())
        return found, missing

    def _bands(self) -> FloatArray:
        """The projected matrix, which is banded, in the upper band storage of LAPACK."""
        matrix = self.projected[: self.size, : self.size]
        bands = np.zeros((self.width + 1, self.size))
        for place in range(min(self.width + 1, self.size)):
            above, below = np.diagonal(matrix, place), np.diagonal(matrix, -place)
            bands[self.width - place, place:] = 0.5 * (above + below)
        return bands

    def lift(self, answer: FloatArray) -> FloatArray:
        """A solution in the basis as an (n, columns) array."""
        return np.asarray(self.basis[:, : self.size] @ answer)


def _is_far(missing: dict[float, float], before: dict[float, float]) -> bool:
    """Whether the shift with the smallest error needs many more checks."""
    nearest = min(missing, key=missing.__getitem__)
    now, then = missing[nearest], before.get(nearest, np.inf)
    return not np.log(now) <= FAR * np.log(then / now)
