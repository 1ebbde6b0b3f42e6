"""Several classes from one Gram matrix: one against one, one against the rest, whole grids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.distances import Floats, Rows, as_rows, is_sparse
from dcsvm.numeric.gram import Gram, as_gram
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.reference import Integers, Tasks
from dcsvm.numeric.svm import MAX_ITERATIONS, as_path, feasible, warn_unless_converged


@attrs.frozen(eq=False)
class Pairs:
    """One-against-one machines of a part, with libsvm's compressed coefficients.

    Parameters
    ----------
    order : (n,) array of int
        The part's rows sorted by class; coefficients are in this order.
    counts : (k,) array of int
        Rows of each class.
    coefficients : (n, k - 1) array
        A row of class a has its coefficient against class b in column b - 1 where b > a and in
        column b where b < a. Those of the first class of a pair are not negative, those of the
        second not positive.
    biases : (k (k - 1) / 2,) array
        By pair (0, 1), (0, 2), ..., (k - 2, k - 1). A positive decision is for the first class.
    objectives, gaps : (pairs,) arrays
    iterations : (pairs,) array of int
    converged : (pairs,) array of bool
    """

    order: Integers
    counts: Integers
    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]

    def compressed(self) -> Pairs:
        """The same machines without the rows that support none of them."""
        kept = np.flatnonzero(self.coefficients.any(axis=1))
        labels = np.repeat(np.arange(len(self.counts)), self.counts)
        counts = np.bincount(labels[kept], minlength=len(self.counts)).astype(np.int64)
        return attrs.evolve(
            self, order=self.order[kept], counts=counts, coefficients=self.coefficients[kept]
        )


@attrs.frozen(eq=False)
class Rest:
    """One-against-rest machines of a part.

    Parameters
    ----------
    coefficients : (n, k) array
        Signed, by row of the part; column c is the machine of class c against the others.
    biases, objectives, gaps : (k,) arrays
    iterations : (k,) array of int
    converged : (k,) array of bool
    """

    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]


def solve_pairs(
    K: npt.NDArray[np.floating] | Gram,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    start: Pairs | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> list[Pairs]:
    """One-against-one machines for increasing values of C, all from one Gram matrix.

    Parameters
    ----------
    K : (n, n) array or Gram
    labels : (n,) array of int
        Codes 0 .. k - 1. A class without rows gets machines without support vectors.
    Cs : increasing values
    weights : (n,) array, optional
        What C is multiplied with, by row.
    start : Pairs, optional
        Machines on the same rows, not compressed, to start the first value of C from.
    tol, max_iterations, max_seconds
        For each machine, as in `solve`.
    """
    codes = np.asarray(labels, dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    counts = np.bincount(codes).astype(np.int64)
    layout = _PairLayout.of(counts)
    gram = as_gram(K)
    first = None if start is None else start.coefficients.ravel()[layout.places]
    betas, outcomes, scale = _solve_all(
        *(gram, order[layout.rows], layout.offsets, layout.signs, Cs, weights, first),
        *(tol, (max_iterations, max_seconds or 0.0)),
    )
    warn_unless_converged(outcomes, "solve_pairs")
    result = []
    for beta, outcome in zip(betas, outcomes, strict=True):
        coefficients = np.zeros((len(codes), max(len(counts) - 1, 0)))
        coefficients.ravel()[layout.places] = beta / scale
        result.append(Pairs(order, counts, coefficients, **_columns(outcome, scale)))
    return result


def solve_rest(
    K: npt.NDArray[np.floating] | Gram,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    start: Rest | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> list[Rest]:
    """One-against-rest machines for increasing values of C, all from one Gram matrix.

    Parameters
    ----------
    K : (n, n) array or Gram
    labels : (n,) array of int
        Codes 0 .. k - 1.
    Cs, weights, start, tol, max_iterations, max_seconds
        As in `solve_pairs`.
    """
    codes = np.asarray(labels, dtype=np.int64)
    n, classes = len(codes), int(codes.max(initial=-1)) + 1
    signs = np.where(codes[None, :] == np.arange(classes)[:, None], 1.0, -1.0)
    rows = np.tile(np.arange(n, dtype=np.int64), classes)
    offsets = np.arange(classes + 1, dtype=np.int64) * n
    first = None if start is None else start.coefficients.T.ravel()
    betas, outcomes, scale = _solve_all(
        *(as_gram(K), rows, offsets, signs.ravel(), Cs, weights, first),
        *(tol, (max_iterations, max_seconds or 0.0)),
    )
    warn_unless_converged(outcomes, "solve_rest")
    return [
        Rest(beta.reshape(classes, n).T / scale, **_columns(outcome, scale))
        for beta, outcome in zip(betas, outcomes, strict=True)
    ]


def solve_grid(
    kernel: Kernel,
    X: Rows,
    labels: npt.ArrayLike,
    Cs: Sequence[float],
    gammas: Sequence[float],
    *,
    scheme: str = "pairs",
    **options: Any,
) -> Iterator[tuple[float, float, Pairs | Rest]]:
    """All machines of a part for every gamma and C, cell after cell.

    Distances are computed once, a Gram matrix once per gamma, and each C starts from the
    solution of the one before.

    Parameters
    ----------
    kernel : Kernel
        Its gamma is replaced by each of `gammas`.
    X : (n, features) array or CSR
    labels : (n,) array of int
    Cs : increasing values
    gammas : values
    scheme : ``pairs`` or ``rest``
    **options
        As in `solve_pairs`; there is no `start`.

    Yields
    ------
    (C, gamma, Pairs or Rest)
        All of C for the first gamma, then for the next.
    """
    if scheme not in ("pairs", "rest"):
        raise ValueError(f"solve_grid: scheme is 'pairs' or 'rest', not {scheme!r}")
    solve: Callable[..., Iterator[Pairs | Rest]]
    solve = _solve_sorted_pairs if scheme == "pairs" else _solve_sorted_rest
    codes = np.asarray(labels, dtype=np.int64)
    order = np.argsort(codes, kind="stable").astype(np.int64)
    # With rows in the order of their classes each machine takes whole blocks of the matrix.
    ordered = np.asarray(X)[np.ix_(order, order)] if kernel.kind == "precomputed" else X[order]
    if options.get("weights") is not None:
        options["weights"] = np.asarray(options["weights"], dtype=np.float64)[order]
    for gamma, gram in grams(kernel, ordered, gammas):
        cells: Iterator[Pairs | Rest] = solve(gram, codes[order], order, Cs, options)
        yield from zip(Cs, itertools.repeat(gamma, len(Cs)), cells, strict=True)


def _solve_sorted_pairs(
    gram: Gram, codes: Integers, order: Integers, Cs: Sequence[float], options: dict[str, Any]
) -> Iterator[Pairs]:
    for cell in solve_pairs(gram, codes, Cs, **options):
        yield attrs.evolve(cell, order=order)


def _solve_sorted_rest(
    gram: Gram, codes: Integers, order: Integers, Cs: Sequence[float], options: dict[str, Any]
) -> Iterator[Rest]:
    for cell in solve_rest(gram, codes, Cs, **options):
        coefficients = np.empty_like(cell.coefficients)
        coefficients[order] = cell.coefficients
        yield attrs.evolve(cell, coefficients=coefficients)


def grams(kernel: Kernel, X: Rows, gammas: Sequence[float]) -> Iterator[tuple[float, Gram]]:
    """A part's Gram matrix for every gamma, from one matrix of distances or products.

    Parameters
    ----------
    kernel : Kernel
    X : (n, features) array or CSR
    gammas : values

    Yields
    ------
    (gamma, Gram)
    """
    if kernel.kind == "rbf" and len(gammas) == 1 and not is_sparse(X):
        yield gammas[0], backend.rbf_gram(X, gammas[0])
    elif kernel.kind in ("rbf", "laplacian"):
        fast = kernel.kind == "rbf" and not is_sparse(X)
        common = backend.distances(as_rows(X)) if fast else kernel.common(X)
        for gamma in gammas:
            yield gamma, backend.gram_of_distances(common, gamma)
    elif kernel.kind in ("linear", "poly", "sigmoid"):
        common = kernel.common(X)
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma).from_common(common))
    else:
        for gamma in gammas:
            yield gamma, as_gram(attrs.evolve(kernel, gamma=gamma)(X))


@attrs.frozen(eq=False)
class _PairLayout:
    """Where the machines' coefficients, put one after the other, stand in the compressed table."""

    rows: Integers
    offsets: Integers
    signs: Floats
    places: Integers

    @classmethod
    def of(cls, counts: Integers) -> _PairLayout:
        """The layout for so many rows of each class, sorted by class."""
        first, second = np.triu_indices(len(counts), 1)
        own = np.column_stack([first, second]).ravel()
        columns = np.column_stack([second - 1, first]).ravel()
        lengths = counts[own]
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])[: len(own)]
        shifts = (np.cumsum(counts) - counts)[own] - begins
        rows = np.arange(lengths.sum()) + np.repeat(shifts, lengths)
        signs = np.repeat(np.tile([1.0, -1.0], len(first)), lengths)
        places = rows * (len(counts) - 1) + np.repeat(columns, lengths)
        offsets = np.concatenate([[0], np.cumsum(counts[first] + counts[second])])
        return cls(rows, offsets, signs, places)


def _solve_all(
    gram: Gram,
    rows: Integers,
    offsets: Integers,
    signs: Floats,
    Cs: Sequence[float],
    weights: npt.ArrayLike | None,
    start: Floats | None,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, npt.NDArray[np.void], float]:
    """Every machine for every C, in the scale of the Gram matrix, which comes last."""
    values = as_path(Cs) * gram.scale
    share = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)[rows]
    if start is not None:
        start = start * gram.scale
        for begin, end in itertools.pairwise(offsets):
            part = slice(begin, end)
            bounds = values[0] * share[part]
            start[part] = feasible(signs[part] * start[part], signs[part], bounds) * signs[part]
    tasks = Tasks(rows, offsets, np.ascontiguousarray(signs), share, start)
    betas, outcomes = backend.solve_paths(gram, tasks, values, tol, limits)
    return betas, outcomes, gram.scale


def _columns(outcome: npt.NDArray[np.void], scale: float) -> dict[str, Any]:
    return {
        "biases": outcome["bias"].copy(),
        "objectives": outcome["objective"] / scale,
        "gaps": outcome["gap"].copy(),
        "iterations": outcome["iterations"].copy(),
        "converged": outcome["converged"] != 0,
    }
