"""Multiclass problems on one Gram matrix: one-vs-one, one-vs-rest, and grids of C and gamma."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import Floats, Kernel, Rows, as_rows, distances_within
from dcsvm_plugins.learners.kernel_svm.dual_solvers import (
    MAX_ITERATIONS,
    as_path,
    solve_paths,
    warn_unless_converged,
)
from dcsvm_plugins.learners.kernel_svm.gram import Gram, as_gram, gram_from_distances, rbf_gram
from dcsvm_plugins.learners.kernel_svm.smo_numpy import Integers, Tasks

FLAT = -0.6
"""If all values of exp(-gamma d) - 1 are above this, gamma C determines the solution almost."""


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
) -> Iterator[tuple[float, float, OneVsOneSolution | OneVsRestSolution]]:
    """Solve the problems of a part for every gamma and C.

    Distances are computed once, and a Gram matrix once per gamma. Each C starts from the solution
    for the previous C, or for the previous gamma if that is close: if all distances are small,
    twice the gamma with half the C has almost the same solution. `scheme` is "pairs" or "rest",
    and `weights` (n,) multiply C by row. Yields C, gamma and the solution: all C values, in
    increasing order, for the first gamma, then for the next.
    """
    if scheme not in ("pairs", "rest"):
        raise ValueError(f"solve_grid: scheme must be 'pairs' or 'rest', got {scheme!r}")
    codes = np.asarray(labels, dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    # With rows sorted by class, each problem uses whole blocks of the matrix.
    ordered = np.asarray(X)[np.ix_(order, order)] if kernel.kind == "precomputed" else X[order]
    share = None if weights is None else np.asarray(weights, dtype=np.float64)[order]
    layout = (PairLayout if scheme == "pairs" else RestLayout).of(codes[order])
    before: tuple[float, Floats] | None = None
    for gamma, gram in iterate_grams(kernel, ordered, gammas):
        near = None
        if before is not None and gram.gamma > 0.0 and gram.values.min(initial=0.0) > FLAT:
            near = _scale(Cs, gamma, *before)
        betas, outcomes = solve_all(gram, layout, Cs, weights=share, near=near, tol=tol)
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
    """Yield every gamma with its Gram matrix, from one matrix of distances or products."""
    if kernel.kind == "rbf" and len(gammas) == 1 and not sparse.issparse(X):
        yield gammas[0], rbf_gram(X, gammas[0])
    elif kernel.kind in ("rbf", "laplacian"):
        fast = kernel.kind == "rbf" and not sparse.issparse(X)
        common = distances_within(as_rows(X)) if fast else kernel.common(X)
        for gamma in gammas:
            yield gamma, gram_from_distances(common, gamma)
    elif kernel.kind in ("linear", "poly", "sigmoid"):
        common = kernel.common(X)
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma).from_common(common))
    else:
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma)(X))


def solve_all(
    gram: Gram,
    layout: PairLayout | RestLayout,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    near: Floats | None = None,
    tol: float = 1e-3,
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every C: coefficients by C, and outcomes by C and task.

    Each C starts from its row of `near`, if that is better than the solution for the previous C.
    """
    values, rows = as_path(Cs) * gram.scale, layout.rows
    share = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)[rows]
    tasks = Tasks(rows, layout.offsets, layout.signs, share)
    if near is not None:
        given = np.asarray(~np.isnan(near[:, :1]).any(axis=1), dtype=np.int8)
        tasks = attrs.evolve(tasks, starts=near * gram.scale, given=given)
    betas, outcomes = solve_paths(gram, tasks, values, tol, (MAX_ITERATIONS, 0.0))
    warn_unless_converged(
        outcomes, "solve_pairs" if isinstance(layout, PairLayout) else "solve_rest"
    )
    if gram.scale != 1.0:
        outcomes["objective"] /= gram.scale
        betas /= gram.scale
    return betas, outcomes


