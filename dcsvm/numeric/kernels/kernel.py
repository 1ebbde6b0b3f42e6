"""Kernel functions, evaluated as matrices, blocks and diagonals."""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.kernels.distances import (
    BLOCK_BYTES,
    Floats,
    Rows,
    as_dense,
    as_rows,
    distances_within,
    manhattan_distances,
    products,
    rbf_values,
    row_slices,
    squared_distances,
    squared_norms,
)
from dcsvm.numeric.kernels.truncated_rbf import truncated_exponential, truncated_rbf_features
from dcsvm.numeric.stored_arrays import Stored

KINDS = ("rbf", "linear", "poly", "laplacian", "sigmoid", "trbf", "precomputed", "callable")
"""The allowed values of ``Kernel.kind``."""
#: The largest degree: sums and products of so many terms take no noticeable time.
MOST_DEGREE = 10_000
#: Entries of a matrix that are summed at a time.
SUM_PIECE = 1 << 17
#: Kinds of kernels whose matrices for all gammas come from one matrix.
SHARING = frozenset({"rbf", "laplacian", "linear", "poly", "sigmoid"})


@attrs.frozen
class Kernel(Stored):
    """A kernel function k(x, y).

    Parameters
    ----------
    kind : str
        ``rbf`` exp(-gamma |x - y|^2), ``linear`` x.y, ``poly`` (gamma x.y + coef0)^degree,
        ``laplacian`` exp(-gamma |x - y|_1), ``sigmoid`` tanh(gamma x.y + coef0), ``trbf`` the
        RBF kernel with its series truncated after order `degree`:
        exp(-gamma |x|^2) exp(-gamma |y|^2) sum_{k <= degree} (2 gamma x.y)^k / k!,
        ``precomputed`` (X is the Gram matrix, Y the columns to take, if given) or ``callable``
        (`function(X, Y)` returns the matrix).
    gamma : float
    degree : int
    coef0 : float
    function : callable, optional

    Notes
    -----
    The truncated RBF is that of Wu, Kung et al. with sigma^2 = 1 / (2 gamma). The paper on feature
    space decomposition gives no formula, but the length C(m + p, p) of the feature map, which this
    definition has.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> Kernel("rbf", gamma=0.5)(X, X).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    kind: str = attrs.field(default="rbf", validator=attrs.validators.in_(KINDS))
    gamma: float = attrs.field(default=1.0, validator=attrs.validators.gt(0.0))
    degree: int = attrs.field(
        default=3, validator=[attrs.validators.ge(0), attrs.validators.le(MOST_DEGREE)]
    )
    coef0: float = 0.0
    function: Callable[[Any, Any], Any] | None = None

    def __attrs_post_init__(self) -> None:
        """Raise unless a function is given for kind 'callable', and only then."""
        if (self.kind == "callable") != (self.function is not None):
            raise ValueError(
                f"Kernel: kind is {self.kind!r} and function is {self.function!r}; "
                "a function is needed for kind 'callable', and allowed for no other kind"
            )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if not isfinite(self.gamma) or not isfinite(self.coef0):
            raise ValueError(
                f"Kernel.gamma and Kernel.coef0 must be finite, got {self.gamma} and {self.coef0}"
            )
        return sizes

    def __call__(self, X: Rows, Y: Rows | None = None) -> Floats:
        """The kernel matrix (n, m) of the rows of X (n, d) and of Y (m, d), X by default."""
        if self.kind == "rbf":
            return self.from_distances(squared_distances(X, Y))
        if self.kind == "laplacian":
            return self.from_distances(manhattan_distances(X, Y))
        if self.kind == "precomputed":
            columns = slice(None) if Y is None or Y is X else np.asarray(Y)
            return np.ascontiguousarray(as_dense(X)[:, columns])
        if self.function is not None:
            return np.ascontiguousarray(self.function(X, X if Y is None else Y), dtype=np.float64)
        left = as_rows(X)
        right = left if Y is None or Y is X else as_rows(Y)
        if self.kind == "trbf":
            return self.from_products(
                products(left, right), squared_norms(left), squared_norms(right)
            )
        return self.from_products(products(left, right))

    def diagonal(self, X: Rows) -> Floats:
        """The values k(x, x) of the rows of X, an (n,) array, without the matrix."""
        if self.kind in ("rbf", "laplacian"):
            return np.ones(X.shape[0])
        if self.kind == "precomputed":
            return np.array(np.diagonal(as_dense(X)))
        if self.kind == "callable":
            return np.array([self(X[row : row + 1])[0, 0] for row in range(X.shape[0])])
        squares = squared_norms(X)
        if self.kind == "trbf":
            series = truncated_exponential(2.0 * self.gamma * squares, self.degree)
            return np.asarray(np.exp(-2.0 * self.gamma * squares) * series)
        return self.from_products(squares)

    def bound(self, X: Rows) -> float:
        """An upper bound of |k(x, y)| for rows of X, and of the values that it is computed from.

        It may be infinite, and is NaN for precomputed and callable kernels.
        """
        if self.kind in ("precomputed", "callable"):
            return float("nan")
        if self.kind not in ("linear", "poly", "trbf"):
            return 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            product = squared_norms(X).max(initial=0.0)
            if self.kind == "linear":
                return float(product)
            if self.kind == "trbf":
                return float(truncated_exponential(2.0 * self.gamma * product, self.degree))
            return float((self.gamma * product + abs(self.coef0)) ** self.degree)

    def in_blocks(
        self, X: Rows, Y: Rows | None = None, budget_bytes: int = BLOCK_BYTES
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of the rows of X, each with its block of the kernel matrix.

        A block and its temporaries take at most `budget_bytes`; it has at least one row.
        """
        other = X if Y is None else Y
        columns = other.shape[0] if self.kind != "precomputed" else X.shape[1]
        for rows in row_slices(X.shape[0], 3 * 8 * columns, budget_bytes):
            yield rows, self(X[rows], None if self.kind == "precomputed" and Y is None else other)

    def common(self, X: Rows, Y: Rows | None = None) -> Floats:
        """The (n, m) distances or products from which kernels of this kind are computed."""
        if self.kind == "rbf":
            return squared_distances(X, Y)
        if self.kind == "laplacian":
            return manhattan_distances(X, Y)
        if self.kind in ("linear", "poly", "sigmoid"):
            return products(X, Y)
        raise ValueError(
            f"Kernel: {self.kind!r} kernels with different gamma have no matrix in common"
        )

    def from_common(self, common: Floats) -> Floats:
        """The kernel matrix from the result of `common`, for the gamma of this kernel."""
        if self.kind in ("rbf", "laplacian"):
            return self.from_distances(common)
        return self.from_products(common)

    def from_distances(self, distances: Floats) -> Floats:
        """The matrix from squared distances (RBF kernel) or L1 distances (Laplacian kernel)."""
        if self.kind not in ("rbf", "laplacian"):
            raise ValueError(f"Kernel: {self.kind!r} is not a function of a distance")
        result = np.multiply(distances, -self.gamma)
        return np.exp(result, out=result)

    def from_products(
        self,
        inner: Floats,
        left_squares: Floats | None = None,
        right_squares: Floats | None = None,
    ) -> Floats:
        """The matrix of a kernel that is a function of inner products (n, m).

        A ``trbf`` kernel also needs the squared norms (n,) and (m,) of the rows.
        """
        if self.kind == "linear":
            return np.array(inner, dtype=np.float64)
        if self.kind == "poly":
            return _power(self.gamma * inner + self.coef0, self.degree)
        if self.kind == "sigmoid":
            return np.asarray(np.tanh(self.gamma * inner + self.coef0))
        if self.kind != "trbf" or left_squares is None or right_squares is None:
            raise ValueError(f"Kernel: {self.kind!r} is not a function of these products")
        result = truncated_exponential(2.0 * self.gamma * inner, self.degree)
        result *= np.exp(-self.gamma * left_squares)[:, None]
        result *= np.exp(-self.gamma * right_squares)[None, :]
        return result

    def feature_map(self, X: Rows) -> Floats:
        """The explicit map of a ``trbf`` kernel: k(x, y) is the product of mapped rows.

        Rows X (n, features) are mapped to (n, C(features + degree, degree)).
        """
        if self.kind != "trbf":
            raise ValueError(
                f"Kernel: {self.kind!r} has no explicit feature map; only 'trbf' has one"
            )
        return truncated_rbf_features(as_dense(X), self.gamma, self.degree)


