"""Reader of Parquet, Feather and Arrow files, which needs pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.data_file import wrap_read_errors
from dcsvm.datasets.raw_table import ArrayBlock, Table, check_duplicates

BLOCK_ROWS = 1 << 15


class Arrow(Table):
    """A file of typed columns; places in it are rows, counted from 1."""

    has_lines = False

    def __init__(self, path: Path, header: bool = True) -> None:
        super().__init__(path)
        pyarrow = _pyarrow(path)
        with _wrap_arrow_errors(path, pyarrow):
            schema = self._schema(pyarrow)
        self.names = tuple(schema.names)
        is_date = pyarrow.types.is_date, pyarrow.types.is_timestamp, pyarrow.types.is_time
        self.typed_dates = frozenset(
            j for j, kind in enumerate(schema.types) if any(test(kind) for test in is_date)
        )
        check_duplicates(self.names, self.title)

    def blocks(self) -> Iterator[ArrayBlock]:
        pyarrow = _pyarrow(self.path)
        first = 1
        with _wrap_arrow_errors(self.path, pyarrow):
            for batch in self._batches(pyarrow):
                if batch.num_rows:
                    columns = [
                        self._column(pyarrow, name, batch.column(j))
                        for j, name in enumerate(self.names)
                    ]
                    yield ArrayBlock(columns, range(first, first + batch.num_rows))
                first += batch.num_rows

    def count_rows(self) -> int:
        if self.path.suffix.lower() != ".parquet":
            return 2 * self.path.stat().st_size // (8 * max(1, len(self.names)))
        pyarrow = _pyarrow(self.path)
        with _wrap_arrow_errors(self.path, pyarrow):
            return int(pyarrow.parquet.read_metadata(self.path).num_rows)

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
                batch.validate(full=True)  # compiled code does not check offsets
                for start in range(0, batch.num_rows, BLOCK_ROWS):
                    yield batch.slice(start, BLOCK_ROWS)

    @contextmanager
    def _ipc(self, pyarrow: Any) -> Iterator[Any]:
        # Not memory-mapped: if a mapped file is truncated, the process crashes.
        with pyarrow.OSFile(str(self.path)) as source:
            try:
                reader = pyarrow.ipc.open_file(source)
            except pyarrow.ArrowInvalid:
                source.seek(0)
                reader = pyarrow.ipc.open_stream(source)
            with reader:
                yield reader

    def _column(self, pyarrow: Any, name: str, column: Any) -> Any:
        """Return numbers with NaN, or strings with '', where values are missing."""
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
                f"{self.title}: column {name!r} has type {kind}; numbers, booleans, strings, "
                "dates and dictionaries of these can be read"
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


@contextmanager
def _wrap_arrow_errors(path: Path, pyarrow: Any) -> Iterator[None]:
    """Turn errors of pyarrow into a DataError that names the file."""
    with wrap_read_errors(path):
        try:
            yield
        except DataError:
            raise
        except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, OSError) and error.strerror is not None:
                raise
            reason = str(error).strip().splitlines() or ["it is damaged"]
            raise DataError(f"data file {str(path)!r} cannot be read: {reason[0]}") from error
