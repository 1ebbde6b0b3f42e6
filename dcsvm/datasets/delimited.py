"""Reader of CSV and TSV files, with a detected delimiter and errors that name the line."""

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.data_file import UTF_8, DataFile, wrap_read_errors
from dcsvm.datasets.field_parsing import is_padded, parse_field
from dcsvm.datasets.raw_table import Block, Kinds, Table, check_duplicates
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.text_fields import (
    AFTER_QUOTE,
    NUMBER,
    OPEN_QUOTE,
    OTHER,
    WRONG_COUNT,
    Cells,
    Fault,
    measure_row,
    split_rows,
)

BLOCK_BYTES = 1 << 22
#: Longest row in bytes, so that an open quote does not read the rest of a file.
LONGEST_ROW = 1 << 26
#: Rows with a wrong number of fields that are told before reading ends.
MOST_RAGGED = 10
#: Rows that a header is compared with.
HEADER_ROWS = 200
DELIMITERS = ",;\t|"
#: A decimal comma becomes a point, and a point a comma, which no number has.
_SWAP = bytes.maketrans(b",.", b".,")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextBlock(Block):
    """Rows of a text file whose first line is `first_line`."""

    def __init__(self, cells: Cells, first_line: int, decimal: str = ".") -> None:
        self.cells = cells
        self.decimal = decimal
        self.first_line = first_line
        self.n_rows = cells.n_rows

    def place(self, row: int) -> int:
        return self.first_line + int(self.cells.lines[row])

    def text(self, row: int, column: int) -> str:
        return self.cells.field(row, column)

    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        return self._number_cells.numbers(column)

    @cached_property
    def _number_cells(self) -> Cells:
        """The same fields with a decimal point, and with a comma for a point."""
        if self.decimal == ".":
            return self.cells
        return attrs.evolve(self.cells, text=self.cells.text.translate(_SWAP))

    def find_padded(self, column: int) -> str | None:
        texts = (self.cells.field(row, column) for row in self.cells.find_leading_zeros(column))
        return next(filter(is_padded, texts), None)

    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        return self.cells.distinct(column)


class Delimited(Table):
    """A CSV or TSV file."""

    def __init__(
        self, path: Path, header: bool = True, encoding: str = UTF_8, decimal: str = "."
    ) -> None:
        super().__init__(path)
        self.header = self.has_names = header
        self.encoding, self.decimal = encoding, decimal
        with wrap_read_errors(path), DataFile(path, encoding) as file:
            head = _head(file)
        self.delimiter = self._find_delimiter(head)
        whole, end, _ = head.removeprefix(_BYTE_ORDER_MARK).rpartition(b"\n")
        check_text(self, whole if end else head.removeprefix(_BYTE_ORDER_MARK), 1)
        self.names = self._names(head)

    def blocks(self) -> Iterator[Block]:
        yield from read_text_blocks(self, len(self.names), self.delimiter, self.header)

    def _find_delimiter(self, head: bytes) -> str:
        """Return the most frequent delimiter of the first line."""
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(
                f"data file {self.title!r} is UTF-16; save it as UTF-8, or say "
                '`encoding = "utf-16"`'
            )
        _check_zero_bytes(self, head, 1)
        first = head.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n ").partition(b"\n")[0]
        bare = re.sub(rb'"[^"]*"', b"", first)
        counts = [bare.count(each.encode()) for each in DELIMITERS]
        return DELIMITERS[int(np.argmax(counts))] if any(counts) else ","

    def _names(self, head: bytes) -> tuple[str, ...]:
        text = head.removeprefix(_BYTE_ORDER_MARK).decode(errors="replace")
        lines = csv.reader(
            io.StringIO(text, newline=""), delimiter=self.delimiter, skipinitialspace=True
        )
        try:
            fields = next((row for row in lines if len(row) > 1 or any(map(str.strip, row))), [])
        except csv.Error as error:
            raise DataError(f"{self.where(1)}: not CSV: {error}") from error
        fields = [name.strip(" \t") for name in fields]
        if not fields:
            raise DataError(f"data file {self.title!r} holds blank lines only")
        numbered = tuple(f"column{place}" for place in range(1, len(fields) + 1))
        if not self.header:
            return numbered
        self.unnamed = frozenset(place for place, name in enumerate(fields) if not name)
        where = self.where(lines.line_num)
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):  # the text may be cut off anywhere
            rows.extend(itertools.islice(lines, HEADER_ROWS))
        _check_header(fields, rows, where)
        names = tuple(name or other for name, other in zip(fields, numbered, strict=True))
        check_duplicates(names, where)
        return names


