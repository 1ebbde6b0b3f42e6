"""Row weights: `sample_weight` and `class_weight` of scikit-learn together.

The classifier drops rows of weight zero; parts and learners receive the weights of their rows as
`Problem.weights`.
"""

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from dcsvm.numeric.array_types import FloatArray


def compute_row_weights(
    X: Any, y: Any, sample_weight: Any, class_weight: Any = None
) -> FloatArray:
    """Return the weights (n,) of rows and classes together; raise if one is negative."""
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    return np.asarray(weights * compute_sample_weight(class_weight, y))
