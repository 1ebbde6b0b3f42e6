"""Tables that are read in blocks of rows, whose fields are numbers, strings or missing."""

import functools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.base.errors import DataError
from dcsvm.datasets.field_parsing import MISSING, is_padded, parse_field
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.text_fields import NOTHING, NUMBER, OTHER

Kinds = npt.NDArray[np.uint8]


class Block(ABC):
    """Some rows of a table, column by column."""

    n_rows: int
    #: What stands before the fraction of a number: a point or a comma.
    decimal = "."

    @abstractmethod
    def place(self, row: int) -> int:
        """Return the line number of a row, or its row number in a binary file, from 1 on."""

    @abstractmethod
    def text(self, row: int, column: int) -> str:
        """Return one field as a string."""

    @abstractmethod
    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        """Return the plain numbers of a column, NaN elsewhere, and NUMBER, NOTHING or OTHER."""

    @abstractmethod
    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        """Return the code of each field of a column, and the first row with each code."""

    @abstractmethod
    def find_padded(self, column: int) -> str | None:
        """Return the first field of a column that is an integer with leading zeros: 01234."""

    def texts(self, column: int) -> list[str]:
        """Return the fields of a column as strings."""
        codes, firsts = self.distinct(column)
        different = [self.text(row, column) for row in firsts]
        return [different[code] for code in codes.tolist()]

    def numbers(self, column: int, missing: frozenset[str] = MISSING) -> tuple[FloatArray, Kinds]:
        """Return the same as `raw_numbers`, unusual numbers and missing words parsed."""
        values, kinds = self.raw_numbers(column)
        for number in _list_numbers(missing):  # such as -999
            gaps = values == number
            values[gaps], kinds[gaps] = np.nan, NOTHING
        others = np.flatnonzero(kinds == OTHER)
        if len(others) > 8:
            codes, firsts = self.distinct(column)
            judged = [parse_field(self.text(row, column), missing, self.decimal) for row in firsts]
            kinds[others] = np.array([kind for kind, _ in judged], dtype=np.uint8)[codes[others]]
            values[others] = np.array([value for _, value in judged])[codes[others]]
        else:
            for row in others.tolist():
                text = self.text(row, column)
                kinds[row], values[row] = parse_field(text, missing, self.decimal)
        return values, kinds


class Table(ABC):
    """Rows with named columns, read block by block, any number of times.

    `levels` holds the levels that the file declares, by column; `ends_with_target` says that by
    default the last column is the target; `unnamed` holds the columns without a name in the
    header; `has_lines` says that places are line numbers, not row numbers.
    """

    title: str
    names: tuple[str, ...]
    levels: dict[int, tuple[str, ...]]
    unnamed: frozenset[int] = frozenset()
    #: Columns that are dates by their type.
    typed_dates: frozenset[int] = frozenset()
    ends_with_target = False
    has_names = True
    has_lines = True
    #: The words that count as missing, in lower case.
    missing = MISSING
    #: How numbers and text are written, in a file of text.
    decimal = "."
    encoding = "utf-8"
    #: Columns that were made of others, and of which: the parts of dates.
    sources: Mapping[int, int] = {}
    #: Places and messages of invalid fields that the table itself found so far.
    mistakes: Sequence[tuple[int, str]] = ()
    #: Whether rows with a wrong number of fields are skipped and told in `mistakes`, for a while.
    tells_all = False
    #: How much of the file has been read, for progress.
    bytes_read = 0

    def __init__(self, path: Path) -> None:
        self.path, self.title, self.levels = path, str(path), {}

    def count_rows(self) -> int:
        """Return about how many rows it has, without reading them; 0 if unknown."""
        return 0

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield all rows from the first; raise a DataError with the place of a mistake."""

    def where(self, place: int) -> str:
        """Return a place as the beginning of an error message."""
        return f"{self.title}:{place}" if self.has_lines else f"{self.title}: row {place}"


@attrs.frozen(eq=False)
class SparseBlock:
    """Some rows of a file of sparse rows; `labels` is None if there are none."""

    X: Matrix
    labels: Any
    first: int


class SparseTable(ABC):
    """Rows without named columns, read block by block.

    `by_number` says that the columns of X are the feature numbers of the file, of which the
    lowest may be 1.
    """

    title: str
    by_number: bool
    bytes_read = 0

    @abstractmethod
    def blocks(self) -> Iterator[SparseBlock]:
        """Yield all rows from the first; blocks may differ in their number of columns."""


class ArrayBlock(Block):
    """Rows whose columns are arrays of numbers (NaN: missing) or of strings ('': missing)."""

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

    def find_padded(self, column: int) -> str | None:
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


def check_duplicates(names: Sequence[str], where: str) -> None:
    """Raise if two columns have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{where}: two columns are called {name!r}; rename one")


@functools.cache
def _list_numbers(missing: frozenset[str]) -> list[float]:
    judged = [parse_field(word, frozenset()) for word in missing]
    return [number for kind, number in judged if kind == NUMBER]


def _as_text(value: Any) -> str:
    """Return a number as one would write it: an integer without a decimal point."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    number = float(value)
    if np.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
