"""Rows on disk for fits from Python: of `.npy`, Parquet, Arrow and Feather files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.arrow import Arrow
from dcsvm.datasets.data_file import wrap_read_errors
from dcsvm.datasets.table_folder import find_files
from dcsvm.numeric.mapped_rows import MappedRows


def map_rows(path: str | os.PathLike[str]) -> MappedRows:
    """Map the float64 matrix (n, d) of a `.npy` file: rows to fit on, read where they are needed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from dcsvm.datasets.mapped_tables import map_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(folder + "/X.npy", np.ones((3, 2)))
    ...     map_rows(folder + "/X.npy").shape
    (3, 2)
    """
    path = Path(path)
    with wrap_read_errors(path):
        try:
            return MappedRows.open(path)
        except ValueError as error:
            raise DataError(f"data file {str(path)!r} cannot be mapped: {error}") from error


def map_table(
    source: str | os.PathLike[str], target: str, spill: str | os.PathLike[str]
) -> tuple[MappedRows, Any]:
    """Map the rows of Parquet, Feather or Arrow files, and read the labels in the column `target`.

    The source is a file, or a folder of files, which are read in the order of their names. All
    other columns are features and must be numbers. The files are read once, block by block; their
    rows are written to the `.npy` file `spill`, with 8 bytes for each number, from which parts
    gather theirs: it is best on a fast local disk. `map_rows(spill)` maps it again later. Returns
    the mapped rows X (n, d) and the labels y (n,).

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from dcsvm.datasets.mapped_tables import map_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0], "kind": ["u", "v"]}).to_parquet(folder + "/t.parquet")
    ...     X, y = map_table(folder, "kind", folder + "/X.npy")
    ...     X.tolist(), y.tolist()
    ([[1.0], [2.0]], ['u', 'v'])
    """
    files = find_files(Path(source))
    features = _find_features(files[0], target)
    spill = Path(spill)
    if spill.suffix != ".npy":
        raise DataError(f"the spill file must end in .npy, got {str(spill)!r}")
    labels: list[Any] = []

    def features_of() -> Iterator[Any]:
        for X, y in _blocks(files, features, target):
            labels.append(y)
            yield X

    try:
        X = MappedRows.write(spill, features_of(), len(features))
    except ValueError as error:
        if labels or isinstance(error, DataError):
            raise
        raise DataError(f"{str(source)!r} has no rows") from None
    return X, _join_labels(labels)


def _join_labels(blocks: list[Any]) -> Any:
    """Join blocks of labels; whole numbers become integers."""
    y = np.concatenate(blocks)
    whole = y.dtype.kind == "f" and bool(np.isfinite(y).all() and (y == np.rint(y)).all())
    return y.astype(np.int64) if whole else y


def _find_features(first: Path, target: str) -> tuple[str, ...]:
    names = Arrow(first).names
    if target not in names:
        raise DataError(
            f"data file {str(first)!r} has no column {target!r}; {did_you_mean(target, names)}"
        )
    features = tuple(name for name in names if name != target)
    if not features:
        raise DataError(f"data file {str(first)!r} has no column besides {target!r}")
    return features


def _blocks(
    files: list[Path], features: tuple[str, ...], target: str
) -> Iterator[tuple[Any, Any]]:
    """Yield the features (rows, d) and labels (rows,) of all files, block by block."""
    for path in files:
        table = Arrow(path)
        if sorted(table.names) != sorted((*features, target)):
            raise DataError(f"data file {str(path)!r} has other columns than {str(files[0])!r}")
        place = {name: number for number, name in enumerate(table.names)}
        for block in table.blocks():
            X = np.empty((len(block.columns[0]), len(features)))
            for column, name in enumerate(features):
                values = block.columns[place[name]]
                _check_column(values, name, path)
                X[:, column] = values
            yield X, block.columns[place[target]]


def _check_column(values: Any, name: str, path: Path) -> None:
    """Raise unless a feature holds finite numbers."""
    if values.dtype == object:
        raise DataError(
            f"data file {str(path)!r}: column {name!r} holds texts, and a mapped table holds "
            "numbers only: encode it first"
        )
    if not np.isfinite(values).all():
        raise DataError(
            f"data file {str(path)!r}: column {name!r} has missing or infinite values, which a "
            "mapped table cannot hold: fill them in first"
        )
