"""The dual solver in numpy: the algorithm of the C library, as its readable fallback.

With b the signed coefficients and y the signs, it minimises 1/2 b'Kb - y'b within bounds and
subject to sum(b) = 0. f = Kb - y is the gradient. At the optimum, no row that can grow has a
smaller f than a row that can fall.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats
from dcsvm_plugins.learners.kernel_svm.c_continuation import (
    ROUGH,
    mean_curvature,
    rescale,
    run_continuation,
    sample_rows,
    set_bounds,
)
from dcsvm_plugins.learners.kernel_svm.dual_problem import BoundedDual
from dcsvm_plugins.learners.kernel_svm.gram import Gram
from dcsvm_plugins.learners.kernel_svm.newton_step import newton_steps
from dcsvm_plugins.learners.kernel_svm.refinement import Refinement

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
#: Maps row indices to exact matrix rows, or to None if exact values are unknown.
Exact: TypeAlias = Callable[[Integers], Floats | None]


@attrs.frozen(eq=False)
class Tasks:
    """Concatenated binary problems on rows of one Gram matrix.

    Task t owns the entries offsets[t]:offsets[t + 1] of the other arrays: `rows` of the matrix,
    `signs` (+1.0 or -1.0) and `weights` that multiply C. `starts`, (values of C, entries), are
    signed coefficients to start from where `given` is not 0. A later C uses them only if they are
    better than the solution for the previous C.
    """

    rows: Integers
    offsets: Integers
    signs: Floats
    weights: Floats
    starts: Floats | None = None
    given: npt.NDArray[np.int8] | None = None

    def start(self, index: int, begin: int, end: int) -> Floats | None:
        """The starting point of a task for one C, if any."""
        if self.starts is None or self.given is None or not self.given[index]:
            return None
        return self.starts[index, begin:end].copy()


@attrs.define(eq=False)
class DualProblem(BoundedDual):
    """One binary problem with its matrix; changed in place."""

    K: Singles
    shift: float


@attrs.define
class Effort:
    """Limits of a problem, and what was used so far."""

    tol: float
    left: int
    deadline: float
    iterations: int = 0
    newton: int = 0

    def is_spent(self) -> bool:
        """Whether a limit was reached."""
        return self.left <= 0 or (0 < self.deadline < time.monotonic())


def tolerance_share(rows: int) -> float:
    """The share of the tolerance at which to stop.

    No solution should be worse than that of a solver that stops just below the tolerance. With
    fewer rows, a single pair accounts for more of the objective.
    """
    return min(0.01 * rows, max(0.2, 1e-3 * rows), 0.5)


def solve_paths(
    gram: Gram, tasks: Tasks, Cs: Floats, tol: float, limits: tuple[int, float]
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every value of C; see `dual_solvers.solve_paths`."""
    betas = np.empty((len(Cs), len(tasks.rows)))
    outcomes = np.zeros((len(Cs), len(tasks.offsets) - 1), dtype=OUTCOME)
    for task, (begin, end) in enumerate(zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)):
        rows, y = tasks.rows[begin:end], tasks.signs[begin:end]
        weights = tasks.weights[begin:end]
        first = tasks.start(0, begin, end)
        beta = np.zeros(end - begin) if first is None else first
        K = gram.values[np.ix_(rows, rows)]
        problem = DualProblem(beta, beta, beta, K.astype(np.float64) @ beta - y, K, gram.shift)
        exact = partial(_exact_rows, gram, rows)
        refinement = Refinement(partial(_multiply, exact), np.zeros(len(y)), -y)
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
            outcomes[index, task] = problem.conclude(y, effort.iterations, effort.newton, tol)
    return betas, outcomes


def _consider(problem: DualProblem, y: Floats, start: Floats, refinement: Refinement) -> None:
    """Continue from another start if it is better than the solution for the previous C."""
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
    """Solve one problem from a given gradient; see `large_solver.solve_inner`."""
    problem = DualProblem(*bounds, beta.copy(), f.copy(), K, shift)
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


