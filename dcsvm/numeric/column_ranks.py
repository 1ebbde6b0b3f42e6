"""Ranks of numbers among the values of their column, from quantiles that were learned."""

import numpy as np

from dcsvm.numeric.array_types import FloatArray

#: How many quantiles of a column are kept.
QUANTILES = 257


def learn_quantiles(X: FloatArray) -> FloatArray:
    """Return the quantiles (QUANTILES, d) of the columns of X (n, d), from least to largest."""
    shares = np.linspace(0, 1, QUANTILES)
    return np.asarray(np.quantile(X, shares, axis=0)) if X.size else np.zeros((QUANTILES, 0))


def rank_columns(X: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Return the ranks (n, d) of numbers X, 0 to 1 in each column, linear between quantiles.

    The rank of a value that many rows have is the middle of theirs.
    """
    shares = np.linspace(0, 1, len(quantiles))
    ranks = np.empty_like(X)  # in the same order, so that sums have the same bits
    for j, known in enumerate(quantiles.T):
        upper = np.interp(X[:, j], known, shares)
        lower = 1 - np.interp(-X[:, j], -known[::-1], shares)
        ranks[:, j] = (lower + upper) / 2
    return ranks


def find_value(rank: float, quantiles: FloatArray) -> float:
    """Return the number whose rank in a column with these quantiles (QUANTILES,) is given."""
    return float(np.interp(rank, np.linspace(0, 1, len(quantiles)), quantiles))


def are_quantiles(array: FloatArray, n_columns: int) -> bool:
    """Return whether an array that was read from a file can be the quantiles of columns."""
    return (
        array.dtype.kind == "f"
        and array.ndim == 2
        and len(array) > 1
        and array.shape[1] == n_columns
        and bool(np.isfinite(array).all())
        and bool((np.diff(array, axis=0) >= 0).all())
    )
