"""Newton's method for the squared hinge loss over a basis of rows."""

import numpy as np
import scipy

from dcsvm.numeric.array_types import FloatArray, IntArray

#: Newton steps of one optimization, and halvings of a step: both are rarely reached.
STEPS, HALVINGS = 30, 20
#: Added to the diagonal of Newton's equations, as a share of its largest entry.
RIDGE = 1e-10


def minimize_squared_hinge(
    values: FloatArray, rows: IntArray, target: FloatArray, costs: FloatArray, start: FloatArray
) -> FloatArray:
    """The weights (m + 1,) with the least regularized squared hinge loss; the last is the bias.

    `values` (n, m + 1) are the kernel values of the basis `rows`, and ones.
    """
    m = len(rows)
    penalty = np.zeros((m + 1, m + 1))
    penalty[:m, :m] = (values[rows, :m] + values[rows, :m].T) / 2

    def objective(weights: FloatArray) -> float:
        short = np.maximum(1.0 - target * (values @ weights), 0.0)
        return float(weights @ penalty @ weights + costs @ short**2) / 2

    weights, least = start, objective(start)
    for _ in range(STEPS):
        active = target * (values @ weights) < 1.0
        inside = values[active]
        matrix = penalty + (inside.T * costs[active]) @ inside
        matrix[np.diag_indices(m + 1)] += RIDGE * matrix.diagonal().max()
        optimum = scipy.linalg.solve(
            matrix, inside.T @ (costs[active] * target[active]), assume_a="sym"
        )
        for halving in range(HALVINGS):
            trial = weights + (optimum - weights) * 0.5**halving
            found = objective(trial)
            if found < least:
                break
        if found >= least * (1.0 - 1e-9):
            return trial if found < least else weights
        weights, least = trial, found
    return weights
