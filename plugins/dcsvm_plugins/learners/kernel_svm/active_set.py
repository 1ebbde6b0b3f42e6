"""Solver with an active set of rows, for problems with many features."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats, Kernel
from dcsvm_plugins.learners.kernel_svm.dual_solvers import Solution, solve
from dcsvm_plugins.learners.kernel_svm.gram import Gram, as_gram, rbf_rows
from dcsvm_plugins.learners.kernel_svm.smo_numpy import tolerance_share

Places = npt.NDArray[np.intp]
Values = npt.NDArray[np.floating]

FIRST, LEAST_FIRST = 1 / 4, 128
"""The share of rows to start with, and their minimum number."""
MOST = 0.5
"""With a larger share of rows, solving the whole problem is faster."""


def solve_active_set(
    kernel: Kernel,
    X: Floats,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    **options: Any,
) -> Solution:
    """Solve the dual of some rows, add rows that violate optimality, and repeat until none does.

    Rows with alpha zero need no kernel row, only their decision value. The first rows are those
    closest to the mean of the other class. If more than half of the rows are active, the whole
    problem is solved from the current solution. Arguments are those of `solve_large`; limits are
    for each problem.
    """
    y = np.asarray(signs, dtype=np.float64)
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape))
    alphas = np.zeros(len(y)) if start is None else np.array(start, dtype=np.float64)
    chosen = np.zeros(len(y), dtype=bool)
    chosen[_first(X, y, alphas)] = True
    # Active rows come first, so that neither part needs a copy.
    order, size = np.argsort(~chosen, kind="stable"), int(np.count_nonzero(chosen))
    X, y, bounds, alphas = X[order], y[order], bounds[order], alphas[order]
    slack, iterations = 0.5 * tol * tolerance_share(len(y)), 0
    block = _values(kernel, X[:size])
    while size <= MOST * len(y):
        block = _grow(kernel, X[:size], block)
        found = solve(
            *(_gram(kernel, X[:size], block), y[:size], bounds[:size]),
            **{"start": alphas[:size], "tol": tol, **options},
        )
        iterations += found.iterations
        alphas[:size] = found.alphas
        support = np.flatnonzero(alphas)
        values = kernel(X[size:], X[support]) @ (alphas * y)[support] + found.bias
        wrong = 1.0 - y[size:] * values
        added = np.argsort(-wrong, kind="stable")[: max(size // 2, LEAST_FIRST)]
        added = added[wrong[added] > slack]
        if not len(added):
            gap = found.gap + max(0.0, float(wrong.max()))
            return attrs.evolve(
                found, alphas=_put_back(alphas, order), gap=gap, iterations=iterations
            )
        zone, content = _exchange(size, size + added)
        for each in (X, y, bounds, order):
            each[zone] = each[content]
        size += len(added)
    gram = _gram(kernel, X, _grow(kernel, X, block))
    whole = solve(gram, y, bounds, start=alphas, tol=tol, **options)
    return attrs.evolve(
        whole, alphas=_put_back(whole.alphas, order), iterations=whole.iterations + iterations
    )


def _exchange(size: int, added: Places) -> tuple[Places, Places]:
    """Return positions from `size` on that change, and their new content: added rows first."""
    front = np.arange(size, size + len(added))
    return np.union1d(front, added), np.concatenate([added, np.setdiff1d(front, added)])


def _put_back(alphas: Floats, order: Places) -> Floats:
    result = np.empty_like(alphas)
    result[order] = alphas
    return result


def _values(kernel: Kernel, X: Floats, Y: Floats | None = None) -> Values:
    """Kernel values; for the RBF kernel less one, in float32."""
    return rbf_rows(X, Y, kernel.gamma) if kernel.kind == "rbf" else kernel(X, Y)


def _grow(kernel: Kernel, X: Floats, block: Values) -> Values:
    """Kernel values of all rows X; `block` holds those of the first rows."""
    size = len(block)
    if size == len(X):
        return block
    result = np.empty((len(X), len(X)), dtype=block.dtype)
    result[:size, :size] = block
    result[size:, :size] = _values(kernel, X[size:], X[:size])
    result[:size, size:] = result[size:, :size].T
    result[size:, size:] = _values(kernel, X[size:])
    return result


def _gram(kernel: Kernel, X: Floats, block: Values) -> Gram:
    if kernel.kind != "rbf":
        return as_gram(block)
    return Gram(block, shift=1.0, X=X, gamma=kernel.gamma)


def _first(X: Floats, y: Floats, alphas: Floats) -> Places:
    """The rows of each class closest to the other class, and those with nonzero alphas."""
    towards = X @ (X[y < 0].mean(axis=0) - X[y > 0].mean(axis=0)) * y
    size = max(int(FIRST * len(y)), LEAST_FIRST) // 2
    sides = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
    chosen = [side[np.argsort(-towards[side], kind="stable")[:size]] for side in sides]
    return np.concatenate([*chosen, np.flatnonzero(alphas)])
