"""TablePreparation, a scikit-learn transformer: missing values, categories, scaling."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_array,
    check_is_fitted,
    validate_data,
)

from dcsvm.base.errors import DataError, SettingError
from dcsvm.base.feature_views import Scaling
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.column_ranks import are_quantiles, find_value, learn_quantiles, rank_columns
from dcsvm.numeric.mapped_rows import MappedRows
from dcsvm.toolbox.level_pooling import MinFrequency, check_frequency, encode_levels, pool_levels
from dcsvm.toolbox.missing_values import (
    SETTING,
    Missing,
    choose_fill,
    is_about_missing_values,
)
from dcsvm.toolbox.prepared_features import PreparedFeature, describe_levels
from dcsvm.toolbox.table_schema import Column, TableSchema, describe_dates, find_dates

Scale: TypeAlias = Literal["minmax", "standard", "robust", "quantile", "none"]
Encode: TypeAlias = Literal["onehot", "codes"]
#: How ranks are scaled, and sparse rows, which are not ranked.
_RANKED: tuple[Literal["standard"], Literal["minmax"]] = ("standard", "minmax")
#: Fitted attributes, for model files.
FITTED = (
    *("columns_", "fill_", "seen_", "pooled_", "marked_", "quantiles_", "scaling_"),
    *("n_features_in_", "feature_names_in_"),
)


class TablePreparation(TransformerMixin, BaseEstimator):
    """Impute, encode and scale the columns of a table.

    Missing values are imputed with the median or the most frequent level, categories are encoded,
    numbers are scaled; everything is learned in `fit`. Columns of numbers come first, then one
    feature for each level, then the indicators of missing values. A level that `fit` did not see
    is encoded as none of the others.

    Categories and strings in pandas and polars data frames, and strings in arrays, are categories.
    In an array of numbers, a column with levels holds their indices, -1 for an unknown level.

    Parameters
    ----------
    scale : {"minmax", "standard", "robust", "quantile", "none"}, default="minmax"
        Scale to [0, 1], to mean 0 and deviation 1, to median 0 and interquartile range 1, or not
        at all. "quantile" replaces numbers by their ranks, for heavy tails, and scales these to
        mean 0 and deviation 1. Sparse rows are divided, never shifted or ranked.
    encode : {"onehot", "codes"}, default="onehot"
        A category becomes one feature for each level, or the index of its level.
    missing : {"error", "impute", "mark"}, default="error"
        Raise if a value is missing, impute it, or impute it and add an indicator for each column
        in which `fit` saw a missing value.
    schema : TableSchema, optional
        The columns, if they are known: a data frame may then have them in any order. By default
        they are inferred in `fit`.
    min_frequency : float or "auto", default=0
        Levels of fewer rows, or below 1 of a smaller share, and unknown ones share one feature;
        "auto": of fewer than 40 rows and less than 1% of them.

    Attributes
    ----------
    columns_ : tuple of Column
        Names and levels of the columns; empty for sparse rows.
    fill_ : (d,) float array
        The median, or the index of the most frequent level.
    seen_ : tuple of int arrays
        The indices of the levels that occurred, for each column, without rare ones.
    pooled_ : (p,) int array
        The columns with a feature for rare levels.
    marked_ : (m,) int array
        The columns with an indicator of missing values.
    quantiles_ : (k, m) float array or None
        The quantiles of the columns of numbers, if they are ranked.
    scaling_ : Scaling or None
        The scaling of the columns of numbers, or of their ranks.
    n_features_in_ : int
    feature_names_in_ : (d,) array of str, only for data frames without a `schema`

    Examples
    --------
    >>> import pandas as pd
    >>> from dcsvm import TablePreparation
    >>> frame = pd.DataFrame({"colour": ["blue", "red", None], "size": [1.0, None, 3.0]})
    >>> prepare = TablePreparation(missing="impute").set_output(transform="pandas")
    >>> prepare.fit_transform(frame).round(1)
       size  colour=blue  colour=red
    0   0.0          1.0         0.0
    1   0.5          0.0         1.0
    2   1.0          1.0         0.0
    """

    #: For files of models that know no ranks, and no rare levels.
    quantiles_: FloatArray | None = None
    pooled_: IntArray = np.zeros(0, dtype=np.intp)

    def __init__(
        self,
        scale: Scale = "minmax",
        encode: Encode = "onehot",
        missing: Missing = "error",
        schema: TableSchema | None = None,
        min_frequency: MinFrequency = 0.0,
    ) -> None:
        self.scale = scale
        self.encode = encode
        self.missing = missing
        self.schema = schema
        self.min_frequency = min_frequency

    def fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Learn levels, imputed values and scales from rows X (n, d)."""
        self._check_settings()
        if isinstance(X, MappedRows):
            return self._fit_mapped(X)
        X = self._read(X, reset=True)
        d = X.shape[1]
        self.quantiles_, self.pooled_ = None, np.zeros(0, dtype=np.intp)
        if sparse.issparse(X):
            self.columns_: tuple[Column, ...] = ()
            self.fill_, self.marked_ = np.zeros(d), np.zeros(0, dtype=np.intp)
            self.seen_: tuple[IntArray, ...] = (np.zeros(0, dtype=np.intp),) * d
            numbers: Matrix = X
        else:
            absent = np.isnan(X)
            levels = self._n_levels(d)
            self.fill_ = np.array([choose_fill(X[:, j], levels[j]) for j in range(d)])
            self.seen_ = tuple(
                np.unique(X[X[:, j] >= 0, j] if levels[j] else ()).astype(np.intp)
                for j in range(d)
            )
            if self.min_frequency and self.encode == "onehot":
                self.seen_, self.pooled_ = pool_levels(X, self.seen_, self.min_frequency)
            self.marked_ = np.flatnonzero(absent.any(axis=0) & (self.missing == "mark"))
            numbers = self._numbers(X, absent) if self.scale != "none" else X
            if self.scale == "quantile":
                self.quantiles_ = learn_quantiles(numbers)
                numbers = rank_columns(numbers, self.quantiles_)
        kind = _RANKED[sparse.issparse(X)] if self.scale == "quantile" else self.scale
        self.scaling_: Any = None if kind == "none" else Scaling(kind).fit(numbers)
        return self

    def _fit_mapped(self, X: MappedRows) -> TablePreparation:
        """Fit on rows in a file, some columns at a time: each is fitted by itself."""
        self._read(X[:1], reset=True)
        pieces = []
        for first, values in X.column_groups():
            columns = self.columns_[first : first + values.shape[1]]
            piece = clone(self).set_params(schema=TableSchema(columns))
            pieces.append((first, piece.fit(values)))
        self.fill_ = np.concatenate([piece.fill_ for _, piece in pieces])
        self.seen_ = tuple(each for _, piece in pieces for each in piece.seen_)
        self.pooled_ = np.concatenate([first + piece.pooled_ for first, piece in pieces])
        self.marked_ = np.concatenate([first + piece.marked_ for first, piece in pieces])
        known = [piece.quantiles_ for _, piece in pieces if piece.quantiles_ is not None]
        self.quantiles_ = np.hstack(known) if known else None
        scalings = [piece.scaling_ for _, piece in pieces]
        self.scaling_ = None if self.scale == "none" else Scaling.join(scalings)
        return self

    def transform(self, X: Any) -> Any:
        """Return rows X (n, d) as numbers, (n, features)."""
        check_is_fitted(self)
        if isinstance(X, MappedRows):
            width = len(self.features())
            return X.spill((self._transform(block) for block in X.blocks()), width)
        return self._transform(X)

    def _transform(self, X: Any) -> Any:
        X = self._read(X, reset=False)
        scaling, encoded = self.scaling_, self._encoded
        if sparse.issparse(X):
            if not encoded.any() and not len(self.marked_):
                return X if scaling is None else scaling.apply(X)
            X = X.toarray()
        absent = np.isnan(X)
        numbers = self._numbers(X, absent)
        if self.quantiles_ is not None:
            numbers = rank_columns(numbers, self.quantiles_)
        if scaling is not None:
            if scaling.offset is not None:
                numbers -= scaling.offset
            numbers *= scaling.factor
        if not len(self.marked_) and not encoded.any():
            return numbers
        categories = []
        for j in np.flatnonzero(encoded):
            codes = np.where(absent[:, j], self.fill_[j], X[:, j])
            categories.append(encode_levels(codes, self.seen_[j], j in self.pooled_))
        return np.hstack([numbers, *categories, absent[:, self.marked_].astype(float)])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features: `size`, `colour=red`, `size missing`."""
        return np.array([each.name for each in self.features(input_features)], dtype=object)

    def features(self, input_features: Any = None) -> tuple[PreparedFeature, ...]:
        """Describe the features in their order."""
        check_is_fitted(self)
        names = self.names if input_features is None else None
        if names is None:
            names = _check_feature_names_in(self, input_features).tolist()
        encoded = self._encoded
        plain: Literal["number", "rank"] = "number" if self.quantiles_ is None else "rank"
        kept = np.flatnonzero(~encoded).tolist()
        offset, factor = np.zeros(len(kept)), np.ones(len(kept))
        if self.scaling_ is not None:
            offset = offset if self.scaling_.offset is None else self.scaling_.offset
            factor = self.scaling_.factor
        numbers = [
            PreparedFeature(names[j], j, "code" if self._levels(j) else plain, *numbers)
            for j, *numbers in zip(kept, offset.tolist(), factor.tolist(), strict=True)
        ]
        levels = [
            each
            for j in np.flatnonzero(encoded).tolist()
            for each in describe_levels(
                names[j], j, (self._levels(j)[code] for code in self.seen_[j]), j in self.pooled_
            )
        ]
        marks = [
            PreparedFeature(f"{names[j]} missing", j, "indicator") for j in self.marked_.tolist()
        ]
        return (*numbers, *levels, *marks)

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        """Return the column of a number feature and the number that became this value."""
        made = self.features()[feature]
        if made.kind not in ("number", "rank") or made.factor == 0:
            return None
        value = value / made.factor + made.offset
        if self.quantiles_ is not None:
            value = find_value(value, self.quantiles_[:, feature])
        return made.column, value

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns; None if they have none."""
        if self.schema is not None and self.schema.first_index is None:
            return self.schema.names
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    def is_sound(self) -> bool:
        """Return whether fitted attributes that were read from a file are consistent."""
        self._check_settings()
        if self.scaling_ is not None:
            self.scaling_.check_stored()
        if self.fill_.dtype.kind != "f" or not np.isfinite(self.fill_).all():
            return False
        d, kept = self.n_features_in_, int(np.count_nonzero(~self._encoded))
        levels, counted = self._n_levels(d), (*self.seen_, self.marked_, self.pooled_)
        return (
            self.fill_.shape == (d,)
            and len(self.columns_) in (0, d)
            and all(each.dtype.kind == "i" for each in counted)
            and all(each.min(initial=0) >= 0 for each in counted)
            and all(s.max(initial=-1) < n for s, n in zip(self.seen_, levels, strict=True))
            and max(self.marked_.max(initial=-1), self.pooled_.max(initial=-1)) < d
            and (self.scaling_ is None or self.scaling_.factor.shape == (kept,))
            and (self.quantiles_ is None or are_quantiles(self.quantiles_, kept))
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _check_settings(self) -> None:
        for name, options in (("scale", Scale), ("encode", Encode), ("missing", Missing)):
            if getattr(self, name) not in get_args(options):
                allowed = ", ".join(map(repr, get_args(options)))
                raise SettingError(
                    f"TablePreparation: {name} must be one of {allowed}, got "
                    f"{getattr(self, name)!r}"
                )
        check_frequency(self.min_frequency)

    def read(self, X: Any) -> Matrix:
        """Learn the columns of X (n, d) only; return it as numbers, with NaN for gaps."""
        return self._read(X, reset=True)

    def _read(self, X: Any, reset: bool) -> Matrix:
        """Return rows as numbers, with NaN for missing values and indices for levels."""
        if not reset and self._is_ready(X):
            return X
        try:
            if sparse.issparse(X):
                return validate_data(self, X, reset=reset, **self._checks())
            if not hasattr(X, "columns"):
                return self._read_array(X, reset)
            schema = self.schema
            if schema is not None and schema.first_index is None:
                if reset:
                    self.columns_, self.n_features_in_ = schema.features, len(schema.features)
                return check_array(schema.matrix(X), input_name="X", **self._checks())
            validate_data(self, X, reset=reset, skip_check_array=True)
            labels = list(X.columns)
            if reset:
                dates = find_dates(X)
                if dates:
                    raise DataError(describe_dates(dates))
                self.columns_ = tuple(Column.infer(str(each), X[each]) for each in labels)
            return self._matrix([X[each] for each in labels])
        except ValueError as error:
            if self.missing == "error" and is_about_missing_values(error):
                raise DataError(SETTING) from error
            raise

    def _read_array(self, X: Any, reset: bool) -> Matrix:
        given = X if hasattr(X, "dtype") else np.asarray(X)
        if given.dtype.kind not in "OUS" or given.ndim != 2:
            rows: Matrix = validate_data(self, X, reset=reset, **self._checks())
            if reset:
                unknown = tuple(Column(f"x{j}") for j in range(rows.shape[1]))
                self.columns_ = self._check_schema(rows.shape[1]) or unknown
            return rows
        validate_data(self, given, reset=reset, skip_check_array=True)
        if reset:
            self.columns_ = self._check_schema(given.shape[1]) or tuple(
                Column.infer(f"x{j}", given[:, j], numeric_texts=True)
                for j in range(given.shape[1])
            )
        return self._matrix(list(given.T))

    def _check_schema(self, d: int) -> tuple[Column, ...]:
        """Return the columns of the schema, if there is one; raise if X has another width."""
        if self.schema is None or self.schema.first_index is not None:
            return ()
        if len(self.schema.features) != d:
            raise DataError(
                f"X has {d} columns, but the schema has {len(self.schema.features)} features"
            )
        return self.schema.features

    def _matrix(self, columns: list[Any]) -> FloatArray:
        numbers = [
            column.numbers(values) for column, values in zip(self.columns_, columns, strict=True)
        ]
        rows = np.column_stack(numbers) if numbers else np.zeros((0, 0))
        return np.asarray(check_array(rows, input_name="X", **self._checks()))

    def _is_ready(self, X: Any) -> bool:
        """Return whether the slow checks of scikit-learn can be skipped."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.shape[1:] == (self.n_features_in_,)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _checks(self) -> dict[str, Any]:
        finite = True if self.missing == "error" else "allow-nan"
        return {
            "accept_sparse": "csr",
            "dtype": np.float64,
            "ensure_all_finite": finite,
            "estimator": self,
        }

    def _levels(self, j: Any) -> tuple[str, ...]:
        return self.columns_[j].levels or () if self.columns_ else ()

    def _n_levels(self, d: int) -> IntArray:
        return np.array([len(self._levels(j)) for j in range(d)], dtype=np.intp)

    @property
    def _encoded(self) -> BoolArray:
        """Whether a column becomes one feature for each level."""
        return (self._n_levels(len(self.fill_)) > 0) & (self.encode == "onehot")

    def _numbers(self, X: FloatArray, absent: BoolArray) -> FloatArray:
        """Return the columns that stay one feature each, imputed and not scaled, as a copy."""
        kept = np.flatnonzero(~self._encoded)
        numbers = np.where(absent[:, kept], self.fill_[kept], X[:, kept])
        for place, j in enumerate(kept):
            if self._levels(j):  # an unknown level becomes the most frequent one
                known = np.isin(numbers[:, place], self.seen_[j])
                numbers[~known, place] = self.fill_[j]
        return numbers
