"""Systems (K + ridge) x = b for many ridges, by one Krylov subspace or Cholesky factors."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from dcsvm.numeric import FloatArray
from dcsvm_plugins.learners.krr.krylov import PRECISION, Krylov, lengths, times

Singles = npt.NDArray[np.float32]

FEW_COLUMNS, ONE_BY_ONE = 8, 4
"""Up to this many right-hand sides, a refined float32 factor is faster than a float64 one."""

MOST_REFINEMENTS = 16


def solve_shifted(
    matrix: FloatArray, right: FloatArray, ridges: Sequence[float]
) -> list[FloatArray]:
    """Solve (K + ridge) x = b for every ridge, as precisely as by Cholesky factors.

    K (n, n) is positive semidefinite, and there is a solution (n, columns) for each ridge. Large
    ridges and smooth kernels are solved in one small subspace; every other ridge has its own
    Cholesky factor, in float32 with refinement if that is faster.
    """
    n, columns = right.shape
    space = Krylov(matrix, right, min(n, max(96, 12 * columns)))
    found = space.grow_for(ridges)
    factors = None if len(found) == len(ridges) else Factors(matrix)
    return [
        space.lift(found[ridge])
        if factors is None or ridge in found
        else factors.solve(right, ridge)
        for ridge in ridges
    ]


class Factors:
    """Solves a positive semidefinite matrix (n, n) plus each ridge by a Cholesky factor.

    What does not depend on the ridge is shared.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self.matrix = matrix
        self.least_size = float(np.linalg.norm(matrix)) / np.sqrt(len(matrix))
        with np.errstate(over="ignore"):
            self.single = matrix.astype(np.float32)
        self.room = np.empty_like(self.single)

    def solve(self, right: FloatArray, ridge: float) -> FloatArray:
        """Solve (K + ridge) x = b as precisely as by a float64 factor."""
        refined = self._refine(right, ridge) if right.shape[1] <= FEW_COLUMNS else None
        if refined is not None:
            return refined
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += ridge
        factor, failed = scipy.linalg.lapack.dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
        if not failed:
            return np.asarray(scipy.linalg.lapack.dpotrs(factor, right, lower=1)[0])
        # Reached only if the matrix is not positive semidefinite.
        return np.asarray(scipy.linalg.lstsq(self.matrix + ridge * np.eye(len(right)), right)[0])

    def _refine(self, right: FloatArray, ridge: float) -> FloatArray | None:
        """Conjugate gradients preconditioned by a float32 factor; None if they stall."""
        np.copyto(self.room, self.single)
        with np.errstate(over="ignore"):
            self.room.flat[:: len(right) + 1] += np.float32(ridge)
        factor, failed = scipy.linalg.lapack.spotrf(self.room.T, lower=1, overwrite_a=1, clean=0)
        if failed or not np.isfinite(np.diagonal(factor)).all():
            return None
        answer, left = np.zeros_like(right), right.copy()
        ways, before = np.zeros_like(right), np.zeros(right.shape[1])
        for _ in range(MOST_REFINEMENTS):
            scale = lengths(left)
            largest = self.least_size * lengths(answer) + lengths(right)
            if (scale <= PRECISION * largest).all():
                return answer
            scale[scale == 0.0] = 1.0
            guess = _by_factor(factor, (left / scale).astype(np.float32)) * scale
            agreement = np.einsum("ij,ij->j", left, guess)
            ways = guess + ways * _share(agreement, before)
            moved = times(self.matrix, ways) + ridge * ways
            step = _share(agreement, np.einsum("ij,ij->j", ways, moved))
            answer = answer + ways * step
            left = left - moved * step
            before = agreement
        return None


def _by_factor(factor: Singles, block: Singles) -> FloatArray:
    """Solve in float32; a few columns are fastest one by one."""
    if block.shape[1] > ONE_BY_ONE:
        half = scipy.linalg.blas.strsm(1.0, factor, block, lower=1)
        return np.asarray(
            scipy.linalg.blas.strsm(1.0, factor, half, lower=1, trans_a=1), dtype=np.float64
        )
    solve = scipy.linalg.blas.strsv
    answers = [solve(factor, solve(factor, one, lower=1), lower=1, trans=1) for one in block.T]
    return np.stack(answers, axis=1).astype(np.float64)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
