"""ARFF files, dense and sparse: a header that declares the columns, then rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.delimited import text_blocks
from dcsvm.datasets.file_formats import Opened, complaints
from dcsvm.datasets.raw_table import ArrayBlock, Block, Table, first_double, judge
from dcsvm.numeric.text_fields import OTHER

BLOCK_ROWS = 1 << 13
LONGEST_HEADER = 1 << 24
_NUMERIC = ("numeric", "real", "integer")
_NAME = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.DOTALL)
_ENTRY = re.compile(r"""\s*(\d+)\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,]+)\s*""")


class Arff(Table):
    """An ARFF file; by custom, its last attribute holds the classes."""

    ends_with_target = True

    def __init__(self, path: Path, header: bool = True) -> None:
        self.path, self.title, self.levels = path, str(path), {}
        self.numeric: list[bool] = []
        names: list[str] = []
        self.skip, self.line = 0, 1
        with complaints(path), Opened(path) as file:
            head = file.read(LONGEST_HEADER)
        for raw in head.splitlines(keepends=True):
            text = _decoded(self, raw, self.line).strip().lstrip("\ufeff")
            self.skip += len(raw)
            self.line += 1
            word = text.split(None, 1)[0].lower() if text else ""
            if word == "@data":
                break
            if word == "@attribute":
                names.append(self._attribute(text[len("@attribute") :], len(names)))
            elif word not in ("", "@relation") and not word.startswith("%"):
                raise DataError(f"{self.where(self.line - 1)}: {text[:40]!r} is no ARFF header")
        else:
            raise DataError(f"data file {self.title!r} is not ARFF: it has no line @data")
        self.names = tuple(names)
        self._check_names()
        body = head[self.skip :]
        # Plain rows take the quick way of CSV files; quotes, comments and sparse rows do not.
        self.is_plain = len(head) < LONGEST_HEADER and not re.search(rb"['\"%{\\]", body)

    def where(self, place: int) -> str:
        return f"{self.title}:{place}"

    def blocks(self) -> Iterator[Block]:
        if self.is_plain:
            yield from text_blocks(self, len(self.names), ",", False, self.skip, self.line)
            return
        rows: list[list[str]] = []
        places: list[int] = []
        for place, text in self._lines():
            rows.append(self._row(place, text))
            places.append(place)
            if len(rows) == BLOCK_ROWS:
                yield self._block(rows, places)
                rows, places = [], []
        if rows:
            yield self._block(rows, places)

    def _attribute(self, text: str, place: int) -> str:
        where = self.where(self.line - 1)
        found = _NAME.fullmatch(text)
        if found is None or not found[2].strip():
            raise DataError(f"{where}: an attribute needs a name and a type")
        name, kind = _bare(found[1]), found[2].strip()
        if kind.startswith("{"):
            if not kind.endswith("}"):
                raise DataError(f"{where}: the levels of {name!r} begin with {{ but do not end")
            self.levels[place] = tuple(_split(kind[1:-1], where))
        elif kind.split()[0].lower() not in (*_NUMERIC, "string", "date"):
            raise DataError(
                f"{where}: attribute {name!r} is of the type {kind!r}; "
                "numeric, nominal, string and date ones can be read"
            )
        self.numeric.append(kind.split()[0].lower() in _NUMERIC)
        return name

    def _check_names(self) -> None:
        if not self.names:
            raise DataError(f"data file {self.title!r} is not ARFF: it has no attributes")
        double = first_double(self.names)
        if double is not None:
            raise DataError(f"{self.title}: two attributes are called {double!r}; rename one")

    def _lines(self) -> Iterator[tuple[int, str]]:
        """The lines of the data that are no comments, with their numbers."""
        with complaints(self.path), Opened(self.path) as file:
            file.read(self.skip)
            line, rest = self.line, b""
            while True:
                more = file.read(1 << 20)
                self.bytes_read = file.bytes_read
                raw = (rest + more).split(b"\n")
                rest = raw.pop() if more else b""
                for each in raw:
                    text = _decoded(self, each, line).strip()
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
        """A row that names the values that are not 0; the 0 of a nominal one is its first."""
        row = [self.levels[j][0] if self.levels.get(j) else "0" for j in range(len(self.names))]
        inside = text[1:-1] if text.endswith("}") else None
        if inside is None:
            raise DataError(f"{where}: a sparse row begins with {{ but does not end with }}")
        at = 0
        while inside[at:].strip():
            entry = _ENTRY.match(inside, at)
            if entry is None or int(entry[1]) >= len(row):
                raise DataError(
                    f"{where}: {inside[at : at + 20].strip()!r} is not a pair of an attribute's "
                    f"number, 0 to {len(row) - 1}, and its value"
                )
            row[int(entry[1])] = _bare(entry[2])
            at = entry.end()
            if at < len(inside):
                if inside[at] != ",":
                    raise DataError(f"{where}: {inside[at]!r} where a comma belongs")
                at += 1
        return row

    def _block(self, rows: list[list[str]], places: list[int]) -> ArrayBlock:
        columns: list[Any] = []
        for j, texts in enumerate(zip(*rows, strict=True)):
            column: Any = np.array(texts, dtype=object)
            if self.numeric[j]:
                judged = [judge(text) for text in texts]
                if all(kind != OTHER for kind, _ in judged):
                    column = np.array([value for _, value in judged])
            columns.append(column)
        return ArrayBlock(columns, places)


def _decoded(table: Table, raw: bytes, line: int) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{table.where(line)}: not text in UTF-8 ({error.reason}); save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise DataError(f"{table.where(line)}: a zero byte, as no text file has")
    return text


def _split(text: str, where: str) -> list[str]:
    """The fields of a row, which may stand in single or double quotes."""
    quote = '"' if '"' in text and "'" not in text else "'"
    try:
        reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
        fields = next(reader, [])
    except csv.Error as error:
        raise DataError(f"{where}: not ARFF: {error}") from error
    return [field.strip() for field in fields]


def _bare(text: str) -> str:
    if text[:1] in ("'", '"') and text[-1:] == text[0] and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