@attrs.frozen(eq=False)
class OneVsOneSolution:
    """Solution of the one-vs-one problems of a part, with coefficients as in libsvm.

    `order` (n,) are the rows sorted by class, of which there are `counts` (k,). The coefficient of
    a row of class a against class b is in column b - 1 of `coefficients` (n, k - 1) if b > a, in
    column b if b < a. It is nonnegative for the first class of a pair, nonpositive for the second.
    Pairs are (0, 1), (0, 2), ..., (k - 2, k - 1); a positive decision is for the first class.
    """

    order: Integers
    counts: Integers
    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]

    def compress(self) -> OneVsOneSolution:
        """The same without rows that are support vectors of no pair."""
        kept = np.flatnonzero(self.coefficients.any(axis=1))
        labels = np.repeat(np.arange(len(self.counts)), self.counts)
        counts = np.bincount(labels[kept], minlength=len(self.counts)).astype(np.int64)
        return attrs.evolve(
            self, order=self.order[kept], counts=counts, coefficients=self.coefficients[kept]
        )


@attrs.frozen(eq=False)
class OneVsRestSolution:
    """Solution of the one-vs-rest problems of a part.

    The signed coefficients (n, k) of column c are for class c against the others.
    """

    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class PairLayout:
    """The tasks of one-vs-one problems, and their places in the table of coefficients."""

    order: Integers
    counts: Integers
    rows: Integers
    offsets: Integers
    signs: Floats
    places: Integers

    @classmethod
    def of(cls, codes: Integers) -> PairLayout:
        """The layout for rows with these class codes."""
        order = np.argsort(codes, kind="stable").astype(np.int64)
        counts = np.bincount(codes).astype(np.int64)
        first, second = np.triu_indices(len(counts), 1)
        own = np.column_stack([first, second]).ravel()
        columns = np.column_stack([second - 1, first]).ravel()
        lengths = counts[own]
        begins = np.cumsum(lengths) - lengths
        shifts = (np.cumsum(counts) - counts)[own] - begins
        sorted_rows = np.arange(lengths.sum()) + np.repeat(shifts, lengths)
        offsets = np.concatenate([[0], np.cumsum(counts[first] + counts[second])])
        return cls(
            *(order, counts, order[sorted_rows], offsets.astype(np.int64)),
            signs=np.repeat(np.tile([1.0, -1.0], len(first)), lengths),
            places=sorted_rows * (len(counts) - 1) + np.repeat(columns, lengths),
        )

    def cell(
        self, beta: Floats, outcome: npt.NDArray[np.void], order: Integers | None = None
    ) -> OneVsOneSolution:
        """The solution for one C; `order` is given if rows were sorted before."""
        coefficients = np.zeros((len(self.order), max(len(self.counts) - 1, 0)))
        coefficients.ravel()[self.places] = beta
        order = self.order if order is None else order
        return OneVsOneSolution(order, self.counts, coefficients, **_columns(outcome))


@attrs.frozen(eq=False)
class RestLayout:
    """The tasks of one-vs-rest problems: all rows for each class."""

    rows: Integers
    offsets: Integers
    signs: Floats

    @classmethod
    def of(cls, codes: Integers) -> RestLayout:
        """The layout for rows with these class codes."""
        n, classes = len(codes), int(codes.max(initial=-1)) + 1
        return cls(
            np.tile(np.arange(n, dtype=np.int64), classes),
            np.arange(classes + 1, dtype=np.int64) * n,
            np.where(codes[None, :] == np.arange(classes)[:, None], 1.0, -1.0).ravel(),
        )

    def cell(
        self, beta: Floats, outcome: npt.NDArray[np.void], order: Integers | None = None
    ) -> OneVsRestSolution:
        """The solution for one C; `order` is given if rows were sorted before."""
        found = beta.reshape(len(self.offsets) - 1, -1).T
        coefficients = found
        if order is not None:
            coefficients = np.empty(found.shape)
            coefficients[order] = found
        return OneVsRestSolution(coefficients, **_columns(outcome))


def _columns(outcome: npt.NDArray[np.void]) -> dict[str, Any]:
    return {
        "biases": outcome["bias"].copy(),
        "objectives": outcome["objective"].copy(),
        "gaps": outcome["gap"].copy(),
        "iterations": outcome["iterations"].copy(),
        "converged": outcome["converged"] != 0,
    }
