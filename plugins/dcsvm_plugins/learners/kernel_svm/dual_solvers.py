"""Solvers for the dual of the C-SVM: one problem, a path of C values, or many at once.

They call C, or `smo_numpy.py` without a compiled library. The iterations are in
`dcsvm/numeric/native/smo.c`, shrinking in `shrinking.c`; `solve_paths.c` and `tolerance_share`
say when they stop, and `tolerance.py` how exact they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from dcsvm.numeric import Floats, address, native
from dcsvm_plugins.learners.kernel_svm.gram import Gram, as_gram, gram_structure, rbf_gram
from dcsvm_plugins.learners.kernel_svm.smo_numpy import OUTCOME, Integers, Tasks
from dcsvm_plugins.learners.kernel_svm.smo_numpy import solve_paths as solve_paths_numpy

MAX_ITERATIONS = 10_000_000
"""The default limit of iterations."""


@attrs.frozen(eq=False)
class Solution:
    """Solution of the dual of one binary problem.

    The decision is ``K @ (signs * alphas) + bias`` with nonnegative alphas (n,). The objective is
    the minimised 1/2 sum_ij alpha_i alpha_j s_i s_j K_ij - sum_i alpha_i, and the gap the largest
    violation of optimality by a pair of rows; a solution that converged has one below the
    tolerance.
    """

    alphas: Floats
    bias: float
    objective: float
    gap: float
    iterations: int
    converged: bool

    @property
    def outcome(self) -> tuple[float, float, float, int, int, bool]:
        """The entries of `OUTCOME`; Newton steps are not known."""
        return self.bias, self.objective, self.gap, self.iterations, 0, self.converged

    @classmethod
    def of(cls, beta: Floats, outcome: tuple[Any, ...], scale: float = 1.0) -> Solution:
        """Build from signed coefficients and an `OUTCOME`, both on the scale of the matrix."""
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
    """Solve the dual of the C-SVM with the Gram matrix K (n, n) and `signs` (n,) of +1 and -1.

    C, a number or (n,), is the upper bound of each alpha. `start` (n,) are initial alphas, made
    feasible first; `rows` (n,) are indices of the rows in a larger matrix. The solver stops when
    the gap is below `tol`, as in libsvm; a limit that is reached raises a ConvergenceWarning.

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
    """Solve the dual for increasing values of C, each warm-started from the previous one.

    `weights` (n,) multiply C by row. The other arguments are those of `solve`; limits are for each
    value, and `start` is for the first.
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
    betas, outcomes = solve_paths(gram, tasks, values, tol, limits)
    warn_unless_converged(outcomes, "solve")
    return [
        Solution.of(beta, outcome, gram.scale)
        for beta, outcome in zip(betas, outcomes[:, 0].tolist(), strict=True)
    ]


def solve_parts(
    X: Floats,
    offsets: npt.ArrayLike,
    gammas: npt.ArrayLike,
    signs: npt.ArrayLike,
    bounds: npt.ArrayLike,
    *,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve the duals of many small C-SVMs with an RBF kernel, each with rows of its own.

    The rows X (n, features), `signs` (n,) and `bounds` (n,) of alphas are stacked; `offsets`
    (problems + 1,) are the starts of the problems, and the end of the last. Tolerance and limits
    are for each problem, as in `solve`. Returns signed coefficients (n,), alpha times sign, and
    the `OUTCOME` (problems,) of each.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [0.0], [3.0]])
    >>> betas, _ = solve_parts(X, [0, 2, 4], [1.0, 1.0], [-1, 1, -1, 1], np.full(4, 10.0))
    >>> betas.round(2).tolist()
    [-1.58, 1.58, -1.0, 1.0]
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    y, upper = as_signs(signs), np.ascontiguousarray(bounds, dtype=np.float64)
    starts = np.ascontiguousarray(offsets, dtype=np.int64)
    widths = np.ascontiguousarray(gammas, dtype=np.float64)
    limits = (max_iterations, max_seconds or 0.0)
    if native.library is None:
        betas, outcomes = _solve_one_by_one(rows, starts, widths, y, upper, tol, limits)
    else:
        betas, outcomes = np.empty(len(y)), np.zeros(len(widths), dtype=OUTCOME)
        X_at, widths_at, starts_at, y_at, upper_at, betas_at, outcomes_at = (
            each.ctypes.data for each in (rows, widths, starts, y, upper, betas, outcomes)
        )
        done = native.library.dcsvm_parts(
            *(X_at, rows.shape[1], widths_at, starts_at, len(widths)),
            *(y_at, upper_at, tol, *limits, betas_at, outcomes_at),
        )
        if not done:
            raise MemoryError("solve_parts: not enough memory for a Gram matrix")
    warn_unless_converged(outcomes, "solve_parts")
    return betas, outcomes


def solve_tasks(
    gram: Gram,
    rows: npt.ArrayLike,
    offsets: npt.ArrayLike,
    signs: npt.ArrayLike,
    bounds: npt.ArrayLike,
    *,
    tol: float = 1e-3,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve the duals of many C-SVMs, stacked as for `solve_parts`, on rows of one Gram matrix."""
    tasks = Tasks(
        np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(offsets, dtype=np.int64),
        as_signs(signs),
        np.ascontiguousarray(bounds, dtype=np.float64),
    )
    limits = (max_iterations, max_seconds or 0.0)
    betas, outcomes = solve_paths(gram, tasks, np.array([gram.scale]), tol, limits)
    warn_unless_converged(outcomes, "solve_tasks")
    outcomes["objective"] /= gram.scale
    return betas[0] / gram.scale, outcomes[0]


