"""Tables in several files, and matrices in `.npy` files, read block by block."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.arrow import Arrow
from dcsvm.datasets.data_file import wrap_read_errors
from dcsvm.datasets.raw_table import ArrayBlock, Table

#: Endings of the files that pyarrow reads.
ARROW_ENDINGS = (".parquet", ".feather", ".arrow")
BLOCK_ROWS = 1 << 15


def find_files(source: Path) -> list[Path]:
    """List the Parquet, Feather and Arrow files of a folder by name, or the file itself."""
    if not source.is_dir():
        return [source]
    files = sorted(each for each in source.rglob("*") if each.suffix.lower() in ARROW_ENDINGS)
    if not files:
        raise DataError(
            f"the folder {str(source)!r} holds no file that ends in {', '.join(ARROW_ENDINGS)}"
        )
    return files


class TableFolder(Table):
    """The Parquet, Feather and Arrow files of a folder as one table, in the order of names.

    Places are rows of the whole table, counted from 1.
    """

    has_lines = False

    def __init__(self, path: Path, header: bool = True) -> None:
        super().__init__(path)
        self.tables = [Arrow(each) for each in find_files(path)]
        self.names, self.typed_dates = self.tables[0].names, self.tables[0].typed_dates
        for table in self.tables:
            if sorted(table.names) != sorted(self.names):
                raise DataError(
                    f"data file {table.title!r} has other columns than {self.tables[0].title!r}"
                )

    def count_rows(self) -> int:
        return sum(table.count_rows() for table in self.tables)

    def blocks(self) -> Iterator[ArrayBlock]:
        first = 1
        for table in self.tables:
            place = {name: number for number, name in enumerate(table.names)}
            for block in table.blocks():
                columns = [block.columns[place[name]] for name in self.names]
                yield ArrayBlock(columns, range(first, first + block.n_rows))
                first += block.n_rows


class NpyTable(Table):
    """The numbers of a `.npy` file; columns are called x1, x2, ..., places are rows from 1."""

    has_lines = False
    has_names = False

    def __init__(self, path: Path, header: bool = True) -> None:
        super().__init__(path)
        try:
            with wrap_read_errors(path):
                self.X: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise DataError(f"data file {str(path)!r} is not a matrix of numbers") from error
        is_matrix = isinstance(self.X, np.memmap) and self.X.ndim == 2
        if not is_matrix or self.X.dtype.kind not in "biuf":
            raise DataError(
                f"data file {str(path)!r} must hold a matrix of numbers, but holds "
                f"{self.X.dtype} of shape {self.X.shape}"
            )
        self.names = tuple(f"x{number}" for number in range(1, self.X.shape[1] + 1))

    def count_rows(self) -> int:
        return len(self.X)

    def blocks(self) -> Iterator[ArrayBlock]:
        for start in range(0, len(self.X), BLOCK_ROWS):
            block = np.asarray(self.X[start : start + BLOCK_ROWS], dtype=np.float64)
            yield ArrayBlock(list(block.T), range(start + 1, start + 1 + len(block)))
