"""The dual solver in plain numpy: the C library's algorithm, for reading and as its fallback.

With b the signed coefficients and y the signs, it minimises 1/2 b'Kb - y'b between bounds while
sum(b) stays zero. f = Kb - y is the gradient; at the optimum no row that can grow has a smaller f
than a row that can fall.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats
from dcsvm.numeric.kernels.gram import Gram
from dcsvm.numeric.svm.c_continuation import (
    ROUGH,
    mean_curvature,
    rescale,
    run_continuation,
    sample_rows,
    set_bounds,
)
from dcsvm.numeric.svm.newton_step import newton_steps
from dcsvm.numeric.svm.refinement import Refinement

Integers = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]

OUTCOME = np.dtype(
    [
        *(("bias", "f8"), ("objective", "f8"), ("gap", "f8")),
        *(("iterations", "i8"), ("newton", "i8"), ("converged", "i8")),
    ]
)
NEWTON_ROUND, PLAIN_ROUNDS, MOST_ROUNDS = 1, 2, 1000
SMALLEST_CURVATURE = 1e-12
FIRST_NEWTON, SHRUNK_NEWTON, FEW_ROWS = 500, 200, 300
MOST_FREE, MOST_EXACT = 3000, 1500
#: Exact rows of a matrix by their numbers, or None where nothing exact is known.
Exact: TypeAlias = Callable[[Integers], Floats | None]


@attrs.frozen(eq=False)
class Tasks:
    """Binary problems on rows of one Gram matrix, one after the other.

    Task t has the entries offsets[t]:offsets[t + 1] of the other arrays: `rows` into the
    matrix, `signs` +1.0 or -1.0, `weights` that multiply C. `starts` are signed coefficients to
    start from, (values of C, entries), where `given` is not 0: the first C from them, a later one
    if they are better than the solution of the C before.
    """

    rows: Integers
    offsets: Integers
    signs: Floats
    weights: Floats
    starts: Floats | None = None
    given: npt.NDArray[np.int8] | None = None

    def start(self, index: int, begin: int, end: int) -> Floats | None:
        """Where a task may start from for one C."""
        if self.starts is None or self.given is None or not self.given[index]:
            return None
        return self.starts[index, begin:end].copy()


@attrs.define(eq=False)
class DualProblem:
    """One binary problem: matrix, bounds, coefficients and gradient, changed in place."""

    K: Singles
    shift: float
    lower: Floats
    upper: Floats
    beta: Floats
    f: Floats

    def can_grow(self) -> npt.NDArray[np.bool_]:
        """Which coefficients are below their upper bound."""
        return self.beta < self.upper

    def can_fall(self) -> npt.NDArray[np.bool_]:
        """Which coefficients are above their lower bound."""
        return self.beta > self.lower

    def gap(self) -> float:
        """The largest violation of optimality by a pair of rows."""
        lowest, highest = self.extremes()
        return highest - lowest

    def extremes(self) -> tuple[float, float]:
        """The smallest f that can grow and the largest that can fall."""
        return (
            float(self.f.min(initial=np.inf, where=self.can_grow())),
            float(self.f.max(initial=-np.inf, where=self.can_fall())),
        )


@attrs.define
class Effort:
    """What a problem may still take, and what it took."""

    tol: float
    left: int
    deadline: float
    iterations: int = 0
    newton: int = 0

    def spent(self) -> bool:
        """Whether a limit is reached."""
        return self.left <= 0 or (0 < self.deadline < time.monotonic())


def tolerance_share(rows: int) -> float:
    """The share of the tolerance to stop at.

    No answer shall be worse than that of a solver which stops just below the tolerance; the
    fewer the rows, the more of the objective one pair can hold.
    """
    return min(0.01 * rows, max(0.2, 1e-3 * rows), 0.5)


def solve_paths(
    gram: Gram, tasks: Tasks, Cs: Floats, tol: float, limits: tuple[int, float]
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every value of C; see `backend.solve_paths`."""
    betas = np.empty((len(Cs), len(tasks.rows)))
    outcomes = np.zeros((len(Cs), len(tasks.offsets) - 1), dtype=OUTCOME)
    for task, (begin, end) in enumerate(zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)):
        rows, y = tasks.rows[begin:end], tasks.signs[begin:end]
        weights = tasks.weights[begin:end]
        first = tasks.start(0, begin, end)
        beta = np.zeros(end - begin) if first is None else first
        K = gram.values[np.ix_(rows, rows)]
        problem = DualProblem(K, gram.shift, beta, beta, beta, K.astype(np.float64) @ beta - y)
        exact = _exact(gram, rows)
        refinement = Refinement(_products(exact), np.zeros(len(y)), -y)
        for index, C in enumerate(Cs):
            deadline = time.monotonic() + limits[1] if limits[1] > 0 else 0.0
            effort = Effort(tol * tolerance_share(len(y)), limits[0], deadline)
            if index:
                refinement.rescale(rescale(problem, y, C / Cs[index - 1]), y)
            elif first is None:
                _run_continuation(problem, y, C * weights, effort)
            set_bounds(problem, y, C * weights)
            start = tasks.start(index, begin, end) if index else None
            if start is not None:
                _consider(problem, y, start, refinement)
            _solve_exactly(problem, effort, refinement, exact)
            betas[index, begin:end] = problem.beta
            outcomes[index, task] = _conclude(problem, y, effort, tol)
    return betas, outcomes


