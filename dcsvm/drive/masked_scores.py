"""Masked scores: those of classes that are absent from a part.

A member scores only the classes in its part: its `code` is 0 for the others. Combinations ignore
them, and a class that no member scores is NaN. As scikit-learn expects finite scores, NaN is
replaced here. A part with a single class has no learner: `subproblem.py` answers it with a
`Constant`.
"""

import numpy as np

from dcsvm.numeric.array_types import FloatArray


def floor_masked(scores: FloatArray) -> FloatArray:
    """Replace NaN in scores (n, classes) by a number below the row's other scores, at most -1."""
    masked = np.isnan(scores)
    if not masked.any():
        return scores
    lowest = np.where(masked, np.inf, scores).min(axis=1, keepdims=True)
    floor = np.minimum(np.where(np.isfinite(lowest), lowest, 0.0), 0.0) - 1.0
    return np.where(masked, floor, scores)
