"""File formats: which reader a file has, as its suffix says, and what it needs to be told.

Which column is the target is decided in `column_roles.py`.
"""

from collections.abc import Callable
from pathlib import Path

from dcsvm.base.errors import DataError
from dcsvm.datasets.arff import Arff
from dcsvm.datasets.array_files import open_npz
from dcsvm.datasets.arrow import Arrow
from dcsvm.datasets.delimited import Delimited
from dcsvm.datasets.raw_table import SparseTable, Table
from dcsvm.datasets.svmlight import Svmlight
from dcsvm.datasets.table_folder import NpyTable

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
    ".npy": NpyTable,
}

#: Suffixes of files that do not say which column is the target.
NEED_TARGET = frozenset({".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npy"})

#: Suffixes of files whose rows can stay on disk, as those of a folder of them can.
MAPPABLE = frozenset({".parquet", ".feather", ".arrow", ".npy"})

#: Suffixes of text files whose encoding and decimal sign can be named.
TEXT = frozenset({".csv", ".tsv"})
#: Suffixes of files of numbers.
NUMERIC = frozenset({".svm", ".svmlight", ".libsvm", ".npz"})

#: Suffixes of compressed files; the suffix before it says the format.
COMPRESSED = (".gz", ".bz2", ".xz")


def find_suffix(path: Path) -> str:
    """Return the suffix of a file without that of a compression: `.csv` for `a.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_suffix(path: Path) -> str:
    """Return the suffix of a file, or raise if no reader knows it."""
    suffix = find_suffix(path)
    if suffix not in READERS:
        raise DataError(
            f"data file {str(path)!r} has the suffix {suffix!r}, which no reader knows; "
            f"available: {', '.join(READERS)}"
        )
    return suffix
