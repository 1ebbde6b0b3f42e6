"""Array types for annotations, and the index type of sparse matrices."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any  # (n, d): a float array or a scipy CSR matrix; scipy's types cannot say so

LARGEST_INDEX = np.iinfo(np.int32).max


def narrow_indices(X: Matrix) -> Matrix:
    """Return a CSR matrix with 32-bit indices if they fit, and anything else as it is.

    Trees and linear models of scikit-learn accept no others.
    """
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(len(X.data), *X.shape) > LARGEST_INDEX:
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, indptr), shape=X.shape)
