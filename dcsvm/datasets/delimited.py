"""CSV and TSV files: the delimiter is found out, rows come in blocks, mistakes with their line."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.file_formats import Opened, complaints
from dcsvm.datasets.header import mistake_of_header
from dcsvm.datasets.raw_table import Block, Kinds, Table, first_double, is_padded
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.text_fields import AFTER_QUOTE, OPEN_QUOTE, Cells, Fault, split_rows

BLOCK_BYTES = 1 << 22
#: No row may be longer: an open quote would otherwise swallow the rest of a file.
LONGEST_ROW = 1 << 26
#: Rows that a header is held against.
HEADER_ROWS = 200
DELIMITERS = ",;\t|"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextBlock(Block):
    """Rows of a text file; `first_line` is the line on which its text begins."""

    def __init__(self, cells: Cells, first_line: int) -> None:
        self.cells = cells
        self.first_line = first_line
        self.n_rows = cells.n_rows

    def place(self, row: int) -> int:
        return self.first_line + int(self.cells.lines[row])

    def text(self, row: int, column: int) -> str:
        return self.cells.field(row, column)

    def raw_numbers(self, column: int) -> tuple[FloatArray, Kinds]:
        return self.cells.numbers(column)

    def padded(self, column: int) -> str | None:
        texts = (self.cells.field(row, column) for row in self.cells.padded(column))
        return next(filter(is_padded, texts), None)

    def distinct(self, column: int) -> tuple[IntArray, list[int]]:
        return self.cells.distinct(column)


class Delimited(Table):
    """A CSV or TSV file."""

    def __init__(self, path: Path, header: bool = True) -> None:
        self.path, self.title, self.levels = path, str(path), {}
        self.header = self.has_names = header
        with complaints(path), Opened(path) as file:
            head = _head(file)
        self.delimiter = self._sniffed(head)
        self.names = self._names(head)

    def where(self, place: int) -> str:
        return f"{self.title}:{place}"

    def blocks(self) -> Iterator[Block]:
        yield from text_blocks(self, len(self.names), self.delimiter, self.header)

    def _sniffed(self, head: bytes) -> str:
        """The delimiter that stands most often in the first line."""
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(f"data file {self.title!r} is text in UTF-16; save it as UTF-8")
        if b"\0" in head:
            line = head[: head.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{self.title}:{line}: a zero byte, as no text file has")
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
        line = lines.line_num
        mistake = mistake_of_header(fields, _some(lines))
        names = tuple(name or other for name, other in zip(fields, numbered, strict=True))
        double = first_double(names)
        if double is not None and not mistake:
            mistake = f"two columns are called {double!r}; rename one"
        if mistake:
            raise DataError(f"{self.where(line)}: {mistake}")
        return names


def _some(lines: Iterator[list[str]]) -> list[list[str]]:
    """Some rows of a text that may be cut off anywhere."""
    rows = []
    with contextlib.suppress(csv.Error):
        for row in itertools.islice(lines, HEADER_ROWS):
            rows.append(row)
    return rows


def text_blocks(
    table: Table, columns: int, delimiter: str, header: bool, skip: int = 0, line: int = 1
) -> Iterator[Block]:
    """The rows of a text file, from byte `skip`, on line `line`, on; without its header."""
    path = Path(table.title)
    with complaints(path), Opened(path) as file:
        file.read(skip)
        text = file.read(BLOCK_BYTES).removeprefix(_BYTE_ORDER_MARK if not skip else b"")
        while text:
            more = file.read(BLOCK_BYTES)
            table.bytes_read = file.bytes_read
            cells, consumed, lines, fault = split_rows(
                text, last=not more, delimiter=delimiter.encode(), columns=columns
            )
            _check_text(table, text[:consumed], line)
            if header and cells.n_rows:
                cells, header = _without_first(cells), False
            if cells.n_rows:
                yield TextBlock(cells, line)
            if fault is not None:
                _check_text(table, text[consumed : consumed + 10_000].rpartition(b"\n")[0], line)
                raise DataError(f"{table.where(line + fault.line)}: {_sentence(fault, columns)}")
            line += lines
            text = text[consumed:] + more
            if len(text) > LONGEST_ROW and not consumed:
                raise DataError(
                    f"{table.where(line)}: a row of more than {LONGEST_ROW >> 20} MB; "
                    "is a quote not closed?"
                )


def _head(file: Opened) -> bytes:
    """The beginning of a file, its first line with content included."""
    head = file.read(1 << 16)
    while b"\n" not in head.lstrip() and len(head) < LONGEST_ROW:
        more = file.read(1 << 20)
        if not more:
            break
        head += more
    return head


def _without_first(cells: Cells) -> Cells:
    return attrs.evolve(cells, starts=cells.starts[1:], ends=cells.ends[1:], lines=cells.lines[1:])


def _check_text(table: Table, text: bytes, line: int) -> None:
    if text.isascii():
        if b"\0" not in text:
            return
        line += text[: text.index(b"\0")].count(b"\n")
        raise DataError(f"{table.where(line)}: a zero byte, as no text file has")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line += text[: error.start].count(b"\n")
        raise DataError(
            f"{table.where(line)}: not text in UTF-8 ({error.reason}); save the file as UTF-8"
        ) from error


def _sentence(fault: Fault, columns: int) -> str:
    if fault.kind == OPEN_QUOTE:
        return "a quote opens that is never closed"
    if fault.kind == AFTER_QUOTE:
        return "something follows a closing quote; a quote inside a field is written twice"
    values = "one value" if fault.n_fields == 1 else f"{fault.n_fields} values"
    return f"{values} in a row, but the first line has {columns}"