def _exact_rows(gram: Gram, rows: Integers, some: Integers) -> Floats | None:
    return gram.exact(rows[some], rows)


def _multiply(exact: Exact, moved: Integers, steps: Floats) -> Floats | None:
    values = exact(moved)
    return None if values is None else steps @ values


def _solve_exactly(
    problem: DualProblem, effort: Effort, refinement: Refinement, exact: Exact
) -> None:
    """Solve, and repeat with a corrected gradient while float32 rounding matters.

    If a few rounds do not converge, they become proximal steps with an exact line search, each
    followed by exact Newton steps on the free rows.
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
            problem.K[np.diag_indices_from(problem.K)] += np.float32(refinement.shift_diagonal())
        converged, rounds = _solve(problem, effort), rounds + 1


def _solve(problem: DualProblem, effort: Effort) -> bool:
    """SMO on the whole problem first, then on the rows left by shrinking."""
    first = True
    while True:
        lowest, highest = problem.extremes()
        if highest - lowest < effort.tol:
            return True
        if effort.is_spent():
            return False
        grow, fall = problem.can_grow(), problem.can_fall()
        active = np.flatnonzero(
            (grow & fall) | (grow & (problem.f < highest)) | (fall & (problem.f > lowest))
        )
        if first or 4 * len(active) > 3 * len(problem.beta):
            later = SHRUNK_NEWTON if len(problem.f) < FEW_ROWS else 0 if first else FIRST_NEWTON
            # After the first chunk, it is long enough for a Newton phase, however few the rows.
            chunk = max(2 * len(problem.beta) + 100, 0 if first else 2 * later)
            _smo(problem, effort, effort.tol, min(effort.left, chunk), later)
        else:
            _solve_shrunk(problem, effort, active, highest - lowest)
        first = False


def _solve_shrunk(problem: DualProblem, effort: Effort, active: Integers, gap: float) -> None:
    """SMO on the rows that can still form a violating pair."""
    small = DualProblem(
        *(problem.lower[active], problem.upper[active], problem.beta[active], problem.f[active]),
        *(problem.K[np.ix_(active, active)], problem.shift),
    )
    tol = max(0.9 * effort.tol, 0.05 * gap)
    _smo(small, effort, tol, effort.left, SHRUNK_NEWTON)
    steps = small.beta - problem.beta[active]
    problem.f += steps @ problem.K[active].astype(np.float64)
    problem.beta[active] = small.beta


def _smo(problem: DualProblem, effort: Effort, tol: float, most: int, newton_after: int) -> None:
    """Sequential minimal optimisation with second-order working set selection."""
    K, f, beta = problem.K, problem.f, problem.beta
    diagonal = np.diagonal(K).astype(np.float64)
    last = effort.iterations + most
    next_newton = effort.iterations + newton_after if newton_after else last
    while effort.iterations < last:
        lowest, highest = problem.extremes()
        if highest - lowest < tol or (effort.iterations % 256 == 255 and effort.is_spent()):
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
    """Newton steps on the free rows; return the least number of SMO iterations to follow."""
    free = _free(problem)
    if not 2 <= len(free) <= MOST_FREE:
        return 4 * len(problem.f)
    A = problem.K[np.ix_(free, free)].astype(np.float64)
    # Entries are rounded to float32; a ridge of that size keeps the factorisation stable.
    ridge = 2e-9 * np.abs(A).max() + 1e-13 * abs(np.diagonal(A).mean() + problem.shift)
    steps, solves = newton_steps(problem, free, A + problem.shift, ridge)
    problem.f += steps @ problem.K[free].astype(np.float64)
    effort.newton += solves
    return 0 if solves else 4 * len(problem.f)


def _newton_exactly(
    problem: DualProblem, effort: Effort, refinement: Refinement, exact: Exact
) -> None:
    """Newton steps on the free rows with exact entries, once the gradient is exact.

    Needed where the curvature is smaller than the rounding error of the matrix.
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
