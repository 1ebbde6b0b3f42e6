"""Levels of a category that few rows have, and their one feature."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from dcsvm.base.errors import SettingError
from dcsvm.numeric.array_types import FloatArray, IntArray

MinFrequency: TypeAlias = float | Literal["auto"]
#: With "auto", a rare level has fewer rows than these, and less than this share of them.
FEW_ROWS, SMALL_SHARE = 40, 0.01


def check_frequency(least: MinFrequency) -> None:
    """Raise unless rare levels can be told by it."""
    if least != "auto" and (isinstance(least, str) or not least >= 0):
        raise SettingError(
            f'TablePreparation: min_frequency must be "auto" or at least 0, got {least!r}'
        )


def pool_levels(
    X: FloatArray, seen: Sequence[IntArray], least: MinFrequency
) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return the levels of each column that are not rare, and the columns that have rare ones.

    A level is rare with fewer than `least` rows, or below 1 with less than this share of them.
    """
    if least == "auto":
        n_rows = min(FEW_ROWS, SMALL_SHARE * len(X))
    else:
        n_rows = least if least >= 1 else least * len(X)
    frequent = []
    for codes, levels in zip(X.T, seen, strict=True):
        counts = np.array([np.count_nonzero(codes == level) for level in levels])
        frequent.append(levels[counts >= n_rows] if len(levels) else levels)
    pooled = [len(kept) < len(all_) for kept, all_ in zip(frequent, seen, strict=True)]
    return tuple(frequent), np.flatnonzero(pooled)


def encode_levels(codes: FloatArray, levels: IntArray, is_pooled: bool) -> FloatArray:
    """Return one feature (n, features) for each level, and one for any other if `is_pooled`."""
    own = (codes[:, None] == levels).astype(float)
    return np.column_stack([own, 1.0 - own.sum(axis=1)]) if is_pooled else own
