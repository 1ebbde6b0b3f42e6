"""Functions with two implementations: the compiled library, or numpy if it is not built."""

import ctypes

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import native
from dcsvm.numeric.kernels.distances import Floats, squared_distances
from dcsvm.numeric.native import address

Singles = npt.NDArray[np.float32]


def distances(X: Floats) -> Floats:
    """Squared distances between the rows of X, (n, n), as by `squared_distances`."""
    if native.library is None:
        return squared_distances(X)
    out = np.empty((len(X), len(X)))
    write_distances(native.library, X, None, 0.0, out)
    return out


def write_distances(
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
