"""The tolerance at which the dual solvers of KernelSVM stop, where `tol` is "auto"."""

from collections.abc import Sequence

import numpy as np

from dcsvm import Problem
from dcsvm.numeric import Kernel

#: Tolerances: LIBSVM's, that of models that only score held-out rows, that of fits of few rows.
TOLERANCE, COARSE, FINE_TOLERANCE, FINE_ROWS = 1e-3, 1e-2, 1e-8, 300
#: The rounding errors of a gradient, relative to the largest coefficient times kernel value.
ROUNDING = 1e-13


def find_fine_tolerance(problem: Problem, kernels: Sequence[Kernel], Cs: Sequence[float]) -> float:
    """The tolerance of a fit of up to FINE_ROWS rows: as fine as rounding errors allow."""
    if any(each.kind == "callable" for each in kernels):
        return TOLERANCE
    heaviest = 1.0 if problem.weights is None else float(problem.weights.max())
    if any(each.kind == "precomputed" for each in kernels):
        largest = float(np.abs(problem.X).max())
    else:
        largest = max(kernel.bound(problem.X) for kernel in kernels)
    reachable = ROUNDING * max(Cs) * heaviest * largest
    return min(max(FINE_TOLERANCE, reachable), TOLERANCE)
