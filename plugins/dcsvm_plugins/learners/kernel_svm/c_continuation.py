"""Continuation in C: solve for a large C by way of smaller ones.

If many rows end at a bound, scaling all coefficients moves them there together instead of pair by
pair. Each smaller C is solved roughly, starting from the previous one. If too few rows are at a
bound, the continuation is abandoned and C is solved from zero.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats
from dcsvm_plugins.learners.kernel_svm.dual_problem import BoundedDual, Integers

LEAST_ROWS, SAMPLED_ROWS = 300, 16
FAR, NEAR = 100.0, 10.0
"""Mean bound times mean curvature: use the continuation from FAR on, and start it at NEAR."""
ROUGH = 0.1
"""The gap at which to stop for the smaller values of C."""
MANY = 0.25
"""Abandon below this share of bounded rows, relative to twice the smaller class."""


def run_continuation(
    problem: BoundedDual, y: Floats, bounds: Floats, curvature: float, solve: Callable[[], object]
) -> None:
    """Find a starting point for `bounds` (n,) of absolute coefficients, and set them.

    The problem, which is changed in place, has zero coefficients. `curvature` is that of
    `mean_curvature`, and `solve` solves the problem with its current bounds to a gap of `ROUGH`.
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
    """Evenly spaced rows that represent all."""
    return np.arange(0, rows, rows // SAMPLED_ROWS + 1)


def mean_curvature(values: npt.NDArray[np.floating], diagonal: npt.NDArray[np.floating]) -> float:
    """Half the mean squared distance between rows in the feature space of the kernel.

    `values` (sample, n) are kernel values of the rows from `sample_rows`, and `diagonal` (n,)
    those of all rows with themselves, both up to the same additive constant.
    """
    own = diagonal[sample_rows(len(diagonal))]
    return float(np.mean(0.5 * (own[:, None] + diagonal) - values))


def rescale(problem: BoundedDual, y: Floats, most: float) -> float:
    """Scale the solution by the best factor, at most `most`, to start the next C."""
    linear, quadratic = float(problem.beta @ y), float(problem.beta @ (problem.f + y))
    factor = min(max(linear / quadratic, 1.0), most) if quadratic > 0 else 1.0
    problem.f = factor * (problem.f + y) - y
    problem.beta = factor * problem.beta
    return factor


def set_bounds(problem: BoundedDual, y: Floats, bounds: Floats) -> None:
    """Set the bounds, and clip the coefficients to them."""
    problem.upper = np.where(y > 0, bounds, 0.0)
    problem.lower = np.where(y > 0, 0.0, -bounds)
    problem.beta = np.clip(problem.beta, problem.lower, problem.upper)


def _shares(rows: int, size: float) -> Iterator[float]:
    """Increasing shares of C to solve on the way to C."""
    if rows < LEAST_ROWS or size < FAR:
        return
    share = 1.0
    while share * size >= 10.0 * NEAR:
        share *= 0.1
    while share < 0.5:
        yield share
        share *= 10.0
