"""Feature views: what a part sees of the features, described first, fitted on its rows later."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, TypeAlias

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix


class View(ABC):
    """A description of features. The core fits it on the rows of a part and keeps the result."""

    def fit(self, X: Matrix) -> View:
        """Return the view with everything that the part's own rows, X (n, d), decide."""
        return self

    @abstractmethod
    def apply(self, X: Matrix) -> Matrix:
        """Return what the part sees of rows X (n, d), as (n, features of the view)."""

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """What the view's features are called where those it is fitted on are called `given`."""
        return None

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        """The one feature that a feature of the view was made of, and the value that became this.

        None where there is no such feature. Explanations tell values like this.
        """
        return None


@attrs.frozen(eq=False)
class Columns(View):
    """Some of the columns, in the given order."""

    columns: IntArray

    def apply(self, X: Matrix) -> Matrix:
        return X[:, self.columns]

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if given is None else tuple(given[column] for column in self.columns)

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        return int(self.columns[feature]), value


@attrs.frozen(eq=False)
class LinearMap(View):
    """The projection `X @ matrix - offset`, with matrix (d, features of the view)."""

    matrix: FloatArray
    offset: FloatArray | None = None

    def apply(self, X: Matrix) -> Matrix:
        projected = np.asarray(X @ self.matrix)
        return projected if self.offset is None else projected - self.offset


@attrs.frozen(eq=False)
class Scaling(View):
    """Features rescaled from the part's own rows: to [0, 1], to mean 0 and deviation 1, or (robust
    against outliers) to median 0 and quartiles 1 apart.

    A constant feature becomes 0; so does no other: where quartiles agree, the range serves. Sparse
    rows are only divided (by the largest absolute value, the root mean square, or the median of
    the absolute values that are not 0), never shifted, so that they stay sparse; where a view was
    fitted on dense rows, they are shifted as those were, and become dense. With `weights` (d,)
    features are then multiplied; "none" does nothing else.
    """

    kind: Literal["none", "minmax", "standard", "robust"] = "minmax"
    offset: FloatArray | None = None
    factor: FloatArray | None = None
    weights: FloatArray | None = None

    def fit(self, X: Matrix) -> View:
        offset, width = _sparse_range(X, self.kind) if sparse.issparse(X) else _range(X, self.kind)
        factor = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
        if self.weights is not None:
            factor *= self.weights
        return attrs.evolve(self, offset=offset, factor=factor, weights=None)

    def apply(self, X: Matrix) -> Matrix:
        if self.factor is None:
            raise ValueError("a Scaling must be fitted before it is applied")
        if sparse.issparse(X) and self.offset is None:
            return sparse.csr_array(X @ sparse.diags_array(self.factor))
        if sparse.issparse(X):
            X = X.toarray()
        return (X if self.offset is None else X - self.offset) * self.factor

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return given

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        if self.factor is None or self.factor[feature] == 0:
            return None
        shift = 0.0 if self.offset is None else float(self.offset[feature])
        return feature, value / float(self.factor[feature]) + shift


@attrs.frozen(eq=False)
class Chain(View):
    """Several views, one after the other."""

    views: tuple[View, ...]

    def fit(self, X: Matrix) -> View:
        fitted: list[View] = []
        for view in self.views:
            fitted.append(view.fit(X))
            X = fitted[-1].apply(X)
        return Chain(tuple(fitted))

    def apply(self, X: Matrix) -> Matrix:
        for view in self.views:
            X = view.apply(X)
        return X

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for view in self.views:
            given = view.names(given)
        return given

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        before: tuple[int, float] | None = (feature, value)
        for view in reversed(self.views):
            before = None if before is None else view.invert(*before)
        return before


#: What a region decomposer's setting `local_scaling` may say.
LocalScaling: TypeAlias = Literal["none", "minmax", "standard"]


def local_view(scaling: LocalScaling, weights: FloatArray | None = None) -> View | None:
    """The view of a part whose features are rescaled from its own rows; "none": as they are.

    With `weights` (d,) each feature then counts so much.
    """
    if scaling == "none" and weights is None:
        return None
    return Scaling(scaling, weights=weights)


def _range(X: FloatArray, kind: str) -> tuple[FloatArray | None, FloatArray]:
    if kind == "none":
        return None, np.ones(X.shape[1])
    if kind == "minmax":
        low = X.min(axis=0)
        return low, X.max(axis=0) - low
    if kind == "robust":
        lower, middle, upper = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        width = upper - lower
        return middle, np.where(width > 0, width, X.max(axis=0) - X.min(axis=0))
    deviation = X.std(axis=0)
    # Rounding leaves a constant column a deviation of about 1e-17 times its size.
    deviation[deviation <= 1e-12 * np.abs(X).max(axis=0, initial=0.0)] = 0.0
    return X.mean(axis=0), deviation


def _sparse_range(X: Matrix, kind: str) -> tuple[None, FloatArray]:
    if kind == "none":
        width = np.ones(X.shape[1])
    elif kind == "minmax":
        width = np.asarray(abs(X).max(axis=0).todense()).ravel()
    elif kind == "robust":
        by_column = sparse.csc_array(abs(X))
        by_column.eliminate_zeros()
        columns = np.split(by_column.data, by_column.indptr[1:-1])
        width = np.array([np.median(each) if len(each) else 0.0 for each in columns])
    else:
        width = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    return None, width.astype(float)
