"""Features made comparable before anything is divided: filled in, encoded, rescaled."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.base.component import component, setting
from dcsvm.base.decomposer import ONE_PART, Decomposer
from dcsvm.base.feature_views import Scaling, View
from dcsvm.base.problem import Part, Problem
from dcsvm.base.stages import Stages
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.toolbox.table_schema import Column, Layout

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Scale: TypeAlias = Literal["minmax", "standard", "robust", "none"]
Encode: TypeAlias = Literal["onehot", "codes"]
Missing: TypeAlias = Literal["error", "impute", "mark"]


@component
class Scaled(Decomposer):
    """The whole problem as one part that sees its features rescaled.

    With a pipeline as learner, that pipeline divides and learns rescaled rows, and the statistics
    of the training rows stay with the model: raw rows can be predicted and saved models are whole.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dcsvm import DivideAndConquerClassifier
    >>> from dcsvm.toolbox import Scaled
    >>> X, y = load_wine(return_X_y=True)
    >>> pairs = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    >>> DivideAndConquerClassifier(Scaled("standard"), pairs, "route").fit(X, y).score(X, y) > 0.95
    True
    """

    name = "scaled"
    yields = frozenset({ONE_PART})

    scale: Literal["minmax", "standard", "robust"] = setting(
        "minmax",
        help="to [0, 1], to mean 0 and deviation 1, or to median 0 and quartiles 1 apart",
    )

    def divide(self, problem: Problem) -> Stages:
        yield [Part(np.arange(problem.n_rows), view=Scaling(self.scale))]
        return None


@component
class Prepared(Decomposer):
    """The whole problem as one part that sees the columns of a table as numbers to compute with.

    Everything is learned from the training rows and stays with the model: what stands for missing
    values, which levels there are, how numbers are rescaled. A level that no training row had
    counts as none of them. The layout stays with the model too, so that a table with the same
    columns, in any order, can be answered.

    Examples
    --------
    >>> import numpy as np
    >>> from dcsvm.toolbox import Column, Layout, Prepared
    >>> from dcsvm import DivideAndConquerClassifier
    >>> layout = Layout((Column("size"), Column("colour", ("blue", "red"))))
    >>> X, y = np.array([[1, 0], [2, 1], [np.nan, 1], [1, 0.0]]), ["a", "b", "b", "a"]
    >>> model = DivideAndConquerClassifier(Prepared(layout, missing="impute"), "kernel_svm")
    >>> model.fit(X, y).predict([[np.nan, 0]]).item()
    'a'
    """

    name = "prepared"
    yields = frozenset({ONE_PART})

    layout: Layout | None = setting(None, help="the columns of X; none: all are numbers")
    scale: Scale = setting(
        "minmax",
        help="numbers to [0, 1], to mean 0 and deviation 1, to median 0 and quartiles 1 apart, "
        "or as they are",
    )
    encode: Encode = setting(
        "onehot", help="a category as one feature per level, or as the number of its level"
    )
    missing: Missing = setting(
        "error",
        help="refuse missing values, fill in the median or the most frequent level, "
        "or also mark where that was done",
    )

    @property
    def allows_missing(self) -> bool:  # type: ignore[override]
        return self.missing != "error"

    def divide(self, problem: Problem) -> Stages:
        yield [Part(np.arange(problem.n_rows), view=self._view(problem.n_features))]
        return None

    def _view(self, n_features: int) -> View:
        columns = self.layout.features if self.layout is not None else ()
        levels = np.zeros(n_features, dtype=np.intp)
        for place, column in enumerate(columns):
            levels[place] = 0 if column.levels is None else len(column.levels)
        return Preparation(levels, self.scale, self.encode, self.missing == "mark", columns)


@attrs.frozen(eq=False)
class Preparation(View):
    """Columns of a table as numbers that can be compared.

    Parameters
    ----------
    n_levels : (d,) int array
        How many levels a column has; 0 for a column of numbers.
    scale : {"minmax", "standard", "robust", "none"}
    encode : {"onehot", "codes"}
    mark : bool
        Add a feature that is 1 where a value was missing, for columns that had any when fitted.
    columns : tuple of Column
        What the columns and their levels are called, where that is known.
    fill : (d,) float array, fitted
        What stands for a missing value: the median, or the most frequent level.
    seen : tuple of int arrays, fitted
        The levels of each column that the rows had.
    marked : (m,) int array, fitted
        The columns whose missing values are marked.
    scaling : Scaling, fitted
        How the columns of numbers are rescaled.
    """

    n_levels: IntArray
    scale: Scale = "minmax"
    encode: Encode = "onehot"
    mark: bool = False
    columns: tuple[Column, ...] = attrs.field(default=(), metadata={"stored": False})
    fill: FloatArray | None = None
    seen: tuple[IntArray, ...] = ()
    marked: IntArray | None = None
    scaling: View | None = None

    def fit(self, X: Matrix) -> View:
        rescaled = Scaling(self.scale) if self.scale != "none" else None
        if sparse.issparse(X):
            return attrs.evolve(self, scaling=None if rescaled is None else rescaled.fit(X))
        absent = np.isnan(X)
        fill = np.array([_typical(X[:, j], levels) for j, levels in enumerate(self.n_levels)])
        fitted = attrs.evolve(
            self,
            fill=fill,
            seen=tuple(_seen(X[:, j], levels) for j, levels in enumerate(self.n_levels)),
            marked=np.flatnonzero(absent.any(axis=0)) if self.mark else np.zeros(0, np.intp),
        )
        if rescaled is None:
            return fitted
        return attrs.evolve(fitted, scaling=rescaled.fit(fitted._numbers(X, absent)))

    def apply(self, X: Matrix) -> Matrix:
        if sparse.issparse(X):
            return X if self.scaling is None else self.scaling.apply(X)
        if self.fill is None or self.marked is None:
            raise ValueError("a Preparation must be fitted before it is applied")
        absent = np.isnan(X)
        numbers = self._numbers(X, absent)
        if self.scaling is not None:
            numbers = self.scaling.apply(numbers)
        if not len(self.marked) and not self._encoded.any():
            return numbers
        categories = [
            (np.where(absent[:, j], self.fill[j], X[:, j])[:, None] == self.seen[j]).astype(float)
            for j in np.flatnonzero(self._encoded)
        ]
        return np.hstack([numbers, *categories, absent[:, self.marked].astype(float)])

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        titles = tuple(column.name for column in self.columns) or given
        if titles is None or self.marked is None:
            return titles  # sparse rows keep their columns
        kept = [titles[j] for j in np.flatnonzero(~self._encoded)]
        levels = [
            f"{titles[j]}={self._level(j, code)}"
            for j in np.flatnonzero(self._encoded)
            for code in self.seen[j]
        ]
        return (*kept, *levels, *(f"{titles[j]} missing" for j in self.marked))

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        kept = np.flatnonzero(~self._encoded)
        if feature >= len(kept) or self.n_levels[kept[feature]]:
            return None  # of categories and marks there is no value
        before = (feature, value) if self.scaling is None else self.scaling.invert(feature, value)
        return None if before is None else (int(kept[feature]), before[1])

    def _level(self, column: Any, code: Any) -> str:
        levels = self.columns[column].levels if self.columns else None
        return str(code) if levels is None else levels[code]

    def unknown(self, X: Matrix) -> IntArray:
        """How many values of each column are levels that no training row had, as (d,)."""
        counts = np.zeros(len(self.n_levels), dtype=np.intp)
        for j in np.flatnonzero(self.n_levels):
            counts[j] = np.count_nonzero(~np.isnan(X[:, j]) & ~np.isin(X[:, j], self.seen[j]))
        return counts

    @property
    def _encoded(self) -> BoolArray:
        """Whether a column becomes one feature per level."""
        return (self.n_levels > 0) & (self.encode == "onehot")

    def _numbers(self, X: FloatArray, absent: BoolArray) -> FloatArray:
        """The columns that stay one feature each, without gaps and not rescaled."""
        kept = np.flatnonzero(~self._encoded)
        assert self.fill is not None
        numbers = np.where(absent[:, kept], self.fill[kept], X[:, kept])
        for place, j in enumerate(kept):
            if self.n_levels[j]:  # an unknown level has no number: the most frequent one serves
                known = np.isin(numbers[:, place], self.seen[j])
                numbers[~known, place] = self.fill[j]
        return numbers


def _typical(values: FloatArray, n_levels: int) -> float:
    """What stands for a missing value of this column."""
    present = values[~np.isnan(values)]
    if n_levels:
        codes = present[present >= 0].astype(np.intp)
        return float(np.bincount(codes, minlength=n_levels).argmax())
    return float(np.median(present)) if len(present) else 0.0


def _seen(values: FloatArray, n_levels: int) -> IntArray:
    if not n_levels:
        return np.zeros(0, dtype=np.intp)
    codes = np.unique(values[values >= 0])
    return codes.astype(np.intp)
