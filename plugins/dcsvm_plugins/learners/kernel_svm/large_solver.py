"""Solver for large dual problems: working sets, cached kernel rows and warm starts."""

from __future__ import annotations

import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats, Kernel, Rows, address, native, row_slices
from dcsvm_plugins.learners.kernel_svm.dual_problem import BoundedDual
from dcsvm_plugins.learners.kernel_svm.dual_solvers import (
    MAX_ITERATIONS,
    Solution,
    as_signs,
    make_feasible,
    warn_unless_converged,
)
from dcsvm_plugins.learners.kernel_svm.refinement import Refinement
from dcsvm_plugins.learners.kernel_svm.row_cache import Integers, KernelRows
from dcsvm_plugins.learners.kernel_svm.smo_numpy import (
    MOST_ROUNDS,
    OUTCOME,
    PLAIN_ROUNDS,
    Singles,
    tolerance_share,
)
from dcsvm_plugins.learners.kernel_svm.smo_numpy import solve_inner as solve_inner_numpy

LEAST_WORKING_SET, MOST_WORKING_SET = 2048, 4096
LEAST_OF_FEW, TIMES_SMALLER = 256, 32
CACHE_BYTES = 1 << 30
EXACT_BYTES = 1 << 27
"""Memory for one block of exact kernel values."""


def solve_large(
    kernel: Kernel,
    X: Rows,
    signs: npt.ArrayLike,
    C: float | npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    tol: float = 1e-3,
    cache_bytes: int = CACHE_BYTES,
    threads: int = 1,
    max_iterations: int = MAX_ITERATIONS,
    max_seconds: float | None = None,
) -> Solution:
    """Solve the dual without a full Gram matrix, for tens of thousands of rows X (n, features).

    Each iteration solves the subproblem of the rows that violate optimality most and updates the
    gradient from their float32 kernel rows, for which there are `cache_bytes`. If rounding may
    affect the gap, the gradient is corrected with exact kernel values, and the descent continues.
    The result does not depend on `threads`; other arguments are those of `solve`.
    """
    y = as_signs(signs)
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape))
    begin = np.zeros(len(y)) if start is None else np.asarray(start, dtype=np.float64)
    deadline = time.monotonic() + max_seconds if max_seconds else np.inf
    state = _State.of(y, bounds, make_feasible(begin, y, bounds) * y)
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        run = _Descent(
            kernel, X, tol * tolerance_share(len(y)), cache_bytes, pool, max_iterations, deadline
        )
        run.solve(state)
    outcome = np.array([state.conclude(y, run.iterations, 0, tol)], dtype=OUTCOME)
    warn_unless_converged(outcome, "solve_large")
    return Solution.of(state.beta, outcome[0].item())


@attrs.define(eq=False)
class _State(BoundedDual):
    """Signed coefficients, bounds and gradient of some rows."""

    @classmethod
    def of(cls, y: Floats, bounds: Floats, beta: Floats) -> _State:
        return cls(np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0), beta, -y)

    @property
    def working_set_size(self) -> int:
        positive = int(np.count_nonzero(self.upper))
        return working_set_size(len(self.beta), min(positive, len(self.beta) - positive))

    def take(self, rows: Integers) -> _State:
        return _State(*(a[rows] for a in (self.lower, self.upper, self.beta, self.f)))


