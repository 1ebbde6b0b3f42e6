"""Reader of ARFF files, dense and sparse: a header that declares the columns, then rows."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.data_file import DataFile, wrap_read_errors
from dcsvm.datasets.delimited import check_text, read_text_blocks
from dcsvm.datasets.field_parsing import parse_field
from dcsvm.datasets.raw_table import ArrayBlock, Block, Table, check_duplicates
from dcsvm.numeric.text_fields import OTHER

BLOCK_ROWS = 1 << 13
LONGEST_HEADER = 1 << 24
_NUMERIC = ("numeric", "real", "integer")
_NAME = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.DOTALL)
_ENTRY = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,]+)\s*""")


class Arff(Table):
    """An ARFF file; by convention its last attribute is the target."""

    ends_with_target = True

    def __init__(self, path: Path, header: bool = True) -> None:
        super().__init__(path)
        self.numeric: list[bool] = []
        names: list[str] = []
        self.skip, self.line = 0, 1
        with wrap_read_errors(path), DataFile(path) as file:
            head = file.read(LONGEST_HEADER)
        for raw in head.splitlines(keepends=True):
            text = _decode(self, raw, self.line).strip().lstrip("\ufeff")
            self.skip += len(raw)
            self.line += 1
            word = text.split(None, 1)[0].lower() if text else ""
            if word == "@data":
                break
            if word == "@attribute":
                names.append(self._attribute(text[len("@attribute") :], len(names)))
            elif word not in ("", "@relation") and not word.startswith("%"):
                where = self.where(self.line - 1)
                raise DataError(f"{where}: {text[:40]!r} is not an ARFF header")
        else:
            raise DataError(f"data file {self.title!r} is not ARFF: it has no line @data")
        self.names = tuple(names)
        if not names:
            raise DataError(f"data file {self.title!r} is not ARFF: it has no attributes")
        check_duplicates(self.names, self.title)
        # Rows without quotes, comments and sparse entries are read as CSV, which is faster.
        body = head[self.skip :]
        self.is_plain = len(head) < LONGEST_HEADER and not re.search(rb"['\"%{\\]", body)

    def blocks(self) -> Iterator[Block]:
        if self.is_plain:
            yield from read_text_blocks(self, len(self.names), ",", False, self.skip, self.line)
            return
        rows: list[list[str]] = []
        places: list[int] = []
        for place, text in self._lines():
            rows.append(self._row(place, text))
            places.append(place)
            if len(rows) == BLOCK_ROWS:
                yield self._build_block(rows, places)
                rows, places = [], []
        if rows:
            yield self._build_block(rows, places)

    def _attribute(self, text: str, place: int) -> str:
        where = self.where(self.line - 1)
        match = _NAME.fullmatch(text)
        if match is None or not match[2].strip():
            raise DataError(f"{where}: an attribute needs a name and a type")
        name, kind = _unquote(match[1]), match[2].strip()
        if kind.startswith("{"):
            if not kind.endswith("}"):
                raise DataError(f"{where}: the levels of {name!r} have no closing }}")
            self.levels[place] = tuple(_split(kind[1:-1], where))
        elif kind.split()[0].lower() not in (*_NUMERIC, "string", "date"):
            raise DataError(
                f"{where}: attribute {name!r} has type {kind!r}; "
                "numeric, nominal, string and date attributes can be read"
            )
        self.numeric.append(kind.split()[0].lower() in _NUMERIC)
        return name

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of data with their numbers, without comments."""
        with wrap_read_errors(self.path), DataFile(self.path) as file:
            file.read(self.skip)
            line, rest = self.line, b""
            while True:
                more = file.read(1 << 20)
                self.bytes_read = file.bytes_read
                raw = (rest + more).split(b"\n")
                rest = raw.pop() if more else b""
                for each in raw:
                    text = _decode(self, each, line).strip()
                    if text and not text.startswith("%"):
                        yield line, text
                    line += 1
                if not more:
                    return

    def _row(self, place: int, text: str) -> list[str]:
        where = self.where(place)
        if text.startswith("{"):
            return self._sparse_row(text, where)
        row = _split(text, where)
        if len(row) != len(self.names):
            raise DataError(
                f"{where}: {len(row)} values in a row, but the header has {len(self.names)}"
            )
        return row

    def _sparse_row(self, text: str, where: str) -> list[str]:
        """Parse a row that lists its nonzero values; a nominal 0 is the first level."""
        if not text.endswith("}"):
            raise DataError(f"{where}: a sparse row has no closing }}")
        row = [self.levels[j][0] if self.levels.get(j) else "0" for j in range(len(self.names))]
        inside, at = text[1:-1], 0
        while inside[at:].strip():
            entry = _ENTRY.match(inside, at)
            if entry is None or int(entry[1]) >= len(row):
                raise DataError(
                    f"{where}: {inside[at : at + 20].strip()!r} must be an attribute "
                    f"number, 0 to {len(row) - 1}, and its value"
                )
            row[int(entry[1])] = _unquote(entry[2])
            at = entry.end()
            if at < len(inside):
                if inside[at] != ",":
                    raise DataError(f"{where}: expected a comma, got {inside[at]!r}")
                at += 1
        return row

    def _build_block(self, rows: list[list[str]], places: list[int]) -> ArrayBlock:
        columns: list[Any] = []
        for j, texts in enumerate(zip(*rows, strict=True)):
            column: Any = np.array(texts, dtype=object)
            if self.numeric[j]:
                judged = [parse_field(text) for text in texts]
                if all(kind != OTHER for kind, _ in judged):
                    column = np.array([value for _, value in judged])
            columns.append(column)
        return ArrayBlock(columns, places)


def _decode(table: Table, raw: bytes, line: int) -> str:
    check_text(table, raw, line)
    return raw.decode()


def _split(text: str, where: str) -> list[str]:
    """Split a row into fields, which may be in single or double quotes."""
    quote = '"' if '"' in text and "'" not in text else "'"
    try:
        reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
        fields = next(reader, [])
    except csv.Error as error:
        raise DataError(f"{where}: not ARFF: {error}") from error
    return [field.strip() for field in fields]


def _unquote(text: str) -> str:
    if text[:1] in ("'", '"') and text[-1:] == text[0] and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
