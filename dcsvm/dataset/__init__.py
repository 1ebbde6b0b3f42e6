"""Data in: files and embedded sets become rows with labels, split into training and test rows.

The way from a file to a model::

    data = read("customers.csv", "churn", categorical=["plan"], missing="impute")
    halves = split(data, 0.25, seed=0)
    prepared = Prepared(data.layout, scale="minmax", encode="onehot", missing="impute")
    model = DivideAndConquerClassifier(prepared, pipeline)
    model.fit(data.X[halves.train], data.y[halves.train])
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dcsvm.embedded import EMBEDDED
from dcsvm.errors import DataError, did_you_mean
from dcsvm.layout import Layout
from dcsvm.numeric.matrix import FloatArray, IntArray
from dcsvm.preparation import Missing

#: How a table of text says that a value is not there.
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


@attrs.frozen(eq=False)
class Dataset:
    """Rows X (n, d) with labels y (n,); a set that was published in two halves keeps them."""

    title: str
    X: FloatArray
    y: Any
    features: tuple[str, ...]
    published_test: IntArray | None = None
    layout: Layout | None = None
    facts: tuple[Fact, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.y)


@attrs.frozen
class Fact:
    """What was found out about one column of a file, to be shown."""

    column: str
    kind: str
    about: str = ""


@attrs.frozen(eq=False)
class Halves:
    """The row ids to learn from, and those held out."""

    train: IntArray
    test: IntArray


def read(
    source: str | Path,
    target: str | int | None = None,
    *,
    rows: int | None = None,
    header: bool = True,
    categorical: Sequence[str | int] = (),
    drop: Sequence[str | int] = (),
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
    missing : {"error", "impute", "mark"}
        With "error", a missing value is an error that names its place. Otherwise it is NaN in X.

    Returns
    -------
    Dataset
        X is (n, d): dense, with categories as the places of their levels in `layout`, or CSR.

    Raises
    ------
    DataError
        With the file, the line and the column wherever there are any.
    """
    if isinstance(source, str) and source in EMBEDDED:
        return load_embedded(source, rows)
    return load_file(Path(source), None if target is None else str(target))


def load_embedded(name: str, rows: int | None = None) -> Dataset:
    """Load an embedded set by name; `rows` asks a generated one for another number of rows."""
    source = EMBEDDED[name]
    X, y, features = source.load(rows or source.rows)
    return _checked(Dataset(name, np.asarray(X, dtype=float), y, features))


def load_file(path: Path, target: str | None = None) -> Dataset:
    """Read a data file; its ending says how."""
    if not path.exists():
        raise DataError(f"data file {str(path)!r} does not exist")
    if not path.is_file():
        raise DataError(f"data file {str(path)!r} is a directory, not a file")
    if path.stat().st_size == 0:
        raise DataError(f"data file {str(path)!r} is empty")
    try:
        return _checked(READERS[ending(path)](path, target))
    except OSError as error:
        raise DataError(f"data file {str(path)!r} cannot be read: {error.strerror}") from error


