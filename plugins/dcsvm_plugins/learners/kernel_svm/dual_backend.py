"""The dual solver, by the compiled library or by numpy."""

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats, address, native
from dcsvm_plugins.learners.kernel_svm.gram import Gram, gram_structure
from dcsvm_plugins.learners.kernel_svm.numpy_solver import OUTCOME, Singles, Tasks
from dcsvm_plugins.learners.kernel_svm.numpy_solver import solve_inner as solve_inner_numpy
from dcsvm_plugins.learners.kernel_svm.numpy_solver import solve_paths as solve_paths_numpy


def solve_paths(
    gram: Gram, tasks: Tasks, Cs: Floats, tol: float, limits: tuple[int, float]
) -> tuple[Floats, npt.NDArray[np.void]]:
    """Solve every task for every value of C.

    Parameters
    ----------
    gram : Gram
    tasks : Tasks
    Cs : (c,) array, increasing
    tol : float
    limits : (int, float)
        Limits of iterations and seconds per problem; zero seconds means no limit.

    Returns
    -------
    (c, total) array
        Signed coefficients in the order of ``tasks.rows``.
    (c, tasks) structured array
        Bias, objective, gap, iterations, newton, converged.
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


def solve_inner(
    K: Singles,
    shift: float,
    bounds: tuple[Floats, Floats],
    f: Floats,
    beta: Floats,
    tol: float,
    limits: tuple[int, float],
) -> tuple[Floats, int]:
    """Minimise over some rows of a larger problem, given its gradient.

    Parameters
    ----------
    K : (n, padded) array of float32
        A Gram matrix less the constant `shift`, padded with zeros to whole blocks.
    shift : float
    bounds : two (n,) arrays
        Lower and upper bounds of the signed coefficients.
    f, beta : (n,) arrays
        Initial gradient and signed coefficients.
    tol, limits
        As in `solve_paths`.

    Returns
    -------
    (n,) array, int
        The new coefficients, and the number of iterations.
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
