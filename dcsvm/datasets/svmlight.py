"""Reader of sparse rows in SVMlight and LIBSVM format: `label index:value index:value`."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError
from dcsvm.datasets.data_file import DataFile, wrap_read_errors
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.raw_table import SparseBlock, SparseTable
from dcsvm.numeric.array_types import Matrix, narrow_indices
from dcsvm.toolbox.table_schema import TableSchema

BLOCK_BYTES = 1 << 22
#: Largest feature number; beyond it scaling alone would need gigabytes.
LARGEST_INDEX = 100_000_000
#: Larger integers are not exact as floats.
LARGEST_LABEL = 2**53
_PAIR = re.compile(rb"(\d+):(\S+)")


class Svmlight(SparseTable):
    """A file of sparse rows; feature numbers start at 1, or at 0 if that occurs."""

    by_number = True

    def __init__(self, path: Path, header: bool = True) -> None:
        self.path, self.title = path, str(path)

    def blocks(self) -> Iterator[SparseBlock]:
        line = 1
        with wrap_read_errors(self.path), DataFile(self.path) as file:
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

        # The errors of this function name no line, so a faulty block is scanned line by line.
        try:
            X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
            fine = np.isfinite(X.data).all() and np.isfinite(y).all() and (y == np.round(y)).all()
            fine &= X.shape[1] <= LARGEST_INDEX and np.abs(y).max(initial=0) < LARGEST_LABEL
        except (ValueError, OverflowError, MemoryError, IndexError):
            fine = False
        if not fine:
            self._raise_mistake(text, line)
        return SparseBlock(sparse.csr_array(X), y.astype(np.int64), line)

    def _raise_mistake(self, text: bytes, line: int) -> None:
        for number, content in enumerate(text.split(b"\n"), line):
            words = content.partition(b"#")[0].split()
            if words and (wrong := _find_mistake(words)):
                raise DataError(f"{self.title}:{number}: {wrong}")
        raise DataError(f"data file {self.title!r} is not in SVMlight format")


def _find_mistake(words: list[bytes]) -> str | None:
    """Return what is wrong with one line, or None."""
    label = words[0].decode(errors="replace")
    number = _number(words[0])
    if number is None:
        return f"the label {label!r} is not a number"
    if not number.is_integer():
        return f"the label {label!r} is not an integer; a classifier needs classes"
    if abs(number) >= LARGEST_LABEL:
        return f"the label {label!r} is too large: it must be below 2**53"
    last = -1
    for word in words[1:]:
        shown = word.decode(errors="replace")
        if word.startswith(b"qid:"):
            continue
        pair = _PAIR.fullmatch(word)
        if pair is None or _number(pair[2]) is None:
            return f"{shown!r} is not index:value with a finite value"
        if int(pair[1]) > LARGEST_INDEX:
            return f"feature {pair[1].decode()} is larger than the limit, {LARGEST_INDEX}"
        if int(pair[1]) <= last:
            return f"feature {pair[1].decode()} comes after {last}; numbers must increase"
        last = int(pair[1])
    return None


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and b"_" not in text else None


def read_sparse(table: Svmlight) -> Dataset:
    """Read a whole file."""
    blocks = list(table.blocks())
    if not blocks:
        raise DataError(f"data file {table.title!r} holds blank lines only")
    width = max(block.X.shape[1] for block in blocks)
    X = sparse.vstack([set_width(block.X, width) for block in blocks], "csr")
    first = 0 if not X.nnz or int(X.indices.min()) == 0 else 1
    X = narrow_indices(sparse.csr_array(X[:, first:]))
    y: Any = np.concatenate([block.labels for block in blocks])
    return Dataset(table.title, X, y, (), schema=TableSchema((), "label", first_index=first))


def set_width(X: Matrix, width: int) -> Matrix:
    """Return the same rows with more columns, or with fewer."""
    if X.shape[1] > width:
        return narrow_indices(sparse.csr_array(X[:, :width]))
    return narrow_indices(
        sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    )