def _check_header(fields: Sequence[str], rows: Sequence[Sequence[str]], where: str) -> None:
    """Raise if the first line looks like a row.

    Numbers can be column names, such as years. Values of their own columns cannot.
    """
    advice = "say `header = false` if it is a row"
    kinds = [parse_field(field)[0] for field in fields]
    if all(kind == NUMBER for kind in kinds):
        raise DataError(f"{where}: the first line holds numbers, not column names; {advice}")
    texts = [place for place, kind in enumerate(kinds) if kind == OTHER]
    repeated = [
        place
        for place in texts
        if any(len(row) > place and row[place].strip(" \t") == fields[place] for row in rows)
    ]
    if repeated and (NUMBER in kinds or len(repeated) == len(texts)):
        raise DataError(
            f"{where}: the first line looks like a row, not like column names: "
            f"{fields[repeated[0]]!r} is a value of column {repeated[0] + 1}; {advice}"
        )


def read_text_blocks(
    table: Table, columns: int, delimiter: str, header: bool, skip: int = 0, line: int = 1
) -> Iterator[Block]:
    """Yield the rows of a text file from byte `skip`, which is on line `line`."""
    path = Path(table.title)
    mistakes: list[tuple[int, str]] = []
    table.mistakes = mistakes
    with wrap_read_errors(path), DataFile(path, table.encoding) as file:
        file.read(skip)
        text = file.read(BLOCK_BYTES).removeprefix(_BYTE_ORDER_MARK if not skip else b"")
        while text:
            more = file.read(BLOCK_BYTES)
            table.bytes_read = file.bytes_read
            cells, consumed, lines, fault = split_rows(
                text, last=not more, delimiter=delimiter.encode(), columns=columns
            )
            check_text(table, text[:consumed], line)
            if header and cells.n_rows:
                starts, ends, lines_of = cells.starts[1:], cells.ends[1:], cells.lines[1:]
                cells = attrs.evolve(cells, starts=starts, ends=ends, lines=lines_of)
                header = False
            if cells.n_rows:
                yield TextBlock(cells, line, table.decimal)
            if fault is not None:
                check_text(table, text[consumed : consumed + 10_000].rpartition(b"\n")[0], line)
                mistakes.append((line + fault.line, _describe_fault(fault, columns)))
                if (
                    fault.kind != WRONG_COUNT
                    or not table.tells_all
                    or len(mistakes) == MOST_RAGGED
                ):
                    raise DataError("\n".join(f"{table.where(n)}: {said}" for n, said in mistakes))
                used, more_lines = measure_row(text[consumed:], delimiter.encode(), fault.n_fields)
                consumed, lines = consumed + used, lines + more_lines
            line += lines
            text = text[consumed:] + more
            if len(text) > LONGEST_ROW and not consumed:
                raise DataError(
                    f"{table.where(line)}: a row of more than {LONGEST_ROW >> 20} MB; "
                    "is a quote not closed?"
                )


def _head(file: DataFile) -> bytes:
    """Read the beginning of a file, up to the end of its first line that is not blank or more."""
    head = file.read(1 << 16)
    while b"\n" not in head.lstrip() and len(head) < LONGEST_ROW:
        more = file.read(1 << 20)
        if not more:
            break
        head += more
    return head


def check_text(table: Table, text: bytes, line: int) -> None:
    """Raise if text that starts on this line is not UTF-8 or has a zero byte."""
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line += text[: error.start].count(b"\n")
            raise DataError(
                f"{table.where(line)}: not UTF-8 ({error.reason}); save the file as UTF-8, or "
                'name its encoding, such as `encoding = "latin-1"`'
            ) from error
    _check_zero_bytes(table, text, line)


def _check_zero_bytes(table: Table, text: bytes, line: int) -> None:
    if b"\0" in text:
        line += text[: text.index(b"\0")].count(b"\n")
        raise DataError(f"{table.where(line)}: zero byte; this is not a text file")


def _describe_fault(fault: Fault, columns: int) -> str:
    if fault.kind == OPEN_QUOTE:
        return "a quote is never closed"
    if fault.kind == AFTER_QUOTE:
        return "something follows a closing quote; a quote inside a field is written twice"
    values = "one value" if fault.n_fields == 1 else f"{fault.n_fields} values"
    return f"{values} in a row, but the first line has {columns}"