def solve_paths(
    gram: Gram, tasks: Tasks, Cs: Floats, tol: float, limits: tuple[int, float]
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every value of C, in increasing order.

    `limits` are iterations and seconds for each problem; zero seconds is no limit. Returns signed
    coefficients (Cs, total) in the order of ``tasks.rows``, and the `OUTCOME` (Cs, tasks).
    """
    if native.library is None:
        return solve_paths_numpy(gram, tasks, Cs, tol, limits)
    betas = np.empty((len(Cs), len(tasks.rows)))
    outcomes = np.zeros((len(Cs), len(tasks.offsets) - 1), dtype=OUTCOME)
    done = native.library.dcsvm_paths(
        *(gram_structure(gram), address(tasks.rows), address(tasks.offsets)),
        *(len(tasks.offsets) - 1, address(tasks.signs), address(tasks.weights), address(Cs)),
        *(len(Cs), address(tasks.starts), address(tasks.given), tol, limits[0], limits[1]),
        *(address(betas), address(outcomes)),
    )
    if not done:
        raise MemoryError("solve_paths: not enough memory for a copy of the Gram matrix")
    return betas, outcomes


def make_feasible(alphas: Floats, signs: Floats, bounds: Floats) -> Floats:
    """Move alphas (n,) into their bounds and make the sums of both classes equal.

    The class with the larger sum is scaled down: free alphas first, bounded ones only if
    necessary, so that a good start keeps its bounded rows.
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
    """Convert signs to float64; raise unless each is +1 or -1."""
    result = np.ascontiguousarray(signs, dtype=np.float64)
    if result.ndim != 1 or not (np.abs(result) == 1.0).all():
        raise ValueError("solve: signs must be a vector of +1 and -1")
    return result


def as_path(Cs: Sequence[float]) -> Floats:
    """Convert C values to float64; raise unless they are positive and increasing."""
    result = np.array(Cs, dtype=np.float64)
    if not len(result) or result[0] <= 0.0 or (np.diff(result) <= 0.0).any():
        raise ValueError(f"solve_path: C values must be positive and increasing, got {list(Cs)}")
    return result


def warn_unless_converged(outcomes: npt.NDArray[np.void], where: str) -> None:
    """Warn if any problem reached a limit."""
    failed = outcomes.size - int(np.count_nonzero(outcomes["converged"]))
    if failed:
        worst = float(outcomes["gap"].max())
        warnings.warn(
            f"{where}: {failed} of {outcomes.size} problems reached a limit of iterations or "
            f"time; the largest remaining optimality gap is {worst:.3g}",
            ConvergenceWarning,
            stacklevel=3,
        )


def _solve_one_by_one(
    X: Floats,
    offsets: Integers,
    gammas: Floats,
    y: Floats,
    bounds: Floats,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, npt.NDArray[np.void]]:
    betas, outcomes = np.empty(len(y)), np.zeros(len(gammas), dtype=OUTCOME)
    for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
        gram = rbf_gram(X[begin:end], float(gammas[number]))
        size = end - begin
        tasks = Tasks(np.arange(size), np.array([0, size]), y[begin:end], bounds[begin:end])
        found, outcome = solve_paths(gram, tasks, np.ones(1), tol, limits)
        betas[begin:end], outcomes[number] = found[0], outcome[0, 0]
    return betas, outcomes
