"""Files of sparse rows in the form of SVMlight and LIBSVM: `label index:value index:value`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.file_formats import Opened, complaints
from dcsvm.datasets.raw_table import SparseBlock, SparseTable
from dcsvm.numeric.array_types import Matrix
from dcsvm.toolbox.table_schema import TableSchema

BLOCK_BYTES = 1 << 22
#: Feature numbers beyond this are mistakes: scaling alone would need gigabytes.
LARGEST_INDEX = 100_000_000
#: Larger labels could not be told from their neighbours.
LARGEST_LABEL = 2**53
_PAIR = re.compile(rb"(\d+):(\S+)")


class Svmlight(SparseTable):
    """A file of sparse rows; the lowest feature number in use is 1, or 0 where that occurs."""

    by_number = True

    def __init__(self, path: Path, header: bool = True) -> None:
        self.path, self.title = path, str(path)

    def blocks(self) -> Iterator[SparseBlock]:
        line = 1
        with complaints(self.path), Opened(self.path) as file:
            rest = b""
            while True:
                more = file.read(BLOCK_BYTES)
                self.bytes_read = file.bytes_read
                text, newline, rest = (rest + more).rpartition(b"\n") if more else (rest, b"", b"")
                if text.strip():
                    yield self._block(text, line)
                line += text.count(b"\n") + len(newline)
                if not more:
                    return

    def _block(self, text: bytes, line: int) -> SparseBlock:
        from sklearn.datasets import load_svmlight_file

        # Only the lines are scanned for mistakes that its words cannot place.
        try:
            X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
            fine = np.isfinite(X.data).all() and np.isfinite(y).all() and (y == np.round(y)).all()
            fine = (
                fine and X.shape[1] <= LARGEST_INDEX and np.abs(y).max(initial=0) < LARGEST_LABEL
            )
        except (ValueError, OverflowError, MemoryError, IndexError):
            fine = False
        if not fine:
            self._raise_mistake(text, line)
        return SparseBlock(sparse.csr_array(X), y.astype(np.int64), line)

    def _raise_mistake(self, text: bytes, line: int) -> None:
        for number, content in enumerate(text.split(b"\n"), line):
            words = content.partition(b"#")[0].split()
            if words:
                wrong = _mistake(words)
                if wrong:
                    raise DataError(f"{self.title}:{number}: {wrong}")
        raise DataError(f"data file {self.title!r} is not in the form of SVMlight")


def _mistake(words: list[bytes]) -> str | None:
    """What is wrong with one line, if anything."""
    label = words[0].decode(errors="replace")
    number = _number(words[0])
    if number is None:
        return f"the label {label!r} is not a number"
    if not number.is_integer():
        return f"the label {label!r} is not a whole number; a classifier needs classes"
    if abs(number) >= LARGEST_LABEL:
        return f"the label {label!r} is too large to be told from others"
    last = -1
    for word in words[1:]:
        shown = word.decode(errors="replace")
        if word.startswith(b"qid:"):
            continue
        pair = _PAIR.fullmatch(word)
        if pair is None or _number(pair[2]) is None:
            return f"{shown!r} is not a pair of a feature's number and a finite value"
        if int(pair[1]) > LARGEST_INDEX:
            return f"feature {pair[1].decode()} is beyond the largest number, {LARGEST_INDEX}"
        if int(pair[1]) <= last:
            return f"feature {pair[1].decode()} comes after {last}; numbers must grow along a line"
        last = int(pair[1])
    return None


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and b"_" not in text else None


def read_sparse(table: Svmlight) -> Dataset:
    """Read a whole file as rows to learn from."""
    blocks = list(table.blocks())
    if not blocks:
        raise DataError(f"data file {table.title!r} holds blank lines only")
    width = max(block.X.shape[1] for block in blocks)
    X = sparse.vstack([widened(block.X, width) for block in blocks], "csr")
    first = 0 if not X.nnz or int(X.indices.min()) == 0 else 1
    X = sparse.csr_array(X[:, first:])
    names: tuple[str, ...] = ()  # a million features need no names: they go by number
    y: Any = np.concatenate([block.labels for block in blocks])
    return Dataset(table.title, X, y, names, schema=TableSchema((), "label", first_index=first))


def widened(X: Matrix, width: int) -> Matrix:
    """The same rows with more columns, or with fewer."""
    if X.shape[1] > width:
        return sparse.csr_array(X[:, :width])
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
