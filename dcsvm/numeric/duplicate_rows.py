"""Duplicate rows, merged into one with a count."""

from collections.abc import Iterator

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

#: Fewer rows are not searched for duplicates.
LARGE = 10_000
#: A sample of one in ONE_OF rows is searched first; all rows only if this share of it repeats.
ONE_OF, REPEATING = 64, 1 / 32
#: Numbers that are hashed at once, to fit in the cache.
BLOCK = 2**15

Words = npt.NDArray[np.uint64]


@attrs.frozen(eq=False)
class UniqueRows:
    """Rows (m, d) without duplicates of features and label, with the rows that each stands for.

    `counts` (m,) and `weights` (m,) are the number and the summed weight of these rows, and `kind`
    (n,) is the unique row of each original row.
    """

    X: FloatArray
    y: IntArray
    counts: IntArray
    weights: FloatArray
    kind: IntArray

    def at_least(self, rows: int) -> int:
        """The least number of unique rows that can stand for `rows` rows."""
        most = np.cumsum(np.sort(self.counts)[::-1])
        return int(np.searchsorted(most, rows)) + 1


def merge_duplicates(
    X: Matrix, y: IntArray, weights: FloatArray | None = None
) -> UniqueRows | None:
    """Keep each pair of a row and its label once, class by class.

    Rows are equal if all bits are. Return None if more than half of the rows would remain, and for
    sparse rows, few rows, and rows whose sample has few duplicates.
    """
    if sparse.issparse(X) or len(X) < LARGE or not _has_repeats(X, y):
        return None
    first, kind = _groups(_hashes(X, y))
    if 2 * len(first) > len(X):
        return None
    kept = X[first]
    for some in _blocks(X):
        if not np.array_equal(X[some], kept[kind[some]]):
            return None  # A hash collision; practically impossible.
    summed = np.bincount(kind, weights).astype(np.float64)
    return UniqueRows(kept, y[first], np.bincount(kind), summed, kind)


def _has_repeats(X: FloatArray, y: IntArray) -> bool:
    """Whether a sample of the rows has enough duplicates; depends on the rows only."""
    start = np.arange(0, len(X) - ONE_OF + 1, ONE_OF)
    sample = start + np.random.default_rng(0).integers(ONE_OF, size=len(start))
    kinds = len(np.unique(_hashes(X[sample], y[sample])))
    return len(sample) - kinds >= REPEATING * len(sample)


def _groups(hashes: Words) -> tuple[IntArray, IntArray]:
    """The index and inverse of `np.unique`, computed faster."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    kind = np.empty(len(hashes), dtype=np.intp)
    kind[order] = np.cumsum(np.concatenate([[False], ordered[1:] != ordered[:-1]]))
    first = np.empty(kind[order[-1]] + 1, dtype=np.intp)
    # Backwards, so that the first row of each kind is written last.
    first[kind[::-1]] = np.arange(len(hashes))[::-1]
    return first, kind


def _hashes(X: FloatArray, y: IntArray) -> Words:
    """Hashes of rows, with the label in the upper bits."""
    factors = 2 * np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) + 1
    words, hashes = X.view(f"u{X.itemsize}"), np.empty(len(X), dtype=np.uint64)
    for some in _blocks(X):
        # Round numbers have upper bits only, and products do not carry downwards.
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
