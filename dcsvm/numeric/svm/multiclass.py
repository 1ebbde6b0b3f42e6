"""Multiclass problems on one Gram matrix: one-vs-one, one-vs-rest, and grids of C and gamma."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import backend
from dcsvm.numeric.kernels.distances import Floats, Rows, as_rows
from dcsvm.numeric.kernels.gram import Gram, as_gram
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.svm.multiclass_coefficients import (
    OneVsOneSolution,
    OneVsRestSolution,
    PairLayout,
    RestLayout,
)
from dcsvm.numeric.svm.numpy_solver import Tasks
from dcsvm.numeric.svm.solver import MAX_ITERATIONS, as_path, make_feasible, warn_unless_converged

FLAT = -0.6
"""If all values of exp(-gamma d) - 1 are above this, gamma C determines the solution almost."""


def solve_pairs(
    K: npt.NDArray[np.floating] | Gram,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    start: OneVsOneSolution | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> list[OneVsOneSolution]:
    """Solve one-vs-one problems for increasing values of C on one Gram matrix.

    Parameters
    ----------
    K : (n, n) array or Gram
    labels : (n,) array of int
        Codes 0 .. k - 1. Problems of a class without rows have no support vectors.
    Cs : increasing values
    weights : (n,) array, optional
        Multiplies C, by row.
    start : OneVsOneSolution, optional
        A solution on the same rows, not compressed, to start the first C from.
    tol, max_iterations, max_seconds
        For each problem, as in `solve`.
    """
    layout = PairLayout.of(np.asarray(labels, dtype=np.int64))
    first = None if start is None else start.coefficients.ravel()[layout.places]
    limits = (max_iterations, max_seconds or 0.0)
    betas, outcomes = _solve_all(as_gram(K), layout, Cs, weights, first, None, tol, limits)
    return [layout.cell(*each) for each in zip(betas, outcomes, strict=True)]


def solve_rest(
    K: npt.NDArray[np.floating] | Gram,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    start: OneVsRestSolution | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> list[OneVsRestSolution]:
    """Solve one-vs-rest problems for increasing values of C on one Gram matrix.

    Parameters
    ----------
    K : (n, n) array or Gram
    labels : (n,) array of int
        Codes 0 .. k - 1.
    Cs, weights, start, tol, max_iterations, max_seconds
        As in `solve_pairs`.
    """
    layout = RestLayout.of(np.asarray(labels, dtype=np.int64))
    first = None if start is None else start.coefficients.T.ravel()
    limits = (max_iterations, max_seconds or 0.0)
    betas, outcomes = _solve_all(as_gram(K), layout, Cs, weights, first, None, tol, limits)
    return [layout.cell(*each) for each in zip(betas, outcomes, strict=True)]


def solve_grid(
    kernel: Kernel,
    X: Rows,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    gammas: Sequence[float],
    *,
    scheme: str = "pairs",
    weights: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> Iterator[tuple[float, float, OneVsOneSolution | OneVsRestSolution]]:
    """Solve the problems of a part for every gamma and C.

    Distances are computed once, and a Gram matrix once per gamma. Each C starts from the solution
    for the previous C, or for the previous gamma if that is close: if all distances are small,
    twice the gamma with half the C has almost the same solution.

    Parameters
    ----------
    kernel : Kernel
        Its gamma is replaced by each of `gammas`.
    X : (n, features) array or CSR
    labels : (n,) array of int
    Cs : increasing values
    gammas : values
    scheme : ``pairs`` or ``rest``
    weights, tol, max_iterations, max_seconds
        As in `solve_pairs`.

    Yields
    ------
    (C, gamma, OneVsOneSolution or OneVsRestSolution)
        All C values for the first gamma, then for the next.
    """
    if scheme not in ("pairs", "rest"):
        raise ValueError(f"solve_grid: scheme must be 'pairs' or 'rest', got {scheme!r}")
    codes = np.asarray(labels, dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    # With rows sorted by class, each problem uses whole blocks of the matrix.
    ordered = np.asarray(X)[np.ix_(order, order)] if kernel.kind == "precomputed" else X[order]
    share = None if weights is None else np.asarray(weights, dtype=np.float64)[order]
    layout = (PairLayout if scheme == "pairs" else RestLayout).of(codes[order])
    limits = (max_iterations, max_seconds or 0.0)
    before: tuple[float, Floats] | None = None
    for gamma, gram in iterate_grams(kernel, ordered, gammas):
        near = None
        if before is not None and gram.gamma > 0.0 and gram.values.min(initial=0.0) > FLAT:
            near = _scale(Cs, gamma, *before)
        betas, outcomes = _solve_all(gram, layout, Cs, share, None, near, tol, limits)
        for C, beta, outcome in zip(Cs, betas, outcomes, strict=True):
            yield C, gamma, layout.cell(beta, outcome, order)
        before = gamma, betas


def _scale(Cs: Sequence[float], gamma: float, before: float, betas: Floats) -> Floats:
    """The solution for the previous gamma with the same gamma times C, or NaN, for each C."""
    values = np.asarray(Cs, dtype=np.float64)
    near = np.isclose(values[:, None] * gamma, values[None, :] * before, rtol=1e-9, atol=0.0)
    starts = betas[near.argmax(axis=1)] * (before / gamma)
    starts[~near.any(axis=1)] = np.nan
    return np.asarray(starts)


def iterate_grams(
    kernel: Kernel, X: Rows, gammas: Sequence[float]
) -> Iterator[tuple[float, Gram]]:
    """Yield the Gram matrix for every gamma, from one matrix of distances or products.

    Parameters
    ----------
    kernel : Kernel
    X : (n, features) array or CSR
    gammas : values

    Yields
    ------
    (gamma, Gram)
    """
    if kernel.kind == "rbf" and len(gammas) == 1 and not sparse.issparse(X):
        yield gammas[0], backend.rbf_gram(X, gammas[0])
    elif kernel.kind in ("rbf", "laplacian"):
        fast = kernel.kind == "rbf" and not sparse.issparse(X)
        common = backend.distances(as_rows(X)) if fast else kernel.common(X)
        for gamma in gammas:
            yield gamma, backend.gram_from_distances(common, gamma)
    elif kernel.kind in ("linear", "poly", "sigmoid"):
        common = kernel.common(X)
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma).from_common(common))
    else:
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma)(X))


def _solve_all(
    gram: Gram,
    layout: PairLayout | RestLayout,
    Cs: Sequence[float],
    weights: npt.ArrayLike | None,
    first: Floats | None,
    near: Floats | None,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every C: coefficients by C, and outcomes by C and task.

    The first C starts from `first`; each C from its row of `near` if that is better.
    """
    values, rows, signs = as_path(Cs) * gram.scale, layout.rows, layout.signs
    share = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)[rows]
    tasks = Tasks(rows, layout.offsets, signs, share)
    if first is not None or near is not None:
        starts = np.full((len(values), len(rows)), np.nan) if near is None else near * gram.scale
        if first is not None:
            starts[0] = _make_feasible(first * gram.scale, layout, values[0] * share)
        given = np.asarray(~np.isnan(starts[:, :1]).any(axis=1), dtype=np.int8)
        tasks = attrs.evolve(tasks, starts=starts, given=given)
    betas, outcomes = backend.solve_paths(gram, tasks, values, tol, limits)
    warn_unless_converged(
        outcomes, "solve_pairs" if isinstance(layout, PairLayout) else "solve_rest"
    )
    if gram.scale != 1.0:
        outcomes["objective"] /= gram.scale
        betas /= gram.scale
    return betas, outcomes


def _make_feasible(beta: Floats, layout: PairLayout | RestLayout, bounds: Floats) -> Floats:
    """Feasible coefficients close to the given ones."""
    result = np.empty(len(beta))
    for begin, end in itertools.pairwise(layout.offsets):
        part, signs = slice(begin, end), layout.signs[begin:end]
        result[part] = make_feasible(signs * beta[part], signs, bounds[part]) * signs
    return result