def _consider(problem: DualProblem, y: Floats, start: Floats, refinement: Refinement) -> None:
    """Go on from another start where it is better than what the C before led to."""
    beta = np.clip(start, problem.lower, problem.upper)
    f = problem.K.astype(np.float64) @ beta - y
    if beta @ (f - y) < problem.beta @ (problem.f - y):
        problem.beta, problem.f = beta, f
        refinement.beta, refinement.f = np.zeros(len(y)), -y


def solve_inner(
    K: Singles,
    shift: float,
    bounds: tuple[Floats, Floats],
    f: Floats,
    beta: Floats,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, int]:
    """One problem from its own gradient; see `backend.solve_inner`."""
    problem = DualProblem(K, shift, *bounds, beta.copy(), f.copy())
    deadline = time.monotonic() + limits[1] if limits[1] > 0 else 0.0
    effort = Effort(tol, limits[0], deadline)
    _solve(problem, effort)
    return problem.beta, effort.iterations


def _run_continuation(problem: DualProblem, y: Floats, bounds: Floats, effort: Effort) -> None:
    wanted, effort.tol = effort.tol, ROUGH
    if not len(y):
        return
    curvature = mean_curvature(problem.K[sample_rows(len(y))], np.diagonal(problem.K))
    run_continuation(problem, y, bounds, curvature, lambda: _solve(problem, effort))
    effort.tol = wanted


def _exact(gram: Gram, rows: Integers) -> Exact:
    """The exact matrix of a task, by some of its rows."""
    return lambda some: gram.exact(rows[some], rows)


def _products(exact: Exact) -> Callable[[Integers, Floats], Floats | None]:
    """What the exact matrix of a task makes of coefficients."""

    def multiply(moved: Integers, steps: Floats) -> Floats | None:
        values = exact(moved)
        return None if values is None else steps @ values

    return multiply


def _solve_exactly(
    problem: DualProblem, effort: Effort, refinement: Refinement, exact: Exact
) -> None:
    """Solve; where the matrix's rounding may show, put the gradient right and go on.

    If a few rounds of that run in a circle, they become proximal steps with an exact search, each
    followed by exact Newton steps on the rows that are free.
    """
    converged, rounds = _solve(problem, effort), 0
    while converged and refinement.correct(problem, effort.tol, search=rounds > PLAIN_ROUNDS):
        if problem.gap() < effort.tol or rounds == MOST_ROUNDS:
            break
        if rounds >= NEWTON_ROUND:
            _newton_exactly(problem, effort, refinement, exact)
            if problem.gap() < effort.tol:
                break
        if rounds == PLAIN_ROUNDS:
            problem.K[np.diag_indices_from(problem.K)] += np.float32(refinement.stiffen())
        converged, rounds = _solve(problem, effort), rounds + 1


def _conclude(
    problem: DualProblem, y: Floats, effort: Effort, tol: float
) -> tuple[float, float, float, int, int, int]:
    lowest, highest = problem.extremes()
    free = problem.can_grow() & problem.can_fall()
    if free.any():
        bias = -float(problem.f[free].mean())
    else:
        bounds = [value for value in (lowest, highest) if np.isfinite(value)]
        bias = -float(np.mean(bounds)) if bounds else 0.0
    objective = 0.5 * float(problem.beta @ (problem.f - y))
    gap = highest - lowest
    return bias, objective, gap, effort.iterations, effort.newton, int(gap < tol)


