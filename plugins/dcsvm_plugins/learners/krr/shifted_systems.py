"""Systems (K + ridge) x = b of many ridges: by one small subspace, by factors elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import lstsq
from scipy.linalg.blas import strsm, strsv
from scipy.linalg.lapack import dpotrf, dpotrs, spotrf

from dcsvm.numeric import FloatArray
from dcsvm_plugins.learners.krr.krylov import PRECISION, Krylov, lengths, times

Singles = npt.NDArray[np.float32]

FEW_COLUMNS, ONE_BY_ONE = 8, 4
"""Up to so many right-hand sides a single-precision factor, refined, beats a double one."""

MOST_REFINEMENTS = 16


def solve_shifted(
    matrix: FloatArray, right: FloatArray, ridges: Sequence[float]
) -> list[FloatArray]:
    """Solutions of (K + ridge) x = b for every ridge, each as precise as by Cholesky.

    Large ridges and smooth kernels are answered from one small subspace; every other ridge has
    a Cholesky factor of its own, in single precision with refinement where that is quicker.

    Parameters
    ----------
    matrix : (n, n) array
        K, symmetric and positive semidefinite.
    right : (n, columns) array
    ridges : positive values

    Returns
    -------
    list of (n, columns) arrays
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
    """Answers by a Cholesky factor for each ridge, with what all of them share made once.

    Parameters
    ----------
    matrix : (n, n) array
        Symmetric and positive semidefinite.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self.matrix = matrix
        self.least_size = float(np.linalg.norm(matrix)) / np.sqrt(len(matrix))
        with np.errstate(over="ignore"):
            self.single = matrix.astype(np.float32)
        self.room = np.empty_like(self.single)

    def solve(self, right: FloatArray, ridge: float) -> FloatArray:
        """The solution of (K + ridge) x = b, as precise as by a factor in double precision."""
        refined = self._refined(right, ridge) if right.shape[1] <= FEW_COLUMNS else None
        if refined is not None:
            return refined
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += ridge
        factor, failed = dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
        if not failed:
            return np.asarray(dpotrs(factor, right, lower=1)[0])
        # Only a matrix that is not positive semidefinite comes here.
        return np.asarray(lstsq(self.matrix + ridge * np.eye(len(right)), right)[0])

    def _refined(self, right: FloatArray, ridge: float) -> FloatArray | None:
        """Conjugate gradients behind a single-precision factor, or None if they stall."""
        np.copyto(self.room, self.single)
        with np.errstate(over="ignore"):
            self.room.flat[:: len(right) + 1] += np.float32(ridge)
        factor, failed = spotrf(self.room.T, lower=1, overwrite_a=1, clean=0)
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
    """The single-precision answer; for a few columns, one by one is much the quickest."""
    if block.shape[1] > ONE_BY_ONE:
        half = strsm(1.0, factor, block, lower=1)
        return np.asarray(strsm(1.0, factor, half, lower=1, trans_a=1), dtype=np.float64)
    answers = [strsv(factor, strsv(factor, one, lower=1), lower=1, trans=1) for one in block.T]
    return np.stack(answers, axis=1).astype(np.float64)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, and 0 for a column that has nothing left."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
