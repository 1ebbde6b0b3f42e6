"""Feature views: the transformed features of a part, described first and fitted on its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import Stored, axes


class View(Stored, ABC):
    """A feature transformation. The core fits it on the rows of a part and keeps the result."""

    def fit(self, X: Matrix) -> View:
        """Return the view fitted on the rows of the part, X (n, d)."""
        return self

    @abstractmethod
    def apply(self, X: Matrix) -> Matrix:
        """Transform rows X (n, d) to (n, features of the view)."""

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        """Add this view of rows with `n_features` features to a plan.

        Called when single rows are first predicted. None means: ask `apply` in Python.
        """
        return None

    def add_to_plan_or_ask(self, plan: Plan, n_features: int) -> Step:
        """Add this view to a plan, as a step that asks `apply` in Python if need be."""
        step = self.add_to_plan(plan, n_features)
        if step is None:
            return plan.ask(self.apply, n_features, self.count_features(n_features))
        return step

    def count_features(self, n_features: int) -> int:
        """The number of features of the view, applied to rows of `n_features`.

        Called when a model file is loaded or saved. Raise ValueError if it cannot be applied.
        """
        sizes = self.check_stored(features=n_features)
        if "width" in sizes:
            return sizes["width"]
        return int(self.apply(np.zeros((1, n_features))).shape[1])

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The names of the view's features, given those of the input."""
        return None

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        """Return the input feature and value that give this value of a feature of the view.

        None if there is no single such feature. Explanations show these values.
        """
        return None


@attrs.frozen(eq=False)
class Columns(View):
    """Some of the columns, in the given order."""

    columns: IntArray = attrs.field(
        metadata=axes("width", dtype=np.integer, at_least=0, below="features")
    )

    def apply(self, X: Matrix) -> Matrix:
        return X[:, self.columns]

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.columns(n_features, self.columns)

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if given is None else tuple(given[column] for column in self.columns)

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        return int(self.columns[feature]), value


@attrs.frozen(eq=False)
class LinearMap(View):
    """The projection `X @ matrix - offset`, with matrix (d, features of the view)."""

    matrix: FloatArray = attrs.field(metadata=axes("features", "width"))
    offset: FloatArray | None = attrs.field(default=None, metadata=axes("width"))

    def apply(self, X: Matrix) -> Matrix:
        projected = np.asarray(X @ self.matrix)
        return projected if self.offset is None else projected - self.offset

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.affine(self.matrix, None if self.offset is None else -self.offset)


@attrs.frozen(eq=False)
class Scaling(View):
    """Features scaled by statistics of the part's rows.

    "minmax" scales to [0, 1], "standard" to mean 0 and deviation 1, "robust" to median 0 and
    interquartile range 1 (or range 1, if the quartiles are equal). Constant features become 0.
    Fitted on sparse rows, features are not shifted, and divided by the largest absolute value,
    the root mean square, or the median of the absolute nonzero values. Fitted on dense rows, a
    view makes sparse rows dense. `weights` (d,) are multiplied with the scaled features.
    """

    kind: Literal["none", "minmax", "standard", "robust"] = "minmax"
    offset: FloatArray | None = attrs.field(default=None, metadata=axes("features"))
    factor: FloatArray | None = attrs.field(default=None, metadata=axes("features"))
    weights: FloatArray | None = attrs.field(default=None, metadata=axes("features"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        if self.factor is None:
            raise ValueError("Scaling.factor is missing, but must be that of a fitted view")
        return sizes | {"width": sizes["features"]}

    def fit(self, X: Matrix) -> Scaling:
        offset, width = _sparse_range(X, self.kind) if sparse.issparse(X) else _range(X, self.kind)
        factor = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
        if self.weights is not None:
            factor *= self.weights
        return attrs.evolve(self, offset=offset, factor=factor, weights=None)

    @classmethod
    def join(cls, fitted: Sequence[Scaling]) -> Scaling:
        """Join scalings of one kind, each fitted on the next columns of the same dense rows."""
        factors = [np.zeros(0) if each.factor is None else each.factor for each in fitted]
        offsets = [each.offset for each in fitted if each.offset is not None]
        return cls(fitted[0].kind, np.concatenate(offsets), np.concatenate(factors))

    def apply(self, X: Matrix) -> Matrix:
        if self.factor is None:
            raise ValueError("a Scaling must be fitted before it is applied")
        if sparse.issparse(X) and self.offset is None:
            return sparse.csr_array(X @ sparse.diags_array(self.factor))
        if sparse.issparse(X):
            X = X.toarray()
        return (X if self.offset is None else X - self.offset) * self.factor

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return None if self.factor is None else plan.scaling(self.factor, self.offset)

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return given

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        if self.factor is None or self.factor[feature] == 0:
            return None
        shift = 0.0 if self.offset is None else float(self.offset[feature])
        return feature, value / float(self.factor[feature]) + shift


@attrs.frozen(eq=False)
class Chain(View):
    """Several views, applied one after the other."""

    views: tuple[View, ...]

    def count_features(self, n_features: int) -> int:
        for view in self.views:
            n_features = view.count_features(n_features)
        return n_features

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

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        steps: list[Step] = []
        for view in self.views:
            steps.append(view.add_to_plan_or_ask(plan, n_features))
            n_features = plan.outputs(steps[-1])
        return plan.chain(*steps) if steps else None

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for view in self.views:
            given = view.names(given)
        return given

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        before: tuple[int, float] | None = (feature, value)
        for view in reversed(self.views):
            before = None if before is None else view.invert(*before)
        return before


#: Values of a region decomposer's setting `local_scaling`.
LocalScaling: TypeAlias = Literal["none", "minmax", "standard"]


def local_view(scaling: LocalScaling, weights: FloatArray | None = None) -> View | None:
    """Return the view that scales by the part's own rows, then by `weights` (d,), or None."""
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
    # By rounding, a constant column may have a deviation of about 1e-17 times its size.
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
