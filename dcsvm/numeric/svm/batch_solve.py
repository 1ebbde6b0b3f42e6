"""Many small binary problems, each with rows of its own, solved in one call."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.kernels.distances import Floats
from dcsvm.numeric.kernels.gram import Gram
from dcsvm.numeric.native import address
from dcsvm.numeric.svm.numpy_solver import OUTCOME, Integers, Tasks
from dcsvm.numeric.svm.solver import MAX_ITERATIONS, as_signs, warn_unless_converged


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
    """Solve the duals of many C-SVMs with a Gaussian kernel, none larger than a Gram matrix.

    Parameters
    ----------
    X : (n, features) array
        The rows of all problems, one after the other.
    offsets : (problems + 1,) array of int
        Where the rows of each begin, and where the last ones end.
    gammas : (problems,) array
    signs : (n,) array of +1 and -1
    bounds : (n,) array
        The upper bound of each alpha: C, or C times a weight.
    tol, max_iterations, max_seconds
        For each problem, as in `solve`.

    Returns
    -------
    (n,) array
        Signed coefficients: alpha times sign.
    (problems,) structured array
        Bias, objective, gap, iterations, newton, converged.

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
    library = backend.library()
    if library is None:
        betas, outcomes = _one_by_one(rows, starts, widths, y, upper, tol, limits)
    else:
        betas, outcomes = np.empty(len(y)), np.zeros(len(widths), dtype=OUTCOME)
        done = library.dcsvm_parts(
            *(address(rows), rows.shape[1], address(widths), address(starts), len(widths)),
            *(address(y), address(upper), tol, *limits, address(betas), address(outcomes)),
        )
        if not done:
            raise MemoryError("solve_parts: no room for a Gram matrix")
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
    """Solve the duals of many C-SVMs whose rows are some of one Gram matrix.

    Parameters
    ----------
    gram : Gram
    rows : (n,) array of int
        Which rows of the matrix those of all problems are, one after the other.
    offsets, signs, bounds, tol, max_iterations, max_seconds
        As in `solve_parts`, and so is what is returned.
    """
    tasks = Tasks(
        np.ascontiguousarray(rows, dtype=np.int64),
        np.ascontiguousarray(offsets, dtype=np.int64),
        as_signs(signs),
        np.ascontiguousarray(bounds, dtype=np.float64),
    )
    limits = (max_iterations, max_seconds or 0.0)
    betas, outcomes = backend.solve_paths(gram, tasks, np.array([gram.scale]), tol, limits)
    warn_unless_converged(outcomes, "solve_tasks")
    outcomes["objective"] /= gram.scale
    return betas[0] / gram.scale, outcomes[0]


def _one_by_one(
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
        gram = backend.rbf_gram(X[begin:end], float(gammas[number]))
        size = end - begin
        tasks = Tasks(np.arange(size), np.array([0, size]), y[begin:end], bounds[begin:end])
        found, outcome = backend.solve_paths(gram, tasks, np.ones(1), tol, limits)
        betas[begin:end], outcomes[number] = found[0], outcome[0, 0]
    return betas, outcomes
