"""The dual of large problems: working sets, a cache of kernel rows, shrinking, warm starts."""

from __future__ import annotations

import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.distances import Floats, Rows
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.reference import OUTCOME
from dcsvm.numeric.rowcache import Integers, KernelRows
from dcsvm.numeric.svm import MAX_ITERATIONS, Solution, as_signs, feasible, warn_unless_converged

LEAST_WORKING_SET, MOST_WORKING_SET = 512, 4096
CACHE_BYTES = 1 << 30


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
    """Solve the dual without its Gram matrix, for tens of thousands of rows.

    Again and again the rows that violate optimality most are made a small problem, which is
    solved in full; the gradient of all rows follows from the kernel rows that moved.

    Parameters
    ----------
    kernel : Kernel
    X : (n, features) array or CSR
    signs : (n,) array of +1 and -1
    C : float or (n,) array
    start : (n,) array, optional
        Alphas to start from; made feasible first.
    tol : float
    cache_bytes : int
        Room for kernel rows.
    threads : int
        The result does not depend on it.
    max_iterations, max_seconds
        Guards, as in `solve`.
    """
    y = as_signs(signs)
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape))
    begin = np.zeros(len(y)) if start is None else np.asarray(start, dtype=np.float64)
    deadline = time.monotonic() + max_seconds if max_seconds else np.inf
    state = _State.of(y, bounds, feasible(begin, y, bounds) * y)
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        run = _Run(kernel, X, tol, cache_bytes, pool, max_iterations, deadline)
        run.to_the_end(state)
    outcome = _conclude(state, y, run)
    warn_unless_converged(outcome, "solve_large")
    return Solution(
        alphas=np.abs(state.beta),
        bias=float(outcome["bias"][0]),
        objective=float(outcome["objective"][0]),
        gap=float(outcome["gap"][0]),
        iterations=run.iterations,
        converged=bool(outcome["converged"][0]),
    )


@attrs.define(eq=False)
class _State:
    """Signed coefficients, bounds and gradient of some rows."""

    lower: Floats
    upper: Floats
    beta: Floats
    f: Floats

    @classmethod
    def of(cls, y: Floats, bounds: Floats, beta: Floats) -> _State:
        return cls(np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0), beta, -y)

    def sides(self) -> tuple[Floats, Floats]:
        """f where it can grow and infinity elsewhere; f where it can fall and minus infinity."""
        return (
            np.where(self.beta < self.upper, self.f, np.inf),
            np.where(self.beta > self.lower, self.f, -np.inf),
        )

    def take(self, rows: Integers) -> _State:
        return _State(*(a[rows] for a in (self.lower, self.upper, self.beta, self.f)))


@attrs.define(eq=False)
class _Run:
    kernel: Kernel
    X: Rows
    tol: float
    cache_bytes: int
    pool: Executor | None
    left: int
    deadline: float
    iterations: int = 0
    converged: bool = False

    def spent(self) -> bool:
        return self.left <= 0 or time.monotonic() > self.deadline

    def to_the_end(self, state: _State) -> None:
        """The gradient of the start, then the descent."""
        size = working_set_size(len(state.beta))
        rows = KernelRows(self.kernel, self.X, self.cache_bytes, size, self.pool)
        _move(rows, state, np.flatnonzero(state.beta), state.beta[state.beta != 0.0])
        self.converged = self._descend(rows, state)

    def _descend(self, rows: KernelRows, state: _State) -> bool:
        previous = np.empty(0, dtype=np.int64)
        while True:
            grow, fall = state.sides()
            gap = float(fall.max(initial=-np.inf) - grow.min(initial=np.inf))
            if gap < self.tol:
                return True
            if self.spent():
                return False
            chosen = _choose(grow, fall, state, previous, working_set_size(len(grow)))
            part = state.take(chosen)
            beta, taken = backend.solve_inner(
                *(rows.square(chosen), rows.shift, (part.lower, part.upper), part.f, part.beta),
                *(max(0.5 * self.tol, 0.1 * gap), (self.left, 0.0)),
            )
            self.iterations += taken
            self.left -= max(taken, 1)
            steps = beta - part.beta
            moved = np.flatnonzero(steps)
            _move(rows, state, chosen[moved], steps[moved])
            state.beta[chosen] = beta
            previous = chosen


def _move(rows: KernelRows, state: _State, moved: Integers, steps: Floats) -> None:
    """The gradient after steps of some rows."""
    padded = np.zeros(rows.stride)
    padded[: rows.n] = state.f
    rows.add(moved, steps, padded)
    state.f = padded[: rows.n]


def working_set_size(rows: int) -> int:
    """A sixth of the rows: more costs more to solve, less takes more rounds."""
    return min(max(rows // 6, LEAST_WORKING_SET), MOST_WORKING_SET)


def _choose(grow: Floats, fall: Floats, state: _State, previous: Integers, size: int) -> Integers:
    """The worst rows on either side, and free ones of the last time to fill up."""
    if len(grow) <= size:
        return np.arange(len(grow), dtype=np.int64)
    half = size // 4
    up = np.argpartition(grow, half)[:half]
    down = np.argpartition(-fall, half)[:half]
    up, down = up[np.isfinite(grow[up])], down[np.isfinite(fall[down])]
    free = previous[
        (state.beta[previous] > state.lower[previous])
        & (state.beta[previous] < state.upper[previous])
    ]
    chosen = np.unique(np.concatenate([up, down, free[: size - 2 * half]]))
    return chosen.astype(np.int64)


def _conclude(state: _State, y: Floats, run: _Run) -> npt.NDArray[np.void]:
    grow, fall = state.sides()
    lowest, highest = float(grow.min(initial=np.inf)), float(fall.max(initial=-np.inf))
    free = (state.beta > state.lower) & (state.beta < state.upper)
    ends = [value for value in (lowest, highest) if np.isfinite(value)]
    bias = -float(state.f[free].mean()) if free.any() else -float(np.mean(ends)) if ends else 0.0
    outcome = np.zeros(1, dtype=OUTCOME)
    objective = 0.5 * float(state.beta @ (state.f - y))
    outcome[0] = (bias, objective, highest - lowest, run.iterations, 0, int(run.converged))
    return outcome
