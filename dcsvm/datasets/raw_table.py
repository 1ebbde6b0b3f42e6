"""A table while it is read: blocks of rows, whose fields are numbers, texts or nothing."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.text_fields import NOTHING, NUMBER, OTHER

#: How a table of text says that a value is not there.
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})

Kinds = npt.NDArray[np.uint8]


class Block(ABC):
    """Some rows of a table, column by column."""

    n_rows: int

    @abstractmethod
    def place(self, row: int) -> int:
        """The line of a text file, or the number of the row in another one, from 1 on."""

    @abstractmethod
    def text(self, row: int, column: int) -> str:
        """One field as text."""

    @abstractmethod
    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        """The plain numbers of a column, NaN elsewhere, and NUMBER, NOTHING or OTHER."""

    @abstractmethod
    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        """Which of the different fields of a column each row has, and where each appears first."""

    @abstractmethod
    def padded(self, column: int) -> str | None:
        """The first field of a column that is a whole number with leading zeros: 01234."""

    def texts(self, column: int) -> list[str]:
        """The fields of a column as texts."""
        codes, firsts = self.distinct(column)
        different = [self.text(row, column) for row in firsts]
        return [different[code] for code in codes.tolist()]

    def numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        """The same as `raw_numbers`, and what is written in other ways is judged, too."""
        values, kinds = self.raw_numbers(column)
        others = np.flatnonzero(kinds == OTHER)
        if len(others) > 8:
            codes, firsts = self.distinct(column)
            judged = [judge(self.text(row, column)) for row in firsts]
            kinds[others] = np.array([kind for kind, _ in judged], dtype=np.uint8)[codes[others]]
            values[others] = np.array([value for _, value in judged])[codes[others]]
        else:
            for row in others.tolist():
                kinds[row], values[row] = judge(self.text(row, column))
        return values, kinds


class Table(ABC):
    """Rows with named columns, read block by block, as often as one likes.

    `levels` holds the levels that the file itself declares, by column; `ends_with_target` says
    that the classes stand in the last column unless someone knows better; `unnamed` holds the
    columns to which a header gives no name.
    """

    title: str
    names: tuple[str, ...]
    levels: dict[int, tuple[str, ...]]
    unnamed: frozenset[int] = frozenset()
    ends_with_target = False
    has_names = True
    #: How much of the file has been read, for progress.
    bytes_read = 0

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """All rows from the first, in blocks; a DataError names the place of what is wrong."""

    @abstractmethod
    def where(self, place: int) -> str:
        """A place as the beginning of an error sentence."""


@attrs.frozen(eq=False)
class SparseBlock:
    """Some rows of a file of sparse rows; `labels` is None where it has none."""

    X: Matrix
    labels: Any
    first: int


class SparseTable(ABC):
    """Rows without named columns, read block by block.

    `by_number` says that the columns of X are the numbers that the file gives its features, of
    which the lowest may be 1.
    """

    title: str
    by_number: bool
    bytes_read = 0

    @abstractmethod
    def blocks(self) -> Iterator[SparseBlock]:
        """All rows from the first, in blocks that may differ in their number of columns."""


class ArrayBlock(Block):
    """Rows whose columns are arrays: of numbers (NaN: missing), or of texts ('': missing)."""

    def __init__(self, columns: list[Any], places: Sequence[int]) -> None:
        self.columns = columns
        self.n_rows = len(places)
        self.places = places

    def place(self, row: int) -> int:
        return self.places[row]

    def text(self, row: int, column: int) -> str:
        return _as_text(self.columns[column][row])

    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        values = self.columns[column]
        if values.dtype.kind in "biuf":
            floats = values.astype(float)
            kinds = np.where(np.isnan(floats), NOTHING, NUMBER)
            kinds[np.isinf(floats)] = OTHER
            return floats, kinds.astype(np.uint8)
        return np.full(self.n_rows, np.nan), np.full(self.n_rows, OTHER, dtype=np.uint8)

    def padded(self, column: int) -> str | None:
        values = self.columns[column]
        return None if values.dtype.kind in "biuf" else next(filter(is_padded, values), None)

    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        values = self.columns[column]
        if values.dtype.kind in "biuf":
            _, rows, codes = np.unique(values, return_index=True, return_inverse=True)
            return codes, rows.tolist()
        places: dict[str, int] = {}
        firsts: list[int] = []
        numbers: IntArray = np.empty(self.n_rows, dtype=np.intp)
        for row, text in enumerate(values):
            numbers[row] = places.setdefault(text, len(places))
            if numbers[row] == len(firsts):
                firsts.append(row)
        return numbers, firsts


@functools.lru_cache(maxsize=100_000)
def judge(text: str) -> tuple[int, float]:
    """What a field is that is no plain number: missing, another way to write one, or neither."""
    if text.lower() in MISSING:
        return NOTHING, np.nan
    try:
        number = float(text)
    except ValueError:
        return OTHER, np.nan
    return (NUMBER, number) if np.isfinite(number) and "_" not in text else (OTHER, np.nan)


def is_padded(text: str) -> bool:
    """Whether a field is a whole number with leading zeros."""
    return len(text) > 1 and text[0] == "0" and text.isascii() and text.isdigit()


def first_double(names: Sequence[str]) -> str | None:
    """The first name that stands for two columns."""
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)


def _as_text(value: Any) -> str:
    """Numbers as one would write them: a whole one without a decimal point."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    number = float(value)
    if np.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
