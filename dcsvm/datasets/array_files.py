"""Reader of NPZ files: arrays X and y, with or without a test set, dense or CSR."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.column_roles import ColumnRoles, build_conflict_error
from dcsvm.datasets.data_file import wrap_read_errors
from dcsvm.datasets.dataset import Dataset, Fact, parse_labels
from dcsvm.datasets.raw_table import ArrayBlock, Block, SparseBlock, SparseTable, Table
from dcsvm.numeric.array_types import narrow_indices
from dcsvm.toolbox.table_schema import Column, TableSchema

BLOCK_ROWS = 1 << 14
_HALVES = ("train", "test")
_CSR = ("data", "indices", "indptr", "shape")


class Archive:
    """The arrays of an NPZ file by name."""

    def __init__(self, path: Path) -> None:
        self.title = str(path)
        try:
            with wrap_read_errors(path), path.open("rb") as raw:
                # Without pickle: a data file must not be able to run code.
                file: Any = np.load(raw, allow_pickle=False)
                self.arrays: dict[str, Any] = {key: file[key] for key in file.files}
        except _NOT_NPZ as error:
            raise DataError(
                f"data file {self.title!r} is not an NPZ file of plain arrays"
            ) from error
        self.is_split = any(key in self.arrays for key in ("X_train", "train_data"))

    def pair(self, half: str | None, labelled: bool = True) -> tuple[Any, Any]:
        """Return X and y of one half or of all rows; y may be None unless labels are needed."""
        X = self._features(half)
        y = self._label_array("y" if half is None else f"y_{half}", labelled)
        title = self.title if half is None else f"{self.title} ({half})"
        if X.ndim != 2 or (y is not None and (y.ndim != 1 or X.shape[0] != len(y))):
            shapes = f"{X.shape} and {None if y is None else y.shape}"
            raise DataError(f"{title}: X must be (n, d) and y (n,), but their shapes are {shapes}")
        if X.dtype.kind not in "biuf":
            raise DataError(f"{title}: X must hold numbers, got {X.dtype}")
        return X, y

    def names(self, n_features: int) -> tuple[str, ...]:
        """Return the names of the features; x1, x2, ... if the file has none."""
        given = self.arrays.get("feature_names")
        if given is None:
            return tuple(f"x{number}" for number in range(1, n_features + 1))
        if given.shape != (n_features,) or len(set(given.tolist())) < n_features:
            raise DataError(
                f"{self.title}: feature_names must be {n_features} different names, one for each "
                "column of X"
            )
        return tuple(map(str, given.tolist()))

    def levels(self, X: Any) -> dict[int, tuple[str, ...]]:
        """Return the levels of the categorical columns."""
        columns = self.arrays.get("categorical", np.zeros(0, dtype=int))
        if not columns.size:
            return {}
        if columns.ndim != 1 or columns.dtype.kind not in "iu" or not _within(columns, X.shape[1]):
            raise DataError(
                f"{self.title}: categorical must hold column numbers, 0 to {X.shape[1] - 1}"
            )
        return {int(j): self.levels_of(int(j), X) for j in columns}

    def levels_of(self, j: int, X: Any) -> tuple[str, ...]:
        """Return the levels of one column of codes."""
        values = X[:, [j]].toarray() if sparse.issparse(X) else X[:, j]
        codes = np.unique(values[~np.isnan(values)])
        if len(codes) and (codes.min() < 0 or (codes != np.round(codes)).any()):
            raise DataError(f"{self.title}: categorical column {j} of X must hold codes 0, 1, ...")
        n_levels = int(codes.max()) + 1 if len(codes) else 0
        texts = self.arrays.get(f"levels_{j}")
        if texts is None:
            return tuple(map(str, range(n_levels)))
        if texts.ndim != 1 or len(texts) < n_levels:
            raise DataError(
                f"{self.title}: levels_{j} names {texts.size} levels, but column {j} of X has "
                f"codes up to {n_levels - 1}"
            )
        return tuple(map(str, texts.tolist()))

    def _features(self, half: str | None) -> Any:
        prefix = "" if half is None else f"{half}_"
        if f"{prefix}data" in self.arrays:
            data, indices, indptr, shape = (self._array(f"{prefix}{part}") for part in _CSR)
            if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
                raise DataError(f"{self.title}: the shape of a CSR matrix must be two integers")
            try:
                matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
                matrix.check_format(full_check=True)  # compiled code does not check them
            except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
                raise DataError(
                    f"{self.title}: the parts of a CSR matrix do not fit: {error}"
                ) from error
            return matrix
        return self._array("X" if half is None else f"X_{half}")

    def _label_array(self, key: str, needed: bool) -> Any:
        if not needed and key not in self.arrays:
            return None
        y = self._array(key)
        if y.dtype.kind not in "biuSU":
            raise DataError(f"{self.title}: y must hold integers or strings, got {y.dtype}")
        if y.dtype.kind == "S":
            y = np.char.decode(y, "utf-8", "replace")
        classes = self.arrays.get("classes")
        if classes is None or y.dtype.kind == "U":
            return y
        if classes.ndim != 1 or not _within(y, len(classes)):
            raise DataError(f"{self.title}: y must hold indices 0 to {classes.size - 1}")
        return parse_labels(classes.tolist())[y.astype(np.intp)]

    def _array(self, key: str) -> Any:
        if key not in self.arrays:
            listed = ", ".join(sorted(self.arrays))
            raise DataError(f"{self.title} has no array {key!r}; available: {listed}")
        return self.arrays[key]


_NOT_NPZ = (
    *(ValueError, EOFError, KeyError, TypeError, IndexError, AttributeError, MemoryError),
    *(NotImplementedError, RuntimeError, SyntaxError, UnicodeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error),
)


def read_npz(path: Path, roles: ColumnRoles) -> Dataset:
    """Read a data set, with its test rows if it has some."""
    archive = Archive(path)
    if not archive.is_split:
        return _build_dataset(archive, *archive.pair(None), roles)
    (X, y), (X_test, y_test) = (archive.pair(half) for half in _HALVES)
    if X.shape[1] != X_test.shape[1]:
        raise DataError(
            f"{archive.title}: X_train has {X.shape[1]} columns, but X_test has {X_test.shape[1]}"
        )
    both = sparse.vstack([X, X_test], "csr") if sparse.issparse(X) else np.concatenate([X, X_test])
    whole = _build_dataset(archive, both, np.concatenate([y, y_test]), roles)
    return attrs.evolve(whole, published_test=np.arange(len(y), len(whole.y)))


def _build_dataset(archive: Archive, X: Any, y: Any, roles: ColumnRoles) -> Dataset:
    names = archive.names(X.shape[1])
    _check_finite(archive.title, X, roles.allow_missing)
    levels = archive.levels(X)
    for each in roles.categorical:
        place = _find_column(archive, names, each)
        levels.setdefault(place, archive.levels_of(place, X))
    for each in roles.numeric:
        if (place := _find_column(archive, names, each)) in levels:
            raise build_conflict_error(archive.title, names[place])
    if sparse.issparse(X):
        if levels:
            raise DataError(f"{archive.title}: a sparse X cannot have categorical columns")
        X = narrow_indices(sparse.csr_array(X, dtype=float))
        return Dataset(archive.title, X, y, names, schema=TableSchema((), "y", first_index=0))
    dropped = {_find_column(archive, names, each) for each in roles.drop}
    kept = [j for j in range(X.shape[1]) if j not in dropped]
    X = np.ascontiguousarray(X[:, kept] if dropped else X, dtype=float)
    schema = TableSchema(
        tuple(Column(names[j], levels.get(j)) for j in kept),
        "y",
        left_out=tuple(names[j] for j in sorted(dropped)),
    )
    facts = [
        Fact(name, "dropped" if j in dropped else "category" if j in levels else "number")
        for j, name in enumerate(names)
    ]
    return Dataset(archive.title, X, y, schema.names, schema=schema, facts=tuple(facts))


def _find_column(archive: Archive, names: tuple[str, ...], reference: str | int) -> int:
    if isinstance(reference, int) and 1 <= reference <= len(names):
        return reference - 1
    if reference in names:
        return names.index(str(reference))
    raise DataError(
        f"{archive.title} has no column {reference!r}; {did_you_mean(str(reference), names)}"
    )


def _check_finite(title: str, X: Any, allow_missing: bool) -> None:
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    allowed = np.isfinite(values)
    if allow_missing and not sparse.issparse(X):
        allowed |= np.isnan(values)
    if allowed.all():
        return
    if sparse.issparse(X):
        raise DataError(f"{title}: the sparse X holds {values[~allowed][0]}, which is not finite")
    row, column = np.argwhere(~allowed)[0]
    advice = '; fill it in, or say `missing = "impute"`' if np.isnan(X[row, column]) else ""
    raise DataError(f"{title}: X[{row}, {column}] is {X[row, column]}, not finite{advice}")


def _within(codes: Any, n: int) -> bool:
    return bool(codes.size == 0 or (codes.min() >= 0 and codes.max() < n))


class NpzTable(Table):
    """The rows of a dense NPZ file to predict: those of the test set, if there is one."""

    has_lines = False

    def __init__(self, archive: Archive) -> None:
        self.title = archive.title
        self.X, self.y = archive.pair("test" if archive.is_split else None, labelled=False)
        self.names = (*archive.names(self.X.shape[1]), "y")
        self.levels = archive.levels(self.X)
        if self.y is None:
            self.names = self.names[:-1]

    def blocks(self) -> Iterator[Block]:
        for start in range(0, len(self.X), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            columns = [self._column(rows, j) for j in range(self.X.shape[1])]
            if self.y is not None:
                columns.append(np.array([str(each) for each in self.y[rows]], dtype=object))
            yield ArrayBlock(columns, range(start + 1, start + 1 + len(self.X[rows])))

    def _column(self, rows: slice, j: int) -> Any:
        values = self.X[rows, j].astype(float)
        if j not in self.levels:
            return values
        texts = np.array([*self.levels[j], ""], dtype=object)
        return texts[np.where(np.isnan(values), len(texts) - 1, values).astype(np.intp)]


class NpzSparseTable(SparseTable):
    """The rows of a sparse NPZ file to predict."""

    by_number = False

    def __init__(self, archive: Archive) -> None:
        self.title = archive.title
        self.X, self.y = archive.pair("test" if archive.is_split else None, labelled=False)

    def blocks(self) -> Iterator[SparseBlock]:
        for start in range(0, self.X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            labels = None if self.y is None else self.y[rows]
            yield SparseBlock(sparse.csr_array(self.X[rows], dtype=float), labels, start + 1)


def open_npz(path: Path, header: bool) -> Table | SparseTable:
    """Open an NPZ file whose rows are to be predicted."""
    archive = Archive(path)
    is_sparse = ("test_data" if archive.is_split else "data") in archive.arrays
    return NpzSparseTable(archive) if is_sparse else NpzTable(archive)
