"""How a large C is approached over smaller ones.

Where many rows end at a bound, they get there together, by a factor on all coefficients, and not
pair by pair. Each C on the way is solved roughly, from the one before; where too few rows are at a
bound, the way is given up, and C is solved from zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats
from dcsvm.numeric.svm.refinement import Bounded, Integers

LEAST_ROWS, SAMPLED_ROWS = 300, 16
FAR, NEAR = 100.0, 10.0
"""The mean bound times the mean curvature: from where on it is worth it, and where it begins."""
ROUGH = 0.1
"""The gap to stop at on the way."""
MANY = 0.25
"""The share at a bound, of the smaller side and as many others, below which it is given up."""


def run_continuation(
    problem: Bounded, y: Floats, bounds: Floats, curvature: float, solve: Callable[[], object]
) -> None:
    """From coefficients of zero to a start for the bounds, which the problem has afterwards.

    Parameters
    ----------
    problem : Bounded
        With coefficients of zero, changed in place.
    y : (n,) array of +1 and -1
    bounds : (n,) array
        The largest size of each coefficient.
    curvature : float
        As `mean_curvature` gives it.
    solve : callable
        Solves the problem as it is, to a gap of `ROUGH`.
    """
    for share in _shares(len(y), float(bounds.mean()) * curvature):
        set_bounds(problem, y, share * bounds)
        solve()
        bounded = (problem.beta != 0.0) & (np.abs(problem.beta) >= share * bounds)
        smaller = min((y > 0).sum(), (y < 0).sum())
        if bounded.sum() < MANY * 2 * smaller or not smaller:
            problem.beta, problem.f = np.zeros(len(y)), -y
            break
        rescale(problem, y, 10.0)
    set_bounds(problem, y, bounds)


def sample_rows(rows: int) -> Integers:
    """Some rows that stand for all."""
    return np.arange(0, rows, rows // SAMPLED_ROWS + 1)


def mean_curvature(values: npt.NDArray[np.floating], diagonal: npt.NDArray[np.floating]) -> float:
    """What two rows differ by in the space of the kernel, halved: the mean over some rows.

    Parameters
    ----------
    values : (sample_rows, n) array
        Kernel values of the `sample_rows` rows; a constant may be taken from all of them.
    diagonal : (n,) array
        Likewise.
    """
    own = diagonal[sample_rows(len(diagonal))]
    return float(np.mean(0.5 * (own[:, None] + diagonal) - values))


def rescale(problem: Bounded, y: Floats, most: float) -> float:
    """Start the next C at the best multiple of the solution, up to the growth of C."""
    linear, quadratic = float(problem.beta @ y), float(problem.beta @ (problem.f + y))
    factor = min(max(linear / quadratic, 1.0), most) if quadratic > 0 else 1.0
    problem.f = factor * (problem.f + y) - y
    problem.beta = factor * problem.beta
    return factor


def set_bounds(problem: Bounded, y: Floats, bounds: Floats) -> None:
    """Give the coefficients their bounds, and keep them within."""
    problem.upper = np.where(y > 0, bounds, 0.0)
    problem.lower = np.where(y > 0, 0.0, -bounds)
    problem.beta = np.clip(problem.beta, problem.lower, problem.upper)


def _shares(rows: int, size: float) -> Iterator[float]:
    """The shares of C on the way to it, ascending."""
    if rows < LEAST_ROWS or size < FAR:
        return
    share = 1.0
    while share * size >= 10.0 * NEAR:
        share *= 0.1
    while share < 0.5:
        yield share
        share *= 10.0
