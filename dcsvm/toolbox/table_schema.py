"""The columns of a table as a model remembers them: names, kinds and levels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.numeric.array_types import FloatArray
from dcsvm.toolbox.dates import format_date, name_parts, split_date

DATES = (
    "X holds dates or times in {columns}: turn them into numbers first, such as "
    "X[{first!r}].dt.year of a pandas column, or leave {them} out"
)


def find_dates(X: Any) -> list[Any]:
    """The names of the columns of a data frame that hold dates or times."""
    return [name for name in getattr(X, "columns", ()) if _holds_dates(X[name])]


def describe_dates(names: Sequence[Any]) -> str:
    """The message for columns of dates in a data frame."""
    one = len(names) == 1
    columns = f"column {names[0]!r}" if one else f"columns {', '.join(map(repr, names))}"
    return DATES.format(columns=columns, first=names[0], them="the column" if one else "them")


def _holds_dates(values: Any) -> bool:
    given = np.asarray(values)
    if given.dtype.kind in "mM":
        return True
    if given.dtype != object or _categories(values) is not None:
        return False
    first = next((each for each in given.tolist() if _text(each) is not None), None)
    return isinstance(first, date | time | timedelta)


@attrs.frozen
class Column:
    """A column of a table: numbers, or a category with levels.

    In a matrix X, a column with levels holds indices into `levels`, -1 for any other level and NaN
    for a missing value.
    """

    name: str
    levels: tuple[str, ...] | None = None

    @classmethod
    def infer(cls, name: str, values: Any, *, numeric_texts: bool = False) -> Column:
        """Infer the column from values (n,) of a data frame or an array.

        Categories of pandas and polars keep their order; strings become sorted levels. With
        `numeric_texts`, strings that are all numbers become a column of numbers.
        """
        categories = _categories(values)
        if categories is not None:
            return cls(name, tuple(str(_text(each)) for each in categories))
        given = np.asarray(values)
        if given.dtype.kind in "biuf":
            return cls(name)
        present = [each for each in given.tolist() if _text(each) is not None]
        if numeric_texts or not any(isinstance(each, str) for each in present):
            with suppress(ValueError, TypeError):
                np.array(present, dtype=object).astype(np.float64)
                return cls(name)
        return cls(name, tuple(sorted({str(_text(each)) for each in present})))

    def numbers(self, values: Any) -> FloatArray:
        """Return the column of X for values (n,) of a data frame.

        Numbers in a column with levels are indices into `levels`, unless one is a level itself.
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
                f"column {self.name!r} holds values that are not numbers: {error}"
            ) from error

    def _codes(self, texts: list[str | None]) -> FloatArray:
        levels = self.levels or ()
        # Codes that were read as numbers have lost their leading zeros: 1234 is 01234, too.
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


def _split_dates(name: str, values: Any, day_first: bool | None) -> FloatArray:
    """Return the parts (n, 5) of the dates in a column of a data frame, NaN where missing."""
    given = np.asarray(values)
    texts = given.astype(str) if given.dtype.kind == "M" else map(format_date, given.tolist())
    rows = []
    for text, value in zip(texts, given, strict=True):
        is_missing = _text(value) is None or str(value) in ("", "NaT")
        found = (np.nan,) * 5 if is_missing else split_date(str(text), day_first)
        if found is None:
            raise DataError(f"column {name!r} holds {text!r}, which is not a date")
        rows.append(found)
    return np.array(rows, dtype=float).reshape(len(rows), -1)


def _categories(values: Any) -> list[Any] | None:
    """Return the categories of a pandas or polars column; None for other columns."""
    if hasattr(values, "cat") and hasattr(values.cat, "categories"):
        return list(values.cat.categories)
    kind: Any = getattr(values, "dtype", None)
    if type(kind).__name__ == "Enum":
        return list(kind.categories)
    if type(kind).__name__ == "Categorical":  # of polars, which fixes no order
        return sorted(values.drop_nulls().unique().to_list())
    return None


def _text(value: Any) -> str | None:
    """Return a value as a string; None if it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _bare(text: str) -> str:
    """Remove the leading zeros of an integer; return any other string as it is."""
    return str(int(text)) if text.isascii() and text.isdigit() else text


@attrs.frozen(repr=False)
class TableSchema:
    """The columns of a table that a model was trained on.

    Parameters
    ----------
    features : tuple of Column
        In the order of the columns of X.
    target : str, optional
        The column with the classes.
    ids : tuple of str
        Columns that identify rows; they are no features, but are written beside predictions.
    left_out : tuple of str
        Constant, empty and dropped columns.
    first_index : int, optional
        The first feature number of sparse rows, which have no column names.
    missing_values : tuple of str, optional
        The words that count as missing in a file, in lower case; None: the usual ones.
    dates : tuple of str
        Columns of dates, of which features such as `when year` are made.
    day_first : bool, optional
        Whether dates such as 03/04/2024 begin with the day.
    decimal, encoding : str
        How numbers and text are written in a file of text.
    """

    features: tuple[Column, ...]
    target: str | None = None
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    first_index: int | None = None
    missing_values: tuple[str, ...] | None = None
    dates: tuple[str, ...] = ()
    day_first: bool | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.features)

    def matrix(self, frame: Any) -> FloatArray:
        """Return the rows X (n, d) of a data frame, whose columns may be in any order."""
        labels = {str(label): label for label in frame.columns}
        parts = self._list_date_parts()
        absent = [name for name in self.names if parts.get(name, (name,))[0] not in labels]
        if absent:
            name = parts.get(absent[0], (absent[0],))[0]
            raise DataError(
                f"X has no column {name!r}, which the model was trained on; "
                f"{did_you_mean(name, list(labels))}"
            )
        split = {
            name: _split_dates(name, frame[labels[name]], self.day_first)
            for name in {parts[name][0] for name in self.names if name in parts}
        }
        columns = [
            split[parts[each.name][0]][:, parts[each.name][1]]
            if each.name in parts
            else each.numbers(frame[labels[each.name]])
            for each in self.features
        ]
        return np.column_stack(columns)

    def _list_date_parts(self) -> dict[str, tuple[str, int]]:
        """Return the date column and the number of its part, for features made of dates."""
        return {
            part: (name, number)
            for name in self.dates
            for number, part in enumerate(name_parts(name))
        }

    def __repr__(self) -> str:
        if self.first_index is not None:
            return f"<sparse features from number {self.first_index} on>"
        with_levels = sum(column.levels is not None for column in self.features)
        return f"<{len(self.features)} features, {with_levels} of them categorical>"