def _solve(problem: DualProblem, effort: Effort) -> bool:
    """SMO on the whole problem first, then on what shrinking leaves of it."""
    first = True
    while True:
        lowest, highest = problem.extremes()
        if highest - lowest < effort.tol:
            return True
        if effort.spent():
            return False
        grow, fall = problem.can_grow(), problem.can_fall()
        active = np.flatnonzero(
            (grow & fall) | (grow & (problem.f < highest)) | (fall & (problem.f > lowest))
        )
        if first or 4 * len(active) > 3 * len(problem.beta):
            chunk = min(effort.left, 2 * len(problem.beta) + 100)
            later = SHRUNK_NEWTON if len(problem.f) < FEW_ROWS else 0 if first else FIRST_NEWTON
            _smo(problem, effort, effort.tol, chunk, later)
        else:
            _solve_shrunk(problem, effort, active, highest - lowest)
        first = False


def _solve_shrunk(problem: DualProblem, effort: Effort, active: Integers, gap: float) -> None:
    """SMO on the rows that can still form a violating pair."""
    small = DualProblem(
        problem.K[np.ix_(active, active)],
        problem.shift,
        *(array[active] for array in (problem.lower, problem.upper, problem.beta, problem.f)),
    )
    tol = max(0.9 * effort.tol, 0.05 * gap)
    _smo(small, effort, tol, effort.left, SHRUNK_NEWTON)
    steps = small.beta - problem.beta[active]
    problem.f += steps @ problem.K[active].astype(np.float64)
    problem.beta[active] = small.beta


def _smo(problem: DualProblem, effort: Effort, tol: float, most: int, newton_after: int) -> None:
    """Sequential minimal optimisation with second-order choice of the pair."""
    K, f, beta = problem.K, problem.f, problem.beta
    diagonal = np.diagonal(K).astype(np.float64)
    last = effort.iterations + most
    next_newton = effort.iterations + newton_after if newton_after else last
    while effort.iterations < last:
        lowest, highest = problem.extremes()
        if highest - lowest < tol or (effort.iterations % 256 == 255 and effort.spent()):
            break
        effort.iterations += 1
        effort.left -= 1
        if effort.iterations > next_newton:
            next_newton = effort.iterations + newton_after + _newton(problem, effort)
            continue
        i = int(np.argmin(np.where(problem.can_grow(), f, np.inf)))
        row = K[i].astype(np.float64)
        rise = np.where(problem.can_fall(), np.maximum(f - lowest, 0.0), 0.0)
        curvature = np.maximum(diagonal[i] + diagonal - 2.0 * row, SMALLEST_CURVATURE)
        j = int(np.argmax(rise * rise / curvature))
        step = rise[j] / curvature[j]
        room_i, room_j = problem.upper[i] - beta[i], beta[j] - problem.lower[j]
        step = min(step, room_i, room_j)
        beta[i] = problem.upper[i] if step == room_i else beta[i] + step
        beta[j] = problem.lower[j] if step == room_j else beta[j] - step
        f += step * (row - K[j])


def _newton(problem: DualProblem, effort: Effort) -> int:
    """Newton steps on the free rows; gives how many iterations of SMO should follow at least."""
    free = _free(problem)
    if not 2 <= len(free) <= MOST_FREE:
        return 4 * len(problem.f)
    A = problem.K[np.ix_(free, free)].astype(np.float64)
    # Entries carry the rounding of float32; a ridge of that size hides it from the factor.
    ridge = 2e-9 * np.abs(A).max() + 1e-13 * abs(np.diagonal(A).mean() + problem.shift)
    steps, solves = newton_steps(problem, free, A + problem.shift, ridge)
    problem.f += steps @ problem.K[free].astype(np.float64)
    effort.newton += solves
    return 0 if solves else 4 * len(problem.f)


def _newton_exactly(
    problem: DualProblem, effort: Effort, refinement: Refinement, exact: Exact
) -> None:
    """Newton steps on the free rows with exact entries, once the gradient is exact.

    Where curvature is below the rounding, the rounded matrix would lead nowhere.
    """
    free = _free(problem)
    values = exact(free) if 2 <= len(free) <= MOST_EXACT else None
    if values is None:
        return
    A = values[:, free] + problem.shift
    steps, solves = newton_steps(problem, free, A, 1e-14 * abs(np.diagonal(A).mean()))
    problem.f = problem.f + steps @ values
    refinement.beta, refinement.f = problem.beta.copy(), problem.f.copy()
    effort.newton += solves


def _free(problem: DualProblem) -> Integers:
    return np.flatnonzero(problem.can_grow() & problem.can_fall())
