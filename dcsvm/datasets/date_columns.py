"""Tables whose date columns are followed by columns of their years, months, days and so on."""

from collections.abc import Iterator

import numpy as np

from dcsvm.datasets.field_parsing import MISSING, parse_field
from dcsvm.datasets.raw_table import ArrayBlock, Block, Kinds, Table
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.text_fields import NOTHING
from dcsvm.toolbox.dates import DATE_PARTS, is_ambiguous, name_parts, split_date


class DatedTable(Table):
    """A table with five more columns at its end for each date column.

    `mistakes` holds the place and the message of the first field of each date column that is no
    date.
    """

    def __init__(self, table: Table, dates: list[int], day_first: bool | None) -> None:
        super().__init__(table.path)
        self.table, self.dates, self.day_first = table, dates, day_first
        self.levels, self.unnamed = table.levels, table.unnamed
        self.has_names, self.has_lines = table.has_names, table.has_lines
        self.missing, self.decimal = table.missing, table.decimal
        self.encoding = table.encoding
        parts = [name for place in dates for name in name_parts(table.names[place])]
        self.names = (*table.names, *parts)
        self.sources = {
            len(table.names) + n: dates[n // len(DATE_PARTS)] for n in range(len(parts))
        }
        self._found: dict[int, tuple[int, str]] = {}

    @property
    def bytes_read(self) -> int:  # type: ignore[override]
        return self.table.bytes_read

    @property
    def mistakes(self) -> list[tuple[int, str]]:  # type: ignore[override]
        return [*self.table.mistakes, *self._found.values()]

    def blocks(self) -> Iterator[Block]:
        for block in self.table.blocks():
            parts = [values for place in self.dates for values in self._split(block, place)]
            yield DatedBlock(block, len(self.table.names), parts)

    def _split(self, block: Block, column: int) -> list[FloatArray]:
        """Return the five parts of the dates in a column, NaN where there is none."""
        codes, firsts = block.distinct(column)
        parts = np.full((len(firsts), len(DATE_PARTS)), np.nan)
        for code, row in enumerate(firsts):
            text = block.text(row, column)
            if parse_field(text, self.missing)[0] == NOTHING:
                continue
            found = split_date(text, self.day_first)
            if found is None or (self.day_first is None and is_ambiguous(text)):
                message = _describe(text, self.table.names[column], found is not None)
                self._found.setdefault(column, (block.place(row), message))
                parts[code] = 0.0  # present, and an error already
            else:
                parts[code] = found
        return list(parts[codes].T)


class DatedBlock(Block):
    """Some rows of a table, with the parts of their dates in columns at the end."""

    def __init__(self, block: Block, n_columns: int, parts: list[FloatArray]) -> None:
        self.block, self.n_columns, self.n_rows = block, n_columns, block.n_rows
        self.parts = ArrayBlock(parts, range(block.n_rows))

    def place(self, row: int) -> int:
        return self.block.place(row)

    def text(self, row: int, column: int) -> str:
        block, column = self._find(column)
        return block.text(row, column)

    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        block, column = self._find(column)
        return block.raw_numbers(column)

    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        block, column = self._find(column)
        return block.distinct(column)

    def find_padded(self, column: int) -> str | None:
        block, column = self._find(column)
        return block.find_padded(column)

    def numbers(self, column: int, missing: frozenset[str] = MISSING) -> tuple[FloatArray, Kinds]:
        if column < self.n_columns:
            return self.block.numbers(column, missing)
        return self.parts.raw_numbers(column - self.n_columns)

    def _find(self, column: int) -> tuple[Block, int]:
        """Return the block that has a column, and its place there."""
        if column < self.n_columns:
            return self.block, column
        return self.parts, column - self.n_columns


def _describe(text: str, column: str, is_date: bool) -> str:
    if is_date:
        return (
            f"{text!r} in column {column!r} may have the day or the month first; say "
            "`day_first = true` or `day_first = false`"
        )
    return (
        f"{text!r} in column {column!r}, which is listed in `dates`, is not a date such as "
        "2024-12-31, 31.12.2024 or 2024-12-31 23:59:59; correct it, or remove the column from "
        "that list"
    )
