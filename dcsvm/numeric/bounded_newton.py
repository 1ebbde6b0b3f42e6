"""Newton's method for smooth convex functions of a few numbers, each with a least value."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dcsvm.numeric.array_types import FloatArray

#: The value (a scalar), the gradient (d,) and the curvature (d, d) at some numbers (d,).
Evaluation: TypeAlias = tuple[float, FloatArray, FloatArray]

#: Steps, halvings of a step, and the share of the expected decrease that a step must reach.
STEPS, HALVINGS, SUFFICIENT = 50, 30, 1e-4


def minimize_bounded(
    evaluate: Callable[[FloatArray], Evaluation],
    start: FloatArray,
    least: FloatArray,
    precision: float = 1e-8,
) -> FloatArray:
    """Find the numbers (d,), each at least `least`, for which the value is smallest.

    The curvature from `evaluate` must be positive definite: where the function is not quite
    convex, it is that of an approximation. Entries of the gradient up to `precision` count as
    zero.

    References
    ----------
    Bertsekas: Projected Newton methods for optimization problems with simple constraints (1982).
    """
    found = np.maximum(start, least)
    value, gradient, curvature = evaluate(found)
    for _ in range(STEPS):
        free = (found > least) | (gradient < 0.0)
        if np.abs(gradient[free]).max(initial=0.0) < precision:
            break
        step = np.zeros(len(found))
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        for length in 0.5 ** np.arange(HALVINGS):
            trial = np.maximum(found - length * step, least)
            after = evaluate(trial)
            if after[0] <= value - SUFFICIENT * float(gradient @ (found - trial)):
                break
        else:
            break
        found, (value, gradient, curvature) = trial, after
    return found
