"""Writers of predictions: CSV, TSV, JSON lines, NPZ, Parquet and Arrow."""

import json
import re
import sys
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dcsvm.base.errors import UsageError
from dcsvm.base.sanitized_text import CONTROLS, FORMULA, escape_controls, quote_formula
from dcsvm.persistence.atomic_write import explain_full_disk, open_atomically

#: One column of some rows: texts, labels or scores.
Values = Sequence[str] | Any


class Writer(ABC):
    """Takes columns, block by block."""

    def __init__(self, file: BinaryIO, names: list[str]) -> None:
        self.file, self.names = file, names
        self.begin()

    def begin(self) -> None:
        """Write what stands before the first row."""
        return

    @abstractmethod
    def write(self, columns: list[Values]) -> None:
        """Write some rows: one sequence for each name."""

    def end(self) -> None:
        """Write what stands after the last row."""
        return


class CsvWriter(Writer):
    """Fields with commas between them; the names come with the first rows, or at the end.

    Formulas are quoted. Where the output is shown, control characters are spelled out.
    """

    delimiter = ","
    is_shown = False

    def begin(self) -> None:
        self.is_named = False

    def write(self, columns: list[Values]) -> None:
        self._write_names()
        self._write_lines([self._format_fields(column) for column in columns])

    def end(self) -> None:
        self._write_names()

    def _write_names(self) -> None:
        if not self.is_named:
            self._write_lines([[self._format_text(name)] for name in self.names])
        self.is_named = True

    def _write_lines(self, fields: list[list[str]]) -> None:
        rows = (
            map(self.delimiter.join, zip(*fields, strict=True)) if len(fields) > 1 else fields[0]
        )
        self.file.write(("\n".join(rows) + "\n").encode())

    def _format_fields(self, column: Values) -> list[str]:
        values = _plain(column)
        if values and not isinstance(values[0], str):
            return list(map(str, values))
        joined = "\0".join(["", *values])
        plain = joined.count("\0") == len(values) and not self._special.search(joined)
        return values if plain else list(map(self._format_text, values))

    @cached_property
    def _special(self) -> re.Pattern[str]:
        """What marks texts that cannot be written as they are, in texts after a zero each."""
        controls = CONTROLS.pattern.replace("\0-", "\1-")
        return re.compile(f'["\n\r{self.delimiter}]|\0(?:{FORMULA.pattern})|{controls}')

    def _format_text(self, text: str) -> str:
        text = quote_formula(text)
        if self.is_shown:
            text = escape_controls(text)
        if re.search(f'["\n\r{self.delimiter}]', text):
            return '"' + text.replace('"', '""') + '"'
        return text


class TsvWriter(CsvWriter):
    """Fields with tabs between them."""

    delimiter = "\t"


class JsonLinesWriter(Writer):
    """One JSON object for each row."""

    def write(self, columns: list[Values]) -> None:
        lines = [
            json.dumps(dict(zip(self.names, row, strict=True)), ensure_ascii=False)
            for row in zip(*map(_plain, columns), strict=True)
        ]
        text = CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", "\n".join(lines))
        self.file.write((text + "\n").encode())


class NpzWriter(Writer):
    """One array for each column; all answers are held until the end."""

    def begin(self) -> None:
        unsafe = next((name for name in self.names if set(name) & set("/\\:")), None)
        if unsafe is not None:
            raise UsageError(
                f"the column {unsafe!r} cannot be an array of a .npz file, where it would be a "
                "path: its name contains /, \\ or a colon; write .csv or .parquet"
            )
        self.blocks: list[list[Any]] = [[] for _ in self.names]

    def write(self, columns: list[Values]) -> None:
        for blocks, column in zip(self.blocks, columns, strict=True):
            blocks.append(np.asarray(column))

    def end(self) -> None:
        # Not np.savez: it takes columns called "file" or "allow_pickle" for its own settings.
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, blocks in zip(self.names, self.blocks, strict=True):
                array = np.concatenate(blocks) if blocks else np.zeros(0)
                with zipped.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)


class ArrowWriter(Writer):
    """An Arrow file (Feather is the same), one record batch for each block."""

    def begin(self) -> None:
        self.pyarrow = _import_pyarrow()
        self.writer: Any = None

    def write(self, columns: list[Values]) -> None:
        arrays = [self.pyarrow.array(_plain(column)) for column in columns]
        batch = self.pyarrow.record_batch(arrays, names=self.names)
        if self.writer is None:
            self.writer = self.open_writer(batch.schema)
        self.writer.write_batch(batch)

    def open_writer(self, schema: Any) -> Any:
        return self.pyarrow.ipc.new_file(self.file, schema)

    def end(self) -> None:
        if self.writer is None:
            self.write([np.zeros(0, dtype=str) for _ in self.names])
        self.writer.close()


class ParquetWriter(ArrowWriter):
    """A Parquet file, one row group for each block."""

    def open_writer(self, schema: Any) -> Any:
        return self.pyarrow.parquet.ParquetWriter(self.file, schema)


WRITERS: dict[str, type[Writer]] = {
    ".csv": CsvWriter,
    ".tsv": TsvWriter,
    ".jsonl": JsonLinesWriter,
    ".npz": NpzWriter,
    ".parquet": ParquetWriter,
    ".feather": ArrowWriter,
    ".arrow": ArrowWriter,
}


def check_out(out: Path) -> None:
    """Raise if the output has an unknown suffix, is a directory, or has no parent directory."""
    if out.suffix.lower() not in WRITERS:
        raise UsageError(
            f"answers cannot be written to {str(out)!r}: no writer has the suffix {out.suffix!r}; "
            f"available: {', '.join(WRITERS)}"
        )
    if out.is_dir():
        raise UsageError(f"answers cannot be written to {str(out)!r}: it is a directory")
    if not out.parent.is_dir():
        raise UsageError(
            f"answers cannot be written to {str(out)!r}: there is no directory {str(out.parent)!r}"
        )
    if issubclass(WRITERS[out.suffix.lower()], ArrowWriter):
        _import_pyarrow()


@contextmanager
def open_answers(out: Path | None, names: list[str]) -> Iterator[Writer]:
    """Open a writer to standard output, or to a file that appears only when complete."""
    if out is None:
        to_terminal = CsvWriter(sys.stdout.buffer, names)
        to_terminal.is_shown = True
        with explain_full_disk("standard output"):
            yield to_terminal
            to_terminal.end()
            sys.stdout.buffer.flush()
        return
    check_out(out)
    try:
        with explain_full_disk(out), open_atomically(out) as file:
            writer = WRITERS[out.suffix.lower()](file, names)
            yield writer
            writer.end()
    except OSError as error:
        raise UsageError(f"answers cannot be written to {str(out)!r}: {error.strerror}") from error


def _plain(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _import_pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            "Parquet and Arrow files need pyarrow, which is not installed: "
            "pip install 'dcsvm[arrow]'"
        ) from error
    return pyarrow
