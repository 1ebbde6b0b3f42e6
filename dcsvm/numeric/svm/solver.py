"""The dual of the C-SVM on a given Gram matrix: one problem, or a path over C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.kernels.distances import Floats
from dcsvm.numeric.kernels.gram import Gram, as_gram
from dcsvm.numeric.svm.numpy_solver import Tasks

MAX_ITERATIONS = 10_000_000
"""Where a problem is left alone, with a warning, unless the caller says otherwise."""


class ConvergenceWarning(UserWarning):
    """A limit of iterations or of time was reached before the tolerance."""


@attrs.frozen(eq=False)
class Solution:
    """What the dual of one binary problem came to.

    Parameters
    ----------
    alphas : (n,) array
        By row, none negative.
    bias : float
        The decision is ``K @ (signs * alphas) + bias``.
    objective : float
        1/2 sum_ij alpha_i alpha_j s_i s_j K_ij - sum_i alpha_i, which is minimised.
    gap : float
        The largest violation of optimality by a pair of rows.
    iterations : int
    converged : bool
        Whether the gap is below the tolerance.
    """

    alphas: Floats
    bias: float
    objective: float
    gap: float
    iterations: int
    converged: bool

    @classmethod
    def of(cls, beta: Floats, outcome: tuple[Any, ...], scale: float = 1.0) -> Solution:
        """From signed coefficients and what the solver says, on the scale of its matrix."""
        bias, objective, gap, iterations, _, converged = outcome
        return cls(np.abs(beta) / scale, bias, objective / scale, gap, iterations, bool(converged))


def solve(
    K: npt.NDArray[np.floating] | Gram,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    rows: npt.NDArray[np.integer] | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> Solution:
    """Solve the dual of the C-SVM.

    Parameters
    ----------
    K : (n, n) array or Gram
    signs : (n,) array of +1 and -1
    C : float or (n,) array
        The upper bound of each alpha.
    start : (n,) array, optional
        Alphas to start from; whatever they are, they are made feasible first.
    rows : (n,) array of int, optional
        Which rows of a larger matrix these are.
    tol : float
        The gap at which to stop, as libsvm's.
    max_iterations, max_seconds
        Guards: where one is reached, a ConvergenceWarning says so.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> solution = solve(X @ X.T, [-1, -1, 1, 1], 10.0)
    >>> solution.alphas.round(3).tolist(), round(solution.bias, 3)
    ([0.0, 0.5, 0.5, 0.0], -2.0)
    """
    bounds = np.asarray(C, dtype=np.float64)
    path = solve_path(
        *(K, signs, [1.0]),
        weights=np.broadcast_to(bounds, (len(np.asarray(signs)),)),
        start=start,
        rows=rows,
        tol=tol,
        max_iterations=max_iterations,
        max_seconds=max_seconds,
    )
    return path[0]


def solve_path(
    K: npt.NDArray[np.floating] | Gram,
    signs: npt.ArrayLike,
    Cs: Sequence[float],
    *,
    weights: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    rows: npt.NDArray[np.integer] | None = None,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> list[Solution]:
    """Solve the dual for increasing values of C, each from the one before.

    Parameters
    ----------
    K : (n, n) array or Gram
    signs : (n,) array of +1 and -1
    Cs : increasing values
    weights : (n,) array, optional
        What C is multiplied with, by row.
    start : (n,) array, optional
        Alphas to start the first value from.
    rows : (n,) array of int, optional
        Which rows of a larger matrix these are.
    tol, max_iterations, max_seconds
        For each value, as in `solve`.
    """
    gram, y = as_gram(K), as_signs(signs)
    values = as_path(Cs) * gram.scale
    share = np.ones(len(y)) if weights is None else np.array(weights, dtype=np.float64)
    starts = given = None
    if start is not None:
        alphas = np.asarray(start, dtype=np.float64) * gram.scale
        starts, given = np.zeros((len(values), len(y))), np.zeros(len(values), dtype=np.int8)
        starts[0], given[0] = make_feasible(alphas, y, values[0] * share) * y, 1
    places = np.ascontiguousarray(np.arange(len(y)) if rows is None else rows, dtype=np.int64)
    tasks = Tasks(places, np.array([0, len(y)], dtype=np.int64), y, share, starts, given)
    limits = (max_iterations, max_seconds or 0.0)
    betas, outcomes = backend.solve_paths(gram, tasks, values, tol, limits)
    warn_unless_converged(outcomes, "solve")
    return [
        Solution.of(beta, outcome, gram.scale)
        for beta, outcome in zip(betas, outcomes[:, 0].tolist(), strict=True)
    ]


def make_feasible(alphas: Floats, signs: Floats, bounds: Floats) -> Floats:
    """Alphas within their bounds and with equal sums on both sides, near the given ones.

    The side with the larger sum gives way: first by shrinking the alphas between their bounds,
    and only then those at the upper bound, so that a good start keeps its bounded rows.

    Parameters
    ----------
    alphas, signs, bounds : (n,) arrays
    """
    result = np.clip(alphas, 0.0, bounds)
    excess = float(signs @ result)
    heavy = signs * excess > 0
    free = heavy & (result < bounds)
    for part in (free, heavy & ~free):
        total = float(result[part].sum())
        if total > 0.0 and excess != 0.0:
            taken = min(abs(excess), total)
            result[part] *= 1.0 - taken / total
            excess -= np.sign(excess) * taken
    return result


def as_signs(signs: npt.ArrayLike) -> Floats:
    """Signs as float64, refused unless each is +1 or -1."""
    result = np.ascontiguousarray(signs, dtype=np.float64)
    if result.ndim != 1 or not (np.abs(result) == 1.0).all():
        raise ValueError("solve: signs are a vector of +1 and -1")
    return result


def as_path(Cs: Sequence[float]) -> Floats:
    """Values of C as float64, refused unless positive and increasing."""
    result = np.array(Cs, dtype=np.float64)
    if not len(result) or result[0] <= 0.0 or (np.diff(result) <= 0.0).any():
        raise ValueError(f"solve_path: values of C are positive and increasing, not {list(Cs)}")
    return result


def warn_unless_converged(outcomes: npt.NDArray[np.void], where: str) -> None:
    """Say how many problems ran into a limit, if any did."""
    failed = outcomes.size - int(np.count_nonzero(outcomes["converged"]))
    if failed:
        worst = float(outcomes["gap"].max())
        warnings.warn(
            f"{where}: {failed} of {outcomes.size} problems reached a limit of iterations or "
            f"time; the largest optimality gap left is {worst:.3g}",
            ConvergenceWarning,
            stacklevel=3,
        )