@attrs.define(eq=False)
class _Descent:
    kernel: Kernel
    X: Rows
    tol: float
    cache_bytes: int
    pool: Executor | None
    left: int
    deadline: float
    iterations: int = 0

    def is_spent(self) -> bool:
        return self.left <= 0 or time.monotonic() > self.deadline

    def solve(self, state: _State) -> None:
        """Compute the initial gradient and descend until the exact gradient has converged."""
        n = len(state.beta)
        rows = KernelRows(self.kernel, self.X, self.cache_bytes, state.working_set_size, self.pool)
        size = 1.0 if rows.shift else float(np.abs(self.kernel.diagonal(self.X)).max(initial=0.0))
        refinement = Refinement(self._products, np.zeros(n), state.f, size)
        _move(rows, state, np.flatnonzero(state.beta), state.beta[state.beta != 0.0], 0.0)
        converged, rounds = self._descend(rows, state, 0.0), 0
        while converged and refinement.correct(state, self.tol, search=rounds > PLAIN_ROUNDS):
            if state.gap() < self.tol or rounds == MOST_ROUNDS:
                break
            if rounds == PLAIN_ROUNDS:
                refinement.shift_diagonal()
            converged, rounds = self._descend(rows, state, refinement.ridge), rounds + 1

    def _products(self, rows: Integers, steps: Floats) -> Floats:
        """The exact shifted kernel matrix times the steps of some rows."""
        result, ones = np.zeros(self.X.shape[0]), float(steps.sum())
        for part in row_slices(len(rows), 24 * self.X.shape[0], EXACT_BYTES):
            result += steps[part] @ self.kernel(self.X[rows[part]], self.X)
        return result - ones if self.kernel.kind in ("rbf", "laplacian") else result

    def _descend(self, rows: KernelRows, state: _State, ridge: float) -> bool:
        previous = np.empty(0, dtype=np.int64)
        while True:
            gap = state.gap()
            if gap < self.tol:
                return True
            if self.is_spent():
                return False
            chosen = _choose(state, previous, state.working_set_size)
            part, square = state.take(chosen), rows.square(chosen)
            if ridge:
                square[np.arange(len(chosen)), np.arange(len(chosen))] += np.float32(ridge)
            beta, taken = solve_inner(
                *(square, rows.shift, (part.lower, part.upper), part.f, part.beta),
                *(max(0.5 * self.tol, 0.1 * gap), (self.left, self._seconds())),
            )
            self.iterations += taken
            self.left -= max(taken, 1)
            steps = beta - part.beta
            moved = np.flatnonzero(steps)
            _move(rows, state, chosen[moved], steps[moved], ridge)
            state.beta[chosen] = beta
            previous = chosen

    def _seconds(self) -> float:
        """The time left for one subproblem; zero means unlimited."""
        return max(self.deadline - time.monotonic(), 1e-3) if np.isfinite(self.deadline) else 0.0


def _move(rows: KernelRows, state: _State, moved: Integers, steps: Floats, ridge: float) -> None:
    """Update the gradient after steps of some rows, with a ridge on the diagonal."""
    padded = np.zeros(rows.stride)
    padded[: rows.n] = state.f
    rows.add(moved, steps, padded)
    state.f = padded[: rows.n]
    state.f[moved] += ridge * steps


def working_set_size(rows: int, smaller: int) -> int:
    """A sixth of the rows, but at least 2048: smaller sets need many more rounds at a large C.

    If the smaller class has few rows, a multiple of their number is enough.
    """
    size = min(max(rows // 6, LEAST_WORKING_SET), MOST_WORKING_SET)
    return min(size, max(LEAST_OF_FEW, TIMES_SMALLER * smaller))


def _choose(state: _State, previous: Integers, size: int) -> Integers:
    """The worst violators on either side, filled up with free rows of the previous set."""
    grow = np.where(state.can_grow(), state.f, np.inf)
    fall = np.where(state.can_fall(), state.f, -np.inf)
    if len(grow) <= size:
        return np.arange(len(grow), dtype=np.int64)
    half = size // 4
    up = np.argpartition(grow, half)[:half]
    down = np.argpartition(-fall, half)[:half]
    up, down = up[np.isfinite(grow[up])], down[np.isfinite(fall[down])]
    free = previous[(state.can_fall() & state.can_grow())[previous]]
    chosen = np.unique(np.concatenate([up, down, free[: size - 2 * half]]))
    return chosen.astype(np.int64)


def solve_inner(
    K: Singles,
    shift: float,
    bounds: tuple[Floats, Floats],
    f: Floats,
    beta: Floats,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, int]:
    """Minimise over some rows of a larger problem, from its gradient and coefficients (n,).

    K (n, padded) is a Gram matrix less the constant `shift`, padded with zeros to whole blocks;
    `bounds` are the lower and upper ones of signed coefficients. Returns the new coefficients (n,)
    and the number of iterations.
    """
    if native.library is None:
        return solve_inner_numpy(K[:, : len(K)], shift, bounds, f, beta, tol, limits)
    result = beta.copy()
    taken = native.library.dcsvm_inner(
        *(address(K), len(K), shift, address(bounds[0]), address(bounds[1]), address(f)),
        *(tol, limits[0], limits[1], address(result)),
    )
    if taken < 0:
        raise MemoryError("solve_inner: not enough memory for a copy of the matrix")
    return result, int(taken)
