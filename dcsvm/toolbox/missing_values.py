"""Missing values in a column: what to impute, and what to advise if nothing imputes them.

In a matrix, a missing value is NaN.
"""

from typing import Literal, TypeAlias

import numpy as np

from dcsvm.numeric.array_types import FloatArray

Missing: TypeAlias = Literal["error", "impute", "mark"]
#: What is done with rows that lack the target.
MissingTarget: TypeAlias = Literal["error", "drop"]
#: What to do where no one fills them in.
ADVICE = (
    "X contains NaN, a missing value: put an imputer in front, as in "
    'make_pipeline(TablePreparation(missing="impute"), classifier) or '
    "make_pipeline(SimpleImputer(), classifier)"
)
#: What to do where a TablePreparation raises.
SETTING = (
    'X contains NaN, a missing value, and missing="error": with missing="impute" or "mark" it '
    "would be filled in"
)


def is_about_missing_values(error: Exception) -> bool:
    """Whether an error of scikit-learn says that a value is missing."""
    return str(error).startswith("Input X contains NaN")


def choose_fill(values: FloatArray, n_levels: int) -> float:
    """Return what to fill in: the median, or the index of the most frequent level."""
    present = values[~np.isnan(values)]
    if n_levels:
        codes = present[present >= 0].astype(np.intp)
        return float(np.bincount(codes, minlength=n_levels).argmax())
    return float(np.median(present)) if len(present) else 0.0