def ending(path: Path) -> str:
    """The ending of a file that can be read, or a DataError that lists them."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise DataError(
            f"data file {str(path)!r} has the ending {suffix!r}, which no reader knows; "
            f"available: {', '.join(READERS)}"
        )
    return suffix


def split(data: Dataset, share: float | None, seed: int) -> Halves:
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
        return Halves(np.setdiff1d(everyone, data.published_test), data.published_test)
    share = 0.25 if share is None else share
    n_test = round(share * data.n_rows)
    if not 0 < n_test < data.n_rows:
        raise DataError(
            f"{data.title}: a test share of {share:g} leaves {data.n_rows - n_test} of "
            f"{data.n_rows} rows to learn from and {n_test} to test on; both need some"
        )
    # Each row's place among its class's shuffled rows, as a share: the lowest places are held out.
    generator = np.random.default_rng(seed)
    place = np.empty(data.n_rows)
    for label in np.unique(data.y):
        rows = generator.permutation(np.flatnonzero(data.y == label))
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    order = np.lexsort((generator.random(data.n_rows), place))
    halves = Halves(np.sort(order[n_test:]), np.sort(order[:n_test]))
    _check_classes(data.title, data.y[halves.train], " left to learn from")
    return halves


def _checked(data: Dataset) -> Dataset:
    """Refuse what nothing can be learned from, wherever it came from."""
    if data.n_rows == 0:
        raise DataError(f"{data.title} has a header but no rows")
    if data.X.shape[1] == 0:
        raise DataError(f"{data.title} has no features: no column is left beside the target")
    _check_classes(data.title, data.y, "")
    return data


def _check_classes(title: str, y: Any, where: str) -> None:
    classes = np.unique(y)
    if len(classes) < 2:
        raise DataError(
            f"{title} has one class only{where} ({classes[0]}): "
            "a classifier needs two classes or more"
        )


def _read_csv(path: Path, target: str | None) -> Dataset:
    title = str(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            header = [name.strip() for name in next(lines, [])]
            place = _target_column(title, header, target)
            rows, labels = [], []
            for row in lines:
                if row:
                    where = f"{title}:{lines.line_num}"
                    labels.append(_label(row, place, header, where))
                    rows.append(_numbers(row, place, header, where))
    except UnicodeDecodeError as error:
        raise DataError(f"data file {title!r} is not text in UTF-8: {error.reason}") from error
    except csv.Error as error:
        raise DataError(f"{title}:{lines.line_num}: not CSV: {error}") from error
    features = tuple(name for name in header if name != target)
    X = np.array(rows, dtype=float).reshape(len(rows), len(features))
    return Dataset(title, X, _labels(labels), features)


def _target_column(title: str, header: list[str], target: str | None) -> int:
    doubles = sorted({name for name in header if header.count(name) > 1})
    if doubles:
        raise DataError(f"{title}:1: two columns are called {doubles[0]!r}; rename one")
    if target not in header:
        raise DataError(
            f"{title} has no column {target!r}, which [data] names as the target; "
            f"{did_you_mean(str(target), header)}"
        )
    return header.index(str(target))


def _label(row: list[str], place: int, header: list[str], where: str) -> str:
    if len(row) != len(header):
        raise DataError(f"{where}: {len(row)} values in a row, but the header has {len(header)}")
    if row[place].strip().lower() in MISSING:
        raise DataError(f"{where}: the target {header[place]!r} is missing")
    return row[place].strip()


def _numbers(row: list[str], place: int, header: list[str], where: str) -> list[float]:
    values = [text for number, text in enumerate(row) if number != place]
    try:
        numbers = [float(text) for text in values]
        if np.isfinite(numbers).all():
            return numbers
    except ValueError:
        pass
    names = [name for number, name in enumerate(header) if number != place]
    for name, text in zip(names, values, strict=True):
        _check_number(name, text, where)
    raise AssertionError("one of the values must have been at fault")


def _check_number(name: str, text: str, where: str) -> None:
    if text.strip().lower() in MISSING:
        raise DataError(
            f"{where}: a value is missing in column {name!r}; "
            "fill it in or leave out the row or the column"
        )
    try:
        finite = bool(np.isfinite(float(text)))
    except ValueError:
        raise DataError(
            f"{where}: {text.strip()!r} in column {name!r} is not a number; "
            "only the target may hold text"
        ) from None
    if not finite:
        raise DataError(f"{where}: {text.strip()!r} in column {name!r} is not finite")


def _labels(texts: list[str]) -> Any:
    """Whole numbers where all labels are, otherwise the texts as they are."""
    try:
        return np.array([int(text) for text in texts])
    except (ValueError, OverflowError):
        return np.array(texts)


def _read_npz(path: Path, target: str | None) -> Dataset:
    title = str(path)
    arrays = _arrays(path)
    if "X_train" not in arrays:
        X, y = (_array(title, arrays, key) for key in ("X", "y"))
        return _from_arrays(title, X, y)
    halves = [[_array(title, arrays, f"{key}_{half}") for key in "Xy"] for half in _HALVES]
    for (X, y), half in zip(halves, _HALVES, strict=True):
        _from_arrays(f"{title} ({half})", X, y)
    (X, y), (X_test, y_test) = halves
    if X.shape[1] != X_test.shape[1]:
        raise DataError(
            f"{title}: X_train has {X.shape[1]} columns, but X_test has {X_test.shape[1]}"
        )
    whole = _from_arrays(title, np.concatenate([X, X_test]), np.concatenate([y, y_test]))
    return attrs.evolve(whole, published_test=np.arange(len(y), len(whole.y)))


_HALVES = ("train", "test")


def _arrays(path: Path) -> dict[str, Any]:
    try:
        # Without pickle: a data file must not be able to run code.
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"data file {str(path)!r} is not an NPZ file of plain arrays") from error


def _array(title: str, arrays: dict[str, Any], key: str) -> Any:
    if key not in arrays:
        raise DataError(f"{title} has no array {key!r}; available: {', '.join(sorted(arrays))}")
    return arrays[key]


def _from_arrays(title: str, X: Any, y: Any) -> Dataset:
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise DataError(
            f"{title}: X must be (n, d) and y (n,), but their shapes are {X.shape} and {y.shape}"
        )
    if X.dtype.kind not in "biuf":
        raise DataError(f"{title}: X must hold numbers, not {X.dtype}")
    if y.dtype.kind not in "biuSU":
        raise DataError(f"{title}: y must hold whole numbers or texts, not {y.dtype}")
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = bad[0]
        raise DataError(f"{title}: X[{row}, {column}] is {X[row, column]}, not a finite number")
    features = tuple(f"x{number}" for number in range(1, X.shape[1] + 1))
    return Dataset(title, np.asarray(X, dtype=float), y, features)


READERS: dict[str, Callable[[Path, str | None], Dataset]] = {".csv": _read_csv, ".npz": _read_npz}
