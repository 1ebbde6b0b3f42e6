"""Newton steps on the free rows of the dual."""

import numpy as np
import scipy

from dcsvm.numeric import Floats
from dcsvm_plugins.learners.kernel_svm.dual_problem import BoundedDual, Integers

SOON = 0.2
"""Rows that would hit a bound within this share beyond the step are dropped, too."""


def newton_steps(
    problem: BoundedDual, free: Integers, A: Floats, ridge: float
) -> tuple[Floats, int]:
    """Minimise over the `free` rows (m,) at constant sum, dropping rows that hit a bound.

    Rows about to hit a bound are dropped as well and left to pairwise steps. The coefficients of
    the problem are updated, its gradient is not. A (m, m) is the positive semidefinite matrix of
    the free rows; `ridge` is added to its diagonal, and increased if the factorisation fails.
    Returns the steps (m,) and the number of linear systems solved.
    """
    before, gradient = problem.beta[free].copy(), problem.f[free].copy()
    rows, solves = free, 0
    while len(rows) >= 2:
        try:
            factor = scipy.linalg.cho_factor(A + ridge * np.eye(len(rows)), lower=True)
        except scipy.linalg.LinAlgError:
            ridge *= 30.0
            if ridge > 1e-3 * np.abs(A).max():
                break
            continue
        u, v = scipy.linalg.cho_solve(factor, np.stack([gradient, np.ones(len(rows))], axis=1)).T
        level = u.sum() / v.sum()
        direction = level * v - u
        direction -= direction.mean()  # with little curvature, rounding shifts the sum
        if not gradient @ direction < 0:
            break
        share, hit = _longest_step(problem, rows, direction)
        problem.beta[rows] += share * direction
        gradient += share * (level - gradient) - ridge * share * direction
        solves += 1
        if hit < 0:
            break
        row = rows[hit]
        problem.beta[row] = (problem.upper if direction[hit] > 0 else problem.lower)[row]
        to = problem.beta[rows] + SOON * (share + 0.01) * direction
        stays = (to <= problem.upper[rows]) & (to >= problem.lower[rows])
        stays[hit] = False
        rows, gradient, A = rows[stays], gradient[stays], A[np.ix_(stays, stays)]
    return problem.beta[free] - before, solves


def _longest_step(problem: BoundedDual, rows: Integers, direction: Floats) -> tuple[float, int]:
    """The share of a step allowed by the bounds, and the row that limits it, or -1."""
    target = np.where(direction > 0, problem.upper[rows], problem.lower[rows])
    room = np.full(len(rows), np.inf)
    moving = direction != 0
    room[moving] = (target[moving] - problem.beta[rows][moving]) / direction[moving]
    hit = int(np.argmin(room))
    return (max(float(room[hit]), 0.0), hit) if room[hit] < 1.0 else (1.0, -1)
