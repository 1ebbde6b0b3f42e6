"""Data in: files and embedded sets become rows with labels, split into training and test rows.

The way from a file to a model::

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
from dcsvm.datasets.dataset import Dataset, Fact, check_learnable, checked
from dcsvm.datasets.delimited import Delimited
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.file_formats import check_file, ending
from dcsvm.datasets.raw_table import SparseTable, Table
from dcsvm.datasets.svmlight import Svmlight, read_sparse
from dcsvm.datasets.table_reader import gather
from dcsvm.toolbox.table_preparation import Missing
from dcsvm.toolbox.table_schema import Column, TableSchema

__all__ = [
    "NEED_TARGET",
    "READERS",
    "Dataset",
    "Fact",
    "ending",
    "load_embedded",
    "open_table",
    "read",
    "split",
]

#: What opens a file, by its ending. `.gz`, `.bz2` and `.xz` may follow the endings of text files.
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

#: Endings of files that do not say themselves which column holds the classes.
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
        A text is the name of an embedded set, if there is one; a path is always a file, and its
        ending says how it is read.
    target : str or int, optional
        The column that holds the classes: its name, or its number (1 is the first, -1 the last).
        Files that say themselves where the classes are do not need it.
    rows : int, optional
        How many rows to make, of a generated set.
    header : bool
        Whether the first line of a text file holds the names of the columns. Without one, columns
        are called column1, column2, ...
    categorical : sequence of str or int
        Columns of numbers that stand for categories. Columns of text are categories anyway.
    drop : sequence of str or int
        Columns to leave out.
    numeric : sequence of str or int
        Columns of numbers to learn from, whatever they look like: row counters, numbers under the
        name of an id, numbers with leading zeros.
    missing : {"error", "impute", "mark"}
        With "error", a missing value is an error that names its place. Otherwise it is NaN in X.

    Returns
    -------
    Dataset
        X is (n, d): dense, with categories as the places of their levels in `schema`, or CSR.

    Raises
    ------
    DataError
        With the file, the line and the column wherever there are any.
    """
    if isinstance(source, str) and source in EMBEDDED:
        return load_embedded(source, rows)
    path = Path(source)
    check_file(path)
    if known_ending(path) == ".npz":
        return checked(read_npz(path, categorical, drop, numeric, missing != "error"))
    table = open_table(path, header)
    if isinstance(table, Svmlight):
        return checked(read_sparse(table))
    assert isinstance(table, Table)
    return checked(gather(table, target, categorical, drop, numeric, missing != "error"))


def open_table(path: Path, header: bool = True) -> Table | SparseTable:
    """A data file whose rows can be read block by block."""
    check_file(path)
    return READERS[known_ending(path)](path, header)


def known_ending(path: Path) -> str:
    """The ending of a file that can be read, or a DataError that lists them."""
    suffix = ending(path)
    if suffix not in READERS:
        raise DataError(
            f"data file {str(path)!r} has the ending {suffix!r}, which no reader knows; "
            f"available: {', '.join(READERS)}"
        )
    return suffix


def load_embedded(name: str, rows: int | None = None) -> Dataset:
    """Load an embedded set by name; `rows` asks a generated one for another number of rows."""
    if name not in EMBEDDED:
        raise DataError(f"no embedded data set is called {name!r}; {did_you_mean(name, EMBEDDED)}")
    source = EMBEDDED[name]
    X, y, features = source.load(rows or source.rows)
    schema = TableSchema(tuple(map(Column, features)), "class")
    X = np.ascontiguousarray(X, dtype=float)
    return checked(Dataset(name, X, y, features, schema=schema))


def split(data: Dataset, share: float | None, seed: int) -> TrainTestRows:
    """Hold out a share of the rows (a quarter by default), of every class alike.

    A class with a single row stays where models can learn it. A set that was published with its
    own test rows keeps them.
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
            f"{data.title}: a test share of {share:g} leaves {data.n_rows - n_test} of "
            f"{data.n_rows} rows to learn from and {n_test} to test on; both need some"
        )
    halves = hold_out(data.y, share, stratified=True, seed=seed)
    check_learnable(data, halves.train)
    return halves
