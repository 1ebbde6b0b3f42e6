"""Systems (K + ridge) x = b of many ridges: by one small subspace, by factors elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import lstsq
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import dpotrf, dpotrs, spotrf

from dcsvm.numeric.distances import Floats
from dcsvm.numeric.krylov import PRECISION, Krylov, lengths, times

Singles = npt.NDArray[np.float32]

FEW_COLUMNS = 4
"""Up to so many right-hand sides a single-precision factor, refined, beats a double one."""

MOST_REFINEMENTS = 16


def solve_shifted(matrix: Floats, right: Floats, ridges: Sequence[float]) -> list[Floats]:
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
    room = np.empty(matrix.shape, dtype=np.float32) if len(found) < len(ridges) else None
    return [
        space.lift(found[ridge]) if ridge in found else solve_one(matrix, right, ridge, room)
        for ridge in ridges
    ]


def solve_one(matrix: Floats, right: Floats, ridge: float, room: Singles | None = None) -> Floats:
    """The solution for one ridge, by a Cholesky factor of its own; `room` is written over."""
    if room is None:
        room = np.empty(matrix.shape, dtype=np.float32)
    refined = _refined(matrix, right, ridge, room) if right.shape[1] <= FEW_COLUMNS else None
    if refined is not None:
        return refined
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += ridge
    factor, failed = dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
    if not failed:
        return np.asarray(dpotrs(factor, right, lower=1)[0])
    # Only a matrix that is not positive semidefinite comes here.
    return np.asarray(lstsq(matrix + ridge * np.eye(len(matrix)), right)[0])


def _refined(matrix: Floats, right: Floats, ridge: float, single: Singles) -> Floats | None:
    """Conjugate gradients with a single-precision factor before them, or None if they stall."""
    with np.errstate(over="ignore"):
        np.copyto(single, matrix, casting="same_kind")
        single.flat[:: len(matrix) + 1] += np.float32(ridge)
    factor, failed = spotrf(single.T, lower=1, overwrite_a=1, clean=0)
    if failed or not np.isfinite(np.diagonal(factor)).all():
        return None
    size = float(np.linalg.norm(matrix)) / np.sqrt(len(matrix))  # at most the largest eigenvalue
    answer, left = np.zeros_like(right), right.copy()
    ways, before = np.zeros_like(right), np.zeros(right.shape[1])
    for _ in range(MOST_REFINEMENTS):
        scale = lengths(left)
        if (scale <= PRECISION * (size * lengths(answer) + lengths(right))).all():
            return answer
        scale[scale == 0.0] = 1.0
        guess = _by_factor(factor, (left / scale).astype(np.float32)) * scale
        agreement = np.einsum("ij,ij->j", left, guess)
        ways = guess + ways * _share(agreement, before)
        moved = times(matrix, ways) + ridge * ways
        step = _share(agreement, np.einsum("ij,ij->j", ways, moved))
        answer = answer + ways * step
        left = left - moved * step
        before = agreement
    return None


def _by_factor(factor: Singles, block: Singles) -> Floats:
    """The single-precision answer, column by column: for so few that is much the quickest."""
    answers = [strsv(factor, strsv(factor, one, lower=1), lower=1, trans=1) for one in block.T]
    return np.stack(answers, axis=1).astype(np.float64)


def _share(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 for a column that has nothing left."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
