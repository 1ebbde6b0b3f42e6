"""Gram matrices of several kernels on the same rows, from shared distances or products."""

from __future__ import annotations

from dcsvm.numeric import backend
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense, is_sparse
from dcsvm.numeric.kernels.kernel import Kernel

#: Kinds of kernels whose matrices for all gammas come from one matrix.
SHARING = frozenset({"rbf", "laplacian", "linear", "poly", "sigmoid"})


class KernelMatrices:
    """Gram matrices of one set of rows; those of one kind share distances or products.

    Parameters
    ----------
    X : (n, features) array or CSR
    """

    def __init__(self, X: Rows) -> None:
        self.X = X
        self.common: dict[str, Floats] = {}

    def build(self, kernel: Kernel, room: Floats | None = None) -> Floats:
        """Return the matrix of a kernel; an RBF kernel's may be written into `room`."""
        kind = kernel.kind
        if kind not in SHARING:
            return kernel(self.X)
        if kind not in self.common:
            dense = kind == "rbf" and not is_sparse(self.X)
            self.common[kind] = (
                backend.distances(as_dense(self.X)) if dense else kernel.common(self.X)
            )
        if kind == "rbf":
            return backend.rbf_values(self.common[kind], kernel.gamma, room)
        return kernel.from_common(self.common[kind])
