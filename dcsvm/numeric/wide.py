"""The dual of parts with many features: rows that turn out to matter, not all of them."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.distances import Floats, Rows, is_sparse
from dcsvm.numeric.gram import Gram
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.multiclass import grams
from dcsvm.numeric.reference import stricter
from dcsvm.numeric.svm import Solution, solve

FEATURES, LEAST_ROWS, MOST_ROWS = 64, 500, 4000
"""From so many features on a kernel value costs more than what the solver does with it."""
FIRST, LEAST_FIRST = 1 / 4, 128
"""The share of the rows to begin with, and how many of them at the least."""
MOST = 0.5
"""With a larger share of the rows, all of them together are quicker."""


def is_wide(kernel: Kernel, X: Rows) -> bool:
    """Whether a problem is worth solving by a growing set of rows."""
    return (
        kernel.kind in ("rbf", "poly", "linear")
        and not is_sparse(X)
        and LEAST_ROWS <= X.shape[0] <= MOST_ROWS
        and X.shape[1] >= FEATURES
    )


def solve_wide(
    kernel: Kernel,
    X: Floats,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    **options: Any,
) -> Solution:
    """Solve the dual of some rows, add those that it gets wrong, and so on until there are none.

    Rows at zero need no kernel row of their own, only their value under the solution. The first
    rows are those that lean most towards the other side's mean. Where half of the rows are in, the
    whole problem is solved from what was found.

    Parameters
    ----------
    kernel, X, signs, C, start, tol
        As in `solve_large`.
    **options
        ``max_iterations``, ``max_seconds`` of each problem, as in `solve`.
    """
    y = np.asarray(signs, dtype=np.float64)
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape))
    alphas = np.zeros(len(y)) if start is None else np.array(start, dtype=np.float64)
    inside = np.zeros(len(y), dtype=bool)
    inside[_first(X, y, alphas)] = True
    slack, iterations = 0.5 * tol * stricter(len(y)), 0
    while np.count_nonzero(inside) <= MOST * len(y):
        active, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
        found = solve(
            *(_gram(kernel, X[active]), y[active], bounds[active]),
            **{"start": alphas[active], "tol": tol, **options},
        )
        iterations += found.iterations
        alphas = np.zeros(len(y))
        alphas[active] = found.alphas
        support = np.flatnonzero(alphas)
        values = kernel(X[rest], X[support]) @ (alphas * y)[support] + found.bias
        wrong = 1.0 - y[rest] * values
        added = np.argsort(-wrong, kind="stable")[: max(len(active) // 2, LEAST_FIRST)]
        added = added[wrong[added] > slack]
        if not len(added):
            gap = found.gap + max(0.0, float(wrong.max()))
            return attrs.evolve(found, alphas=alphas, gap=gap, iterations=iterations)
        inside[rest[added]] = True
    whole = solve(_gram(kernel, X), y, bounds, start=alphas, tol=tol, **options)
    return attrs.evolve(whole, iterations=whole.iterations + iterations)


def _gram(kernel: Kernel, X: Floats) -> Gram:
    return next(grams(kernel, X, [kernel.gamma]))[1]


def _first(X: Floats, y: Floats, alphas: Floats) -> npt.NDArray[np.intp]:
    """The rows of either side that lean most towards the other, and those that were given."""
    towards = X @ (X[y < 0].mean(axis=0) - X[y > 0].mean(axis=0)) * y
    size = max(int(FIRST * len(y)), LEAST_FIRST) // 2
    sides = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
    chosen = [side[np.argsort(-towards[side], kind="stable")[:size]] for side in sides]
    return np.concatenate([*chosen, np.flatnonzero(alphas)])
