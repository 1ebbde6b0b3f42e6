"""The columns of a table as a model remembers them: names, kinds and levels."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.numeric.array_types import FloatArray

DATES = (
    "X holds dates or times in column {column!r}: turn them into numbers first, such as days "
    "since the first of them, or leave the column out"
)
"""What to do about dates where numbers are wanted."""


@attrs.frozen
class Column:
    """A feature as it stands in a file: numbers, or one of some levels.

    In a matrix X, a column with levels holds their places in `levels`, -1 for any other level and
    NaN for a value that is missing.
    """

    name: str
    levels: tuple[str, ...] | None = None

    @classmethod
    def infer(cls, name: str, values: Any, *, numeric_texts: bool = False) -> Column:
        """The column for values (n,) of a data frame or an array.

        Categories of pandas and polars keep their order; texts become sorted levels. With
        `numeric_texts`, a column of texts that are all numbers is a column of numbers.
        """
        categories = _categories(values)
        if categories is not None:
            return cls(name, tuple(str(_text(each)) for each in categories))
        given = np.asarray(values)
        if given.dtype.kind in "mM":
            raise DataError(DATES.format(column=name))
        if given.dtype.kind in "biuf":
            return cls(name)
        present = [each for each in given.tolist() if _text(each) is not None]
        if numeric_texts or not any(isinstance(each, str) for each in present):
            with suppress(ValueError, TypeError):
                np.array(present, dtype=object).astype(np.float64)
                return cls(name)
        return cls(name, tuple(sorted({str(_text(each)) for each in present})))

    def numbers(self, values: Any) -> FloatArray:
        """The column of X for values (n,) as they stand in a data frame.

        Numbers in a column with levels are places in `levels`, unless one reads as a level.
        """
        given = np.asarray(values)
        if self.levels is not None:
            texts = [_text(value) for value in given.tolist()]
            known = {*self.levels, *map(_bare, self.levels)}
            if given.dtype.kind not in "iuf" or not known.isdisjoint(texts):
                return self._codes(texts)
        elif given.dtype == object:
            given = np.array([np.nan if _text(each) is None else each for each in given.tolist()])
        try:
            return given.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise DataError(
                f"column {self.name!r} holds values that are no numbers: {error}"
            ) from error

    def _codes(self, texts: list[str | None]) -> FloatArray:
        levels = self.levels or ()
        # What was read as numbers has lost its leading zeros: 1234 stands for 01234, too.
        places: dict[str | None, float] = {_bare(text): n for n, text in enumerate(levels)}
        places |= {text: n for n, text in enumerate(levels)}
        places[None] = np.nan
        codes = np.array([places.get(text, -1.0) for text in texts])
        strange = np.flatnonzero(codes == -1)
        if len(strange):
            warnings.warn(
                f"{len(strange)} values of column {self.name!r} are levels that no training row "
                f"had, such as {texts[strange[0]]!r}",
                stacklevel=2,
            )
        return codes


def _categories(values: Any) -> list[Any] | None:
    """The categories of a pandas or polars column, in their order; None for other columns."""
    if hasattr(values, "cat") and hasattr(values.cat, "categories"):
        return list(values.cat.categories)
    kind: Any = getattr(values, "dtype", None)
    if type(kind).__name__ == "Enum":
        return list(kind.categories)
    if type(kind).__name__ == "Categorical":  # of polars, which fixes no order
        return sorted(values.drop_nulls().unique().to_list())
    return None


def _text(value: Any) -> str | None:
    """A value as a file would have it; None for one that is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _bare(text: str) -> str:
    """Digits without leading zeros; any other text as it is."""
    return str(int(text)) if text.isascii() and text.isdigit() else text


@attrs.frozen(repr=False)
class TableSchema:
    """What a table of data must look like so that a model can answer it.

    Parameters
    ----------
    features : tuple of Column
        In the order of the columns of X.
    target : str, optional
        The column that holds the classes.
    ids : tuple of str
        Columns that name rows: no features, but worth keeping beside the answers.
    left_out : tuple of str
        Columns that say nothing, or that nobody wanted.
    first_index : int, optional
        Sparse rows have no named features: they go by number, and this is the first.
    """

    features: tuple[Column, ...]
    target: str | None = None
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    first_index: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.features)

    def matrix(self, frame: Any) -> FloatArray:
        """The rows X (n, d) of a data frame, whose columns are found by name, in any order."""
        labels = {str(label): label for label in frame.columns}
        absent = [name for name in self.names if name not in labels]
        if absent:
            raise DataError(
                f"X has no column {absent[0]!r}, which the model was trained on; "
                f"{did_you_mean(absent[0], list(labels))}"
            )
        return np.column_stack([each.numbers(frame[labels[each.name]]) for each in self.features])

    def __repr__(self) -> str:
        if self.first_index is not None:
            return f"<sparse features from number {self.first_index} on>"
        with_levels = sum(column.levels is not None for column in self.features)
        return f"<{len(self.features)} features, {with_levels} of them categorical>"