class KernelMatrices:
    """Gram matrices of one set of rows X; those of one kind share distances or products."""

    def __init__(self, X: Rows) -> None:
        self.X = X
        self.common: dict[str, Floats] = {}

    def build(self, kernel: Kernel, room: Floats | None = None) -> Floats:
        """Return the matrix of a kernel; an RBF kernel's may be written into `room`."""
        kind = kernel.kind
        if kind not in SHARING:
            return kernel(self.X)
        if kind not in self.common:
            dense = kind == "rbf" and not sparse.issparse(self.X)
            self.common[kind] = (
                distances_within(as_dense(self.X)) if dense else kernel.common(self.X)
            )
        if kind == "rbf":
            return rbf_values(self.common[kind], kernel.gamma, room)
        return kernel.from_common(self.common[kind])


def _power(base: Floats, exponent: int) -> Floats:
    """Power by multiplication, as in C; numpy's is slow for exponents above 2."""
    if not 1 <= exponent <= 8:
        return np.asarray(base**exponent)
    result = base.copy()
    for _ in range(exponent - 1):
        result *= base
    return result


def make_kernel(
    kind: str | Callable[[Any, Any], Any],
    gamma: str | float,
    degree: int,
    coef0: float,
    X: Rows,
    weights: FloatArray | None = None,
) -> Kernel:
    """Build a kernel from settings for rows X (n, d) with weights (n,).

    `gamma` may be "scale", 1 / (d * variance of X), or "auto", 1 / d, as in scikit-learn. A row of
    weight w counts as w rows.
    """
    if gamma == "scale":
        variance = _variance(X, weights)
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]
    if callable(kind):
        return Kernel("callable", float(gamma), degree, coef0, kind)
    return Kernel(kind, float(gamma), degree, coef0)


def _sum_pairwise(entries: Floats, shift: float, power: int) -> float:
    """The sum of a power of (m,) entries less a number, in the order of NumPy, piece by piece."""
    if entries.size <= SUM_PIECE:
        return float(np.add.reduce(entries if power == 1 else (entries - shift) ** 2))
    half = entries.size // 2
    half -= half % 8
    first, second = (_sum_pairwise(some, shift, power) for some in np.split(entries, [half]))
    return first + second


def _variance(X: Rows, weights: FloatArray | None) -> float:
    """The variance of all entries of X, each with the weight of its row."""
    if weights is None and not hasattr(X, "multiply"):
        entries = np.ascontiguousarray(X).reshape(-1)  # sums depend on the order of the rows
        mean = _sum_pairwise(entries, 0.0, 1) / entries.size
        return _sum_pairwise(entries, mean, 2) / entries.size
    shares = np.full(X.shape[0], 1.0) if weights is None else weights
    shares = shares / (shares.sum() * X.shape[1])
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    mean = float(np.sum(shares @ X))
    return float(np.sum(shares @ squares)) - mean**2
