"""Class pairs of a whole data set: small ones in full, large ones by working sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense, is_sparse
from dcsvm.numeric.kernels.gram import Gram, as_gram
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.svm.active_set import solve_active_set, suits_active_set
from dcsvm.numeric.svm.batch_solve import solve_parts
from dcsvm.numeric.svm.large_solver import CACHE_BYTES, solve_large
from dcsvm.numeric.svm.multiclass import solve_grid
from dcsvm.numeric.svm.multiclass_coefficients import OneVsOneSolution
from dcsvm.numeric.svm.numpy_solver import Integers
from dcsvm.numeric.svm.solver import Solution, solve

FULL_ROWS = 1500
"""Up to so many rows a full Gram matrix is quicker than the rows that turn out to be needed."""


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
    """One binary problem of any size: in full, by working sets, or by the rows that matter.

    Parameters
    ----------
    kernel : Kernel
    X : (n, features) array or CSR
    signs : (n,) array of +1 and -1
    C : float or (n,) array
    cache_bytes, threads
        As in `solve_large`.
    **options
        ``start``, ``tol``, ``max_iterations``, ``max_seconds``, as in `solve`.
    """
    if suits_active_set(kernel, X):
        return solve_active_set(kernel, as_dense(X), signs, C, **options)
    if X.shape[0] <= FULL_ROWS or kernel.kind == "precomputed":
        if kernel.kind == "rbf" and not is_sparse(X) and options.get("start") is None:
            return _from_zero(kernel, as_dense(X), signs, C, **options)
        return solve(_gram(kernel, X), signs, C, **options)
    return solve_large(kernel, X, signs, C, cache_bytes=cache_bytes, threads=threads, **options)


def _from_zero(
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
    """One-against-one machines without a Gram matrix of all rows.

    Parameters
    ----------
    kernel : Kernel
    X : (n, features) array or CSR
    labels : (n,) array of int
        Codes 0 .. k - 1.
    C : float
    weights : (n,) array, optional
        What C is multiplied with, by row.
    start : OneVsOneSolution, optional
        Machines on the same rows, not compressed.
    cache_bytes : int
        Room for kernel rows, of one large pair at a time.
    threads : int
        Small pairs run side by side, large ones share their work; the result is the same.
    **options
        ``tol``, ``max_iterations``, ``max_seconds`` of each machine, as in `solve`.
    """
    codes = np.asarray(labels, dtype=np.int64)
    if len(codes) <= FULL_ROWS and start is None:
        cells = solve_grid(kernel, X, codes, [C], [kernel.gamma], weights=weights, **options)
        return cast(OneVsOneSolution, next(cells)[2])
    order = np.argsort(codes, kind="stable").astype(np.int64)
    counts = np.bincount(codes).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    bounds = C * (np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=float))
    places = [_Place(a, b, ends) for a, b in itertools.combinations(range(len(counts)), 2)]

    def fit(place: _Place, threads: int) -> Solution:
        rows = order[place.rows]
        begin = None if start is None else np.abs(place.read(start.coefficients))
        return solve_part(
            *(kernel, X[rows], place.signs, bounds[rows]),
            start=begin,
            cache_bytes=cache_bytes,
            threads=threads,
            **options,
        )

    solutions = _fit_all(fit, places, threads)
    coefficients = np.zeros((len(codes), max(len(counts) - 1, 0)))
    for place, solution in zip(places, solutions, strict=True):
        place.write(coefficients, solution.alphas * place.signs)
    return _as_pairs(order, counts, coefficients, solutions)


def _fit_all(
    fit: Callable[[_Place, int], Solution], places: list[_Place], threads: int
) -> list[Solution]:
    """Large pairs one after the other on all threads, then small ones side by side."""
    solutions: dict[int, Solution] = {}
    small = [i for i, place in enumerate(places) if len(place.rows) <= FULL_ROWS]
    for i in sorted(set(range(len(places))) - set(small)):
        solutions[i] = fit(places[i], threads)
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        solutions.update(zip(small, pool.map(lambda i: fit(places[i], 1), small), strict=True))
    return [solutions[i] for i in range(len(places))]


def _as_pairs(
    order: Integers,
    counts: Integers,
    coefficients: npt.NDArray[np.float64],
    solutions: list[Solution],
) -> OneVsOneSolution:
    return OneVsOneSolution(
        *(order, counts, coefficients),
        biases=np.array([solution.bias for solution in solutions]),
        objectives=np.array([solution.objective for solution in solutions]),
        gaps=np.array([solution.gap for solution in solutions]),
        iterations=np.array([solution.iterations for solution in solutions], dtype=np.int64),
        converged=np.array([solution.converged for solution in solutions], dtype=bool),
    )


class _Place:
    """Where the pair (a, b) stands among the rows sorted by class."""

    def __init__(self, a: int, b: int, ends: Integers) -> None:
        first, second = np.arange(ends[a], ends[a + 1]), np.arange(ends[b], ends[b + 1])
        self.rows = np.concatenate([first, second])
        self.columns = np.repeat([b - 1, a], [len(first), len(second)])
        self.signs = np.repeat([1.0, -1.0], [len(first), len(second)])

    def read(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The pair's coefficients from the compressed table."""
        return np.asarray(table[self.rows, self.columns])

    def write(self, table: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> None:
        """Put the pair's coefficients into the compressed table."""
        table[self.rows, self.columns] = values


def _gram(kernel: Kernel, X: Rows) -> Gram:
    if kernel.kind == "rbf" and not is_sparse(X):
        return backend.rbf_gram(as_dense(X), kernel.gamma)
    return as_gram(kernel(X))
