"""Splits of values at their median, with a band that belongs to both sides."""

import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray


def split_with_overlap(
    values: FloatArray, overlap: float
) -> tuple[float, float, IntArray, IntArray] | None:
    """Split values (n,) at their median, the share `overlap` of them nearest to it on both sides.

    The border, half the width of the band, and the ids of both sides. None if all values are
    alike. There is no band if a side would hold all values.
    """
    distinct = np.unique(values)
    if np.ptp(values) <= 1e-9 * np.abs(values).max():
        return None
    middle = int(np.clip(np.searchsorted(distinct, np.median(values)), 1, len(distinct) - 1))
    border = float(distinct[middle - 1 : middle + 1].mean())
    width = float(np.quantile(np.abs(values - border), overlap)) if overlap else 0.0
    left, right = np.flatnonzero(values < border + width), np.flatnonzero(values > border - width)
    if max(len(left), len(right)) == len(values):
        width = 0.0
        left, right = np.flatnonzero(values < border), np.flatnonzero(values > border)
    return border, width, left, right
