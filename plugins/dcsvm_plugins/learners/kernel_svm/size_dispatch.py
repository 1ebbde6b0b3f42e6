"""Solvers for binary and one-vs-one problems of any size: each chooses the fastest method."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import Floats, Kernel, Rows
from dcsvm_plugins.learners.kernel_svm.active_set import solve_active_set
from dcsvm_plugins.learners.kernel_svm.dual_solvers import Solution, solve, solve_parts
from dcsvm_plugins.learners.kernel_svm.gram import Gram, as_gram, rbf_gram
from dcsvm_plugins.learners.kernel_svm.large_solver import (
    CACHE_BYTES,
    solve_large,
    working_set_size,
)
from dcsvm_plugins.learners.kernel_svm.multiclass import OneVsOneSolution, PairLayout, solve_grid
from dcsvm_plugins.learners.kernel_svm.smo_numpy import OUTCOME

FULL_ROWS = 1500
"""Up to this many rows, a full Gram matrix is faster than computing rows on demand."""
FEATURES, LEAST_ROWS, MOST_ROWS = 64, 500, 4000
"""The active set is used from this many features and for this range of rows."""


def solve_part(
    kernel: Kernel,
    X: Rows,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    *,
    cache_bytes: int = CACHE_BYTES,
    threads: int = 1,
    **options: Any,
) -> Solution:
    """Solve one binary problem with a full matrix, an active set or working sets.

    Arguments are those of `solve_large`, and its results.
    """
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X, dtype=np.float64)
    if suits_active_set(kernel, X):
        return solve_active_set(kernel, X, signs, C, **options)
    if kernel.kind == "precomputed" or _takes_all_rows(np.asarray(signs, dtype=np.float64)):
        if kernel.kind == "rbf" and not sparse.issparse(X) and options.get("start") is None:
            return _solve_from_zero(kernel, X, signs, C, **options)
        return solve(_build_gram(kernel, X), signs, C, **options)
    return solve_large(kernel, X, signs, C, cache_bytes=cache_bytes, threads=threads, **options)


def _takes_all_rows(signs: Floats) -> bool:
    """Whether a full matrix is faster than rows on demand, or a working set would be all rows."""
    positive = int(np.count_nonzero(signs > 0.0))
    smaller = min(positive, len(signs) - positive)
    return len(signs) <= FULL_ROWS or working_set_size(len(signs), smaller) >= len(signs)


def suits_active_set(kernel: Kernel, X: Rows) -> bool:
    """Whether kernel values are expensive enough for an active set of rows to pay off."""
    return (
        kernel.kind in ("rbf", "poly", "linear")
        and not sparse.issparse(X)
        and LEAST_ROWS <= X.shape[0] <= MOST_ROWS
        and X.shape[1] >= FEATURES
    )


def _solve_from_zero(
    kernel: Kernel,
    X: Floats,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    start: None = None,
    **options: Any,
) -> Solution:
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), len(X)))
    betas, outcomes = solve_parts(X, [0, len(X)], [kernel.gamma], signs, bounds, **options)
    return Solution.of(betas, outcomes[0].item())


def solve_pairs_large(
    kernel: Kernel,
    X: Rows,
    labels: npt.ArrayLike,
    C: float,
    *,
    weights: npt.ArrayLike | None = None,
    start: OneVsOneSolution | None = None,
    cache_bytes: int = CACHE_BYTES,
    threads: int = 1,
    **options: Any,
) -> OneVsOneSolution:
    """Solve one-vs-one problems of labels 0 .. k - 1 without a Gram matrix of all rows.

    `weights` (n,) multiply C by row, and `start` is a solution on the same rows, not compressed.
    Small pairs run in parallel, and large ones one by one, with `cache_bytes` for kernel rows and
    threads that share their work; the result does not depend on `threads`. Tolerance and limits
    are for each pair, as in `solve`.
    """
    codes = np.asarray(labels, dtype=np.int64)
    if len(codes) <= FULL_ROWS and start is None:
        cells = solve_grid(kernel, X, codes, [C], [kernel.gamma], weights=weights, **options)
        return cast(OneVsOneSolution, next(cells)[2])
    layout = PairLayout.of(codes)
    bounds = C * (np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=float))
    betas, outcomes = np.empty(len(layout.rows)), np.zeros(len(layout.offsets) - 1, dtype=OUTCOME)

    def fit(pair: int, threads: int) -> None:
        part = slice(layout.offsets[pair], layout.offsets[pair + 1])
        rows, signs = layout.rows[part], layout.signs[part]
        begin = None if start is None else np.abs(start.coefficients.ravel()[layout.places[part]])
        solution = solve_part(
            *(kernel, X[rows], signs, bounds[rows]),
            start=begin,
            cache_bytes=cache_bytes,
            threads=threads,
            **options,
        )
        betas[part], outcomes[pair] = solution.alphas * signs, solution.outcome

    # Large pairs run one by one on all threads, then small ones in parallel.
    sizes = np.diff(layout.offsets)
    for pair in np.flatnonzero(sizes > FULL_ROWS).tolist():
        fit(pair, threads)
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for _ in pool.map(lambda pair: fit(pair, 1), np.flatnonzero(sizes <= FULL_ROWS).tolist()):
            pass
    return layout.cell(betas, outcomes)


def _build_gram(kernel: Kernel, X: Rows) -> Gram:
    if kernel.kind == "rbf" and not sparse.issparse(X):
        return rbf_gram(X, kernel.gamma)
    return as_gram(kernel(X))
