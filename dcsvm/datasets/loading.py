"""Loading of data files and embedded sets, and the split into training and test rows.

From a file to a model::

    data = read("customers.csv", "churn", categorical=["plan"], missing="impute")
    halves = split(data, 0.25, seed=0)
    model = make_pipeline(TablePreparation(schema=data.schema, missing="impute"), classifier)
    model.fit(data.X[halves.train], data.y[halves.train])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.base.row_splitting import TrainTestRows, hold_out
from dcsvm.datasets.arff import Arff
from dcsvm.datasets.array_files import open_npz, read_npz
from dcsvm.datasets.arrow import Arrow
from dcsvm.datasets.dataset import ColumnRoles, Dataset, Fact, check_dataset, check_learnable
from dcsvm.datasets.delimited import Delimited
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.file_formats import check_file, find_suffix
from dcsvm.datasets.raw_table import SparseTable, Table
from dcsvm.datasets.svmlight import Svmlight, read_sparse
from dcsvm.datasets.table_reader import read_table
from dcsvm.toolbox.table_preparation import Missing
from dcsvm.toolbox.table_schema import Column, TableSchema

__all__ = [
    "NEED_TARGET",
    "READERS",
    "Dataset",
    "Fact",
    "load_embedded",
    "open_table",
    "read",
    "split",
]

#: Readers by file suffix. `.gz`, `.bz2` and `.xz` may follow the suffix of text files.
READERS: dict[str, Callable[[Path, bool], Table | SparseTable]] = {
    ".csv": Delimited,
    ".tsv": Delimited,
    ".svm": Svmlight,
    ".svmlight": Svmlight,
    ".libsvm": Svmlight,
    ".arff": Arff,
    ".npz": open_npz,
    ".parquet": Arrow,
    ".feather": Arrow,
    ".arrow": Arrow,
}

#: Suffixes of files that do not say which column is the target.
NEED_TARGET = frozenset({".csv", ".tsv", ".parquet", ".feather", ".arrow"})


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
) -> Dataset:
    """Read a data file, or an embedded set by its name.

    Parameters
    ----------
    source : str or path
        A string is the name of an embedded set, if there is one; a path is always a file, which is
        read according to its suffix.
    target : str or int, optional
        The column with the classes: its name, or its number (1 is the first, -1 the last). Not
        needed for formats that define it.
    rows : int, optional
        Number of rows of a generated set.
    header : bool
        Whether the first line of a text file holds the column names. Without it, columns are
        called column1, column2, ...
    categorical : sequence of str or int
        Columns of numbers that are categories. Columns of strings always are.
    drop : sequence of str or int
        Columns to leave out.
    numeric : sequence of str or int
        Columns to read as numbers, even if they look like row counters, ids or codes with leading
        zeros.
    missing : {"error", "impute", "mark"}
        With "error", raise if a value is missing. Otherwise it is NaN in X.

    Returns
    -------
    Dataset
        X is (n, d): dense, with categories as indices of their levels in `schema`, or CSR.

    Raises
    ------
    DataError
        With the file, and with the line and the column if there are any.
    """
    if isinstance(source, str) and source in EMBEDDED:
        return load_embedded(source, rows)
    path = Path(source)
    check_file(path)
    roles = ColumnRoles(categorical, drop, numeric, missing != "error")
    if check_suffix(path) == ".npz":
        return check_dataset(read_npz(path, roles))
    table = open_table(path, header)
    if isinstance(table, Svmlight):
        return check_dataset(read_sparse(table))
    assert isinstance(table, Table)
    return check_dataset(read_table(table, target, roles))


def open_table(path: Path, header: bool = True) -> Table | SparseTable:
    """Open a data file whose rows can be read block by block."""
    check_file(path)
    return READERS[check_suffix(path)](path, header)


def check_suffix(path: Path) -> str:
    """Return the suffix of a file, or raise if no reader knows it."""
    suffix = find_suffix(path)
    if suffix not in READERS:
        raise DataError(
            f"data file {str(path)!r} has the suffix {suffix!r}, which no reader knows; "
            f"available: {', '.join(READERS)}"
        )
    return suffix


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
