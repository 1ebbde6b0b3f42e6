"""What predicting a row costs: kernel evaluations and hyperplanes."""

from __future__ import annotations

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray

Count = float | FloatArray


@attrs.frozen(eq=False)
class Cost:
    """The cost of a prediction: one number for all rows, or one per row. NaN means unknown.

    `kernel_evaluations` counts a support vector once per binary classifier that uses it (the TD
    paper's NSV), `unique_kernel_evaluations` once per row (as in the DAGSVM paper), and
    `hyperplanes` counts inner products with hyperplanes.
    """

    kernel_evaluations: Count = 0.0
    unique_kernel_evaluations: Count = 0.0
    hyperplanes: Count = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.kernel_evaluations + other.kernel_evaluations,
            self.unique_kernel_evaluations + other.unique_kernel_evaluations,
            self.hyperplanes + other.hyperplanes,
        )


UNKNOWN = Cost(np.nan, np.nan, np.nan)
