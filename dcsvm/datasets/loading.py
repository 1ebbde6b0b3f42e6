"""Loading of data files and embedded sets, and the split into training and test rows.

`file_formats.py` finds the reader of a file.

From a file to a model::

    data = read("customers.csv", "churn", categorical=["plan"], missing="impute")
    halves = split(data, 0.25, seed=0)
    model = make_pipeline(TablePreparation(schema=data.schema, missing="impute"), classifier)
    model.fit(data.X[halves.train], data.y[halves.train])
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.base.row_splitting import TrainTestRows, hold_out
from dcsvm.datasets.array_files import read_npz
from dcsvm.datasets.column_roles import ColumnRoles
from dcsvm.datasets.data_file import UTF_8, check_file, find_encoding
from dcsvm.datasets.dataset import Dataset, Fact, check_dataset, check_learnable
from dcsvm.datasets.delimited import Delimited
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.file_formats import MAPPABLE, NUMERIC, READERS, check_suffix, find_suffix
from dcsvm.datasets.raw_table import SparseTable, Table
from dcsvm.datasets.svmlight import Svmlight, read_sparse
from dcsvm.datasets.table_folder import TableFolder
from dcsvm.datasets.table_reader import read_table
from dcsvm.toolbox.missing_values import Missing, MissingTarget
from dcsvm.toolbox.table_schema import Column, TableSchema

__all__ = [
    "Dataset",
    "Fact",
    "load_embedded",
    "open_table",
    "read",
    "split",
]

#: Tables of more bytes than this stay on disk, unless a memory limit says otherwise.
MAPPED_BYTES = 1 << 30


def read(
    source: str | Path,
    target: str | int | None = None,
    *,
    rows: int | None = None,
    header: bool = True,
    categorical: Sequence[str | int] = (),
    drop: Sequence[str | int] = (),
    numeric: Sequence[str | int] = (),
    missing: Missing = "error",
    missing_values: Sequence[str] | None = None,
    missing_target: MissingTarget = "error",
    dates: Sequence[str | int] = (),
    day_first: bool | None = None,
    encoding: str = UTF_8,
    decimal: Literal[".", ","] = ".",
    spill: str | Path | None = None,
) -> Dataset:
    """Read a data file, a folder of Parquet, Feather or Arrow files, or an embedded set by name.

    Parameters
    ----------
    source : str or path
        The name of an embedded set, or a file, which is read according to its suffix.
    target : str or int, optional
        The column with the classes, unless the format defines it: a name or a number, -1 the last.
    rows : int, optional
        Number of rows of a generated set.
    header : bool
        Whether a text file begins with names. Without it, columns are column1, column2, ...
    categorical : sequence of str or int
        Columns of numbers that are categories. Columns of strings always are.
    drop : sequence of str or int
        Columns to leave out.
    numeric : sequence of str or int
        Columns to read as numbers, though they look like row counters, ids or codes.
    missing : {"error", "impute", "mark"}
        With "error", raise if a value is missing. Otherwise it is NaN in X.
    missing_values : sequence of str, optional
        The words that count as missing, in place of `?`, `NA`, `N/A`, `NaN`, `null` and `none`.
    missing_target : {"error", "drop"}
        With "error", raise if a row of a table lacks the target. Otherwise such rows are left out.
    dates : sequence of str or int
        Columns that become year, month, day, weekday (Monday is 0) and seconds since midnight.
    day_first : bool, optional
        Whether dates such as 03/04/2024 begin with the day. Without it, they are errors.
    encoding, decimal : str
        Of CSV and TSV files: such as "latin-1", and "." or "," before the fraction of a number.
    spill : str or path, optional
        An empty folder. The table is then read block by block, and X is mapped from a file there.

    Returns
    -------
    Dataset
        X is (n, d): dense, with categories as indices of their levels in `schema`, or CSR.
    """
    if isinstance(source, str) and source in EMBEDDED:
        return load_embedded(source, rows)
    path = Path(source)
    allowed = missing != "error", missing_target == "drop"
    roles = ColumnRoles(categorical, drop, numeric, dates, day_first, *allowed)
    if not path.is_dir():
        check_file(path)
        if check_suffix(path) in NUMERIC:
            return check_dataset(_read_numbers(path, roles))
    table = open_table(path, header, encoding, decimal)
    assert isinstance(table, Table)
    if missing_values is not None:
        table.missing = frozenset(word.strip().lower() for word in missing_values)
    return check_dataset(read_table(table, target, roles, None if spill is None else Path(spill)))


def _read_numbers(path: Path, roles: ColumnRoles) -> Dataset:
    if roles.dates:
        raise DataError(f"data file {str(path)!r} has numbers only, and no column of `dates`")
    return read_npz(path, roles) if check_suffix(path) == ".npz" else read_sparse(Svmlight(path))


def open_table(
    path: Path, header: bool = True, encoding: str = UTF_8, decimal: str = "."
) -> Table | SparseTable:
    """Open a data file, or a folder of them, whose rows can be read block by block."""
    if path.is_dir():
        return TableFolder(path)
    check_file(path)
    reader, encoding = READERS[check_suffix(path)], find_encoding(encoding)
    if reader is Delimited:
        return Delimited(path, header, encoding, decimal)
    for key, is_usual in (("encoding", encoding == UTF_8), ("decimal", decimal == ".")):
        if not is_usual:
            raise DataError(f"data file {str(path)!r}: {key} is for CSV and TSV files only")
    return reader(path, header)


def measure_shape(source: str | Path) -> tuple[int, int]:
    """Return about how many rows and columns a table has; (0, 0) if unknown.

    Known of Parquet, Feather, Arrow and `.npy` files and folders, without reading them.
    """
    path = Path(source)
    if not path.is_dir() and find_suffix(path) not in MAPPABLE:
        return 0, 0
    table = open_table(path)
    return (table.count_rows(), len(table.names)) if isinstance(table, Table) else (0, 0)


def load_embedded(name: str, rows: int | None = None) -> Dataset:
    """Load an embedded set by name; `rows` is the number of rows of a generated one."""
    if name not in EMBEDDED:
        raise DataError(f"no embedded data set is called {name!r}; {did_you_mean(name, EMBEDDED)}")
    source = EMBEDDED[name]
    X, y, features = source.load(rows or source.rows)
    schema = TableSchema(tuple(map(Column, features)), "class")
    X = np.ascontiguousarray(X, dtype=float)
    return check_dataset(Dataset(name, X, y, features, schema=schema))


def split(data: Dataset, share: float | None, seed: int) -> TrainTestRows:
    """Hold out a share of the rows (a quarter by default), stratified by class.

    A class with a single row stays in the training set. A data set with its own test rows keeps
    them.
    """
    everyone = np.arange(data.n_rows)
    if data.published_test is not None:
        if share is not None:
            raise DataError(
                f"{data.title} comes with its own test rows: leave out `test` in [split]"
            )
        return TrainTestRows(np.setdiff1d(everyone, data.published_test), data.published_test)
    share = 0.25 if share is None else share
    n_test = round(share * data.n_rows)
    if not 0 < n_test < data.n_rows:
        raise DataError(
            f"{data.title}: a test share of {share:g} gives {data.n_rows - n_test} training rows "
            f"and {n_test} test rows of {data.n_rows}; both must have at least one"
        )
    halves = hold_out(data.y, share, stratified=True, seed=seed)
    check_learnable(data, halves.train)
    return halves
