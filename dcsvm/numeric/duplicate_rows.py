"""Rows that repeat, each kept once with how often it was there."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

#: Fewer rows are not worth a look.
LARGE = 10_000
#: One row of so many is looked at first; unless this share of them repeats, the others are not.
ONE_OF, REPEATING = 64, 1 / 32
#: Numbers that are hashed at once: they stay in a processor's cache.
BLOCK = 2**15

Words = npt.NDArray[np.uint64]


@attrs.frozen(eq=False)
class UniqueRows:
    """Rows of which no two have the same features and label, and what each stands for.

    Parameters
    ----------
    X : (m, d) array
    y : (m,) int array
    counts : (m,) int array
        How many rows each of them was.
    weights : (m,) float array
        The sum of their weights.
    kind : (n,) int array
        Which of them each row is.
    """

    X: FloatArray
    y: IntArray
    counts: IntArray
    weights: FloatArray
    kind: IntArray

    def at_least(self, rows: int) -> int:
        """How many of them it takes, if not more, to stand for so many rows."""
        most = np.cumsum(np.sort(self.counts)[::-1])
        return int(np.searchsorted(most, rows)) + 1


def merge_duplicates(
    X: Matrix, y: IntArray, weights: FloatArray | None = None
) -> UniqueRows | None:
    """Keep each pair of a row and its label once, class by class.

    Rows are the same if they are equal to the bit. None where that leaves more than half of them,
    and for sparse, few or seldom repeated rows, of which only a sample is looked at.
    """
    if sparse.issparse(X) or len(X) < LARGE or not _has_repeats(X, y):
        return None
    first, kind = _groups(_hashes(X, y))
    if 2 * len(first) > len(X):
        return None
    kept = X[first]
    for some in _blocks(X):
        if not np.array_equal(X[some], kept[kind[some]]):
            return None  # Different rows with one hash: not to be expected in a lifetime.
    summed = np.bincount(kind, weights).astype(np.float64)
    return UniqueRows(kept, y[first], np.bincount(kind), summed, kind)


def _has_repeats(X: FloatArray, y: IntArray) -> bool:
    """Whether enough rows of a sample repeat others of it; the same sample for the same size."""
    start = np.arange(0, len(X) - ONE_OF + 1, ONE_OF)
    sample = start + np.random.default_rng(0).integers(ONE_OF, size=len(start))
    kinds = len(np.unique(_hashes(X[sample], y[sample])))
    return len(sample) - kinds >= REPEATING * len(sample)


def _groups(hashes: Words) -> tuple[IntArray, IntArray]:
    """What `np.unique` returns as index and inverse, in less time."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    kind = np.empty(len(hashes), dtype=np.intp)
    kind[order] = np.cumsum(np.concatenate([[False], ordered[1:] != ordered[:-1]]))
    first = np.empty(kind[order[-1]] + 1, dtype=np.intp)
    # Backwards, so that the first row of a kind is the last to be written.
    first[kind[::-1]] = np.arange(len(hashes))[::-1]
    return first, kind


def _hashes(X: FloatArray, y: IntArray) -> Words:
    """The label in the upper bits, and below it a number that different rows seldom share."""
    factors = 2 * np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) + 1
    words, hashes = X.view(f"u{X.itemsize}"), np.empty(len(X), dtype=np.uint64)
    for some in _blocks(X):
        # Round numbers have their bits at the upper end, and a product carries none downwards.
        stirred = words[some].astype(np.uint64)
        stirred ^= stirred >> np.uint64(32)
        stirred *= factors
        stirred ^= stirred >> np.uint64(29)
        hashes[some] = stirred.sum(axis=1)
    bits = int(y.max()).bit_length()
    label = y.astype(np.uint64) << np.uint64(64 - bits) if bits else np.uint64(0)
    return hashes >> np.uint64(bits) | label


def _blocks(X: FloatArray) -> Iterator[slice]:
    step = max(1, BLOCK // X.shape[1])
    return (slice(start, start + step) for start in range(0, len(X), step))
