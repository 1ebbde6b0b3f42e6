"""Parquet, Feather and Arrow files, read by pyarrow where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.file_formats import complaints
from dcsvm.datasets.raw_table import ArrayBlock, Block, Table, first_double

BLOCK_ROWS = 1 << 15


class Arrow(Table):
    """A file of typed columns; places in it are rows, counted from 1."""

    def __init__(self, path: Path, header: bool = True) -> None:
        self.path, self.title, self.levels = path, str(path), {}
        pyarrow = _pyarrow(path)
        with _complaints(path, pyarrow):
            self.names = tuple(self._schema(pyarrow).names)
        double = first_double(self.names)
        if double is not None:
            raise DataError(f"{self.title}: two columns are called {double!r}; rename one")

    def where(self, place: int) -> str:
        return f"{self.title}: row {place}"

    def blocks(self) -> Iterator[Block]:
        pyarrow = _pyarrow(self.path)
        first = 1
        with _complaints(self.path, pyarrow):
            for batch in self._batches(pyarrow):
                if batch.num_rows:
                    columns = [
                        self._column(pyarrow, name, batch.column(j))
                        for j, name in enumerate(self.names)
                    ]
                    yield ArrayBlock(columns, range(first, first + batch.num_rows))
                first += batch.num_rows

    def _schema(self, pyarrow: Any) -> Any:
        if self.path.suffix.lower() == ".parquet":
            return pyarrow.parquet.read_schema(self.path)
        with self._ipc(pyarrow) as reader:
            return reader.schema

    def _batches(self, pyarrow: Any) -> Iterator[Any]:
        if self.path.suffix.lower() == ".parquet":
            with pyarrow.parquet.ParquetFile(self.path) as file:
                yield from file.iter_batches(batch_size=BLOCK_ROWS)
            return
        with self._ipc(pyarrow) as reader:
            n_batches = getattr(reader, "num_record_batches", None)
            batches = reader if n_batches is None else map(reader.get_batch, range(n_batches))
            for batch in batches:
                batch.validate(full=True)  # compiled code follows offsets without looking
                for start in range(0, batch.num_rows, BLOCK_ROWS):
                    yield batch.slice(start, BLOCK_ROWS)

    @contextmanager
    def _ipc(self, pyarrow: Any) -> Iterator[Any]:
        # Read, not mapped into memory: a mapped file that somebody cuts short ends the process.
        with pyarrow.OSFile(str(self.path)) as source:
            try:
                reader = pyarrow.ipc.open_file(source)
            except pyarrow.ArrowInvalid:
                source.seek(0)
                reader = pyarrow.ipc.open_stream(source)
            with reader:
                yield reader

    def _column(self, pyarrow: Any, name: str, column: Any) -> Any:
        """Numbers with NaN, or texts with '', where values are missing."""
        types, kind = pyarrow.types, column.type
        if types.is_dictionary(kind):
            column = column.dictionary_decode()
            kind = column.type
        if types.is_null(kind):
            return np.full(len(column), np.nan)
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if any(test(kind) for test in numeric):
            return column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
            raise DataError(
                f"{self.title}: column {name!r} is of the type {kind}; numbers, truth values, "
                "texts, dates and dictionaries of these can be read"
            )
        texts = column.cast(pyarrow.string()).to_pylist()
        return np.array(["" if text is None else text.strip() for text in texts], dtype=object)


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(
            f"data file {str(path)!r} needs pyarrow, which is not installed: "
            "pip install 'dcsvm[arrow]'"
        ) from error
    return pyarrow


class _complaints:  # noqa: N801 - used as a word in a with statement
    """Turn what pyarrow says of a damaged file into a sentence about the file."""

    def __init__(self, path: Path, pyarrow: Any) -> None:
        self.path, self.pyarrow, self.files = path, pyarrow, complaints(path)

    def __enter__(self) -> None:
        self.files.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        wrong = (self.pyarrow.ArrowException, ValueError, TypeError, KeyError)
        of_pyarrow = isinstance(error, OSError) and error.strerror is None
        if of_pyarrow or (isinstance(error, wrong) and not isinstance(error, DataError)):
            reason = str(error).strip().splitlines() or ["it is damaged"]
            raise DataError(f"data file {str(self.path)!r} cannot be read: {reason[0]}") from error
        return self.files.__exit__(kind, error, trace)
