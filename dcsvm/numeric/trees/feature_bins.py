"""Features as bins: the values of each feature in at most 255 intervals, as bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import native
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix

#: The largest number of bins of a feature.
MOST_BINS = 255
#: Rows from which bins are found where there are more, and rows that are binned at a time.
SAMPLE_ROWS, BLOCK_ROWS = 2**17, 2**16
#: A value with this share of the rows has a bin of its own.
FREQUENT = 1 / 85
LARGEST = float(np.finfo(np.float32).max)

Bytes = npt.NDArray[np.uint8]
ForEach: TypeAlias = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], None]


def in_turn(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
    """Call `work` with each tuple of arguments, one after the other."""
    for each in arguments:
        work(*each)


@attrs.frozen(eq=False)
class FeatureBins:
    """The bins of a matrix.

    `codes` (n, d) are the bins of values, counted by feature, `starts` (d + 1,) the first bin of
    each feature, counted over all features, `uppers` (bins,) the largest value of each bin, and
    `exact` (d,) is 1 for features with a single value in each bin.
    """

    codes: Bytes
    starts: npt.NDArray[np.int64]
    uppers: npt.NDArray[np.float32]
    exact: Bytes

    @classmethod
    def of(cls, X: FloatArray, each: ForEach = in_turn) -> FeatureBins:
        """Bin the features of dense rows; `each` may run its calls in threads.

        Up to 255 distinct values have a bin each. The bins of other features hold about as many
        rows each.
        """
        found: list[tuple[FloatArray, bool]] = [(np.zeros(0), True)] * X.shape[1]
        sample = X if len(X) <= SAMPLE_ROWS else X[_sample(len(X))]

        def find(feature: int, rows: FloatArray) -> None:
            found[feature] = find_bins(to_single(rows[:, feature]))

        each(find, [(feature, sample) for feature in range(X.shape[1])])
        codes = np.empty(X.shape, dtype=np.uint8)
        missed = _assign(X, found, codes, each)
        if len(sample) < len(X) and missed.any():
            # The sample showed all its values, but there are others.
            again = np.flatnonzero(missed)
            each(find, [(int(feature), X) for feature in again])
            narrow = np.empty((len(X), len(again)), dtype=np.uint8)
            _assign(X[:, again], [found[feature] for feature in again], narrow, each)
            codes[:, again] = narrow
        counts = [len(uppers) for uppers, _ in found]
        return cls(
            codes,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([uppers for uppers, _ in found]).astype(np.float32),
            np.array([exact for _, exact in found], dtype=np.uint8),
        )


def to_single(X: Matrix) -> npt.NDArray[np.float32]:
    """Convert to the values that trees compare: finite, or infinity where one is missing."""
    with np.errstate(over="ignore"):
        single = np.clip(X, -LARGEST, LARGEST).astype(np.float32)
    single[np.isnan(single)] = np.inf
    single += np.float32(0.0)  # one zero
    return np.asarray(single)


def find_bins(values: FloatArray) -> tuple[FloatArray, bool]:
    """Return the largest value of each bin, and whether each distinct value has its own."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= MOST_BINS:
        return distinct, True
    frequent = counts >= FREQUENT * len(values)
    # A frequent value splits at most one bin of the others.
    others = MOST_BINS - 2 * int(frequent.sum()) - 1
    step = counts[~frequent].sum() / others
    bins = np.floor((np.cumsum(np.where(frequent, 0, counts)) - 0.5) / step)
    ends = (bins[1:] != bins[:-1]) | frequent[1:] | frequent[:-1] | np.isinf(distinct[1:])
    return distinct[np.append(ends, True)], False


def _sample(n_rows: int) -> IntArray:
    """Choose rows at random, the same ones for each number of rows."""
    step = n_rows / SAMPLE_ROWS
    drawn = np.random.default_rng(0).random(SAMPLE_ROWS)
    return ((np.arange(SAMPLE_ROWS) + drawn) * step).astype(np.intp)


def _assign(
    X: FloatArray, found: list[tuple[FloatArray, bool]], codes: Bytes, each: ForEach
) -> BoolArray:
    """Write the bins of all values; return which exact features have values in no bin."""
    uppers = np.full((len(found), MOST_BINS + 1), np.nan, dtype=np.float32)
    for feature, (values, exact) in enumerate(found):
        # The last bin of other features has no upper end.
        kept = len(values) if exact else len(values) - 1
        uppers[feature, :kept] = values[:kept]
    exactly = np.array([exact for _, exact in found], dtype=np.uint8)
    blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, len(X), BLOCK_ROWS)]
    missed = np.zeros((len(blocks), len(found)), dtype=np.uint8)

    def assign(number: int, block: slice) -> None:
        _assign_block(X[block], uppers, exactly, codes[block], missed[number])

    each(assign, list(enumerate(blocks)))
    return np.asarray(missed.any(axis=0))


def _assign_block(
    X: FloatArray, uppers: FloatArray, exact: Bytes, codes: Bytes, missed: Bytes
) -> None:
    library = native.library
    if library is not None:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        library.dcsvm_bin_rows(
            *(rows.ctypes, *rows.shape, uppers.ctypes, exact.ctypes),
            *(codes.ctypes, missed.ctypes),
        )
        return
    single = to_single(X)
    for feature in range(X.shape[1]):
        column, ends = single[:, feature], uppers[feature]
        at = np.searchsorted(ends, column)
        codes[:, feature] = at
        missed[feature] = exact[feature] and (ends[at] != column).any()
