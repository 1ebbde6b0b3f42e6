"""Functions with two implementations: the compiled library, or numpy if it is not built."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import native
from dcsvm.numeric.kernels.distances import Floats, squared_distances
from dcsvm.numeric.kernels.gram import Gram, allocate_rows
from dcsvm.numeric.native import GramStructure, address
from dcsvm.numeric.svm import numpy_solver
from dcsvm.numeric.svm.numpy_solver import OUTCOME, Tasks

Singles = npt.NDArray[np.float32]


def distances(X: Floats) -> Floats:
    """Squared distances between the rows of X, (n, n), as by `squared_distances`."""
    if native.library is None:
        return squared_distances(X)
    out = np.empty((len(X), len(X)))
    _distances(native.library, X, None, 0.0, out)
    return out


def rbf_rows(X: Floats, Y: Floats | None, gamma: float) -> Singles:
    """exp(-gamma d) - 1 of squared distances, computed without a matrix of distances.

    Parameters
    ----------
    X : (n, features) array of float64
    Y : (m, features) array of float64, or None for X
    gamma : float

    Returns
    -------
    (n, m) array of float32
    """
    if native.library is None:
        return np.expm1(-gamma * squared_distances(X, Y)).astype(np.float32)
    out = np.empty((len(X), len(X if Y is None else Y)), dtype=np.float32)
    _distances(native.library, X, Y, gamma, out)
    return out


def _distances(
    library: ctypes.CDLL,
    X: Floats,
    Y: Floats | None,
    gamma: float,
    out: Floats | Singles,
) -> None:
    """Write squared distances, or exp(-gamma d) - 1 if `out` is float32, and zero the padding."""
    left, right = _center(X, X if Y is None else Y)
    single = out.dtype == np.float32
    done = library.dcsvm_distances(
        *(address(left), len(left), address(right), len(right), left.shape[1], gamma),
        *(int(Y is None), None if single else address(out), address(out) if single else None),
        out.shape[1],
    )
    if not done:
        raise MemoryError("distances: not enough memory for the packed rows")


def _center(X: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """Center both at the mean of Y, and drop constant columns."""
    if not len(X) or not len(Y):
        return X, Y
    first = Y[0]
    differ = (first != Y).any(axis=0)
    if X is not Y:
        differ |= (first != X).any(axis=0)
    columns = np.flatnonzero(differ) if differ.any() else np.arange(min(1, X.shape[1]))
    points = Y if differ.all() else Y[:, columns]
    right = np.ascontiguousarray(points - points.mean(axis=0))
    if X is Y:
        return right, right
    return np.ascontiguousarray(X[:, columns] - points.mean(axis=0)), right


def rbf_values(distances: Floats, gamma: float, out: Floats | None = None) -> Floats:
    """exp(-gamma d) of each squared distance, written to `out` if given."""
    if native.library is None:
        return np.asarray(np.exp(np.multiply(distances, -gamma, out=out), out=out))
    out = np.empty(distances.shape) if out is None else out
    native.library.dcsvm_values(address(distances), distances.size, gamma, address(out))
    return out


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
        return numpy_solver.solve_paths(gram, tasks, Cs, tol, limits)
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
        return numpy_solver.solve_inner(K[:, : len(K)], shift, bounds, f, beta, tol, limits)
    result = beta.copy()
    taken = native.library.dcsvm_inner(
        *(address(K), len(K), shift, address(bounds[0]), address(bounds[1]), address(f)),
        *(tol, limits[0], limits[1], address(result)),
    )
    if taken < 0:
        raise MemoryError("solve_inner: not enough memory for a copy of the matrix")
    return result, int(taken)


def gram_structure(gram: Gram) -> GramStructure:
    """The C struct of a Gram matrix; it points into the arrays and must not outlive them."""
    depth = 0 if gram.X is None else gram.X.shape[1]
    values, width = gram.values, gram.values.strides[0] // gram.values.itemsize
    if values.size and values.strides[1] != values.itemsize:
        raise ValueError("solve: the rows of a Gram matrix must be C-ordered")
    return GramStructure(
        *(values.ctypes.data, len(values), width, gram.shift),
        *(address(gram.matrix), address(gram.X), depth, gram.gamma, gram.scale),
    )


def gram_from_distances(distances: Floats, gamma: float) -> Gram:
    """The Gram matrix exp(-gamma d), stored less one to keep digits if gamma d is small.

    Parameters
    ----------
    distances : (n, n) array
        Squared distances (RBF kernel) or L1 distances (Laplacian kernel).
    gamma : float
    """
    n = len(distances)
    if native.library is None:
        values = np.expm1(-gamma * distances).astype(np.float32)
    else:
        values = allocate_rows(n)
        native.library.dcsvm_exponentials(
            address(distances), n, n, gamma, address(values), values.shape[1]
        )
    return Gram(values[:, :n], shift=1.0, matrix=distances, gamma=gamma)


def rbf_gram(X: Floats, gamma: float) -> Gram:
    """The Gram matrix of the RBF kernel on dense rows, computed without a matrix of distances.

    Parameters
    ----------
    X : (n, features) array
    gamma : float
    """
    rows, n = np.ascontiguousarray(X, dtype=np.float64), len(X)
    if native.library is None:
        values = rbf_rows(rows, None, gamma)
    else:
        values = allocate_rows(n)
        _distances(native.library, rows, None, gamma, values)
    return Gram(values[:, :n], shift=1.0, X=rows, gamma=gamma)
