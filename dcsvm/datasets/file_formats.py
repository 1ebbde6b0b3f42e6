"""Opening data files, compressed or not, with errors that name the file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from dcsvm.base.errors import DataError

COMPRESSED = (".gz", ".bz2", ".xz")
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def find_suffix(path: Path) -> str:
    """Return the suffix of a file without that of a compression: `.csv` for `a.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_file(path: Path) -> None:
    """Raise if the path is not a file, or if the file is empty."""
    if not path.exists():
        raise DataError(f"data file {str(path)!r} does not exist")
    if not path.is_file():
        what = "a directory" if path.is_dir() else "something else"
        raise DataError(f"data file {str(path)!r} is {what}, not a file")
    if path.stat().st_size == 0:
        raise DataError(f"data file {str(path)!r} is empty")


@contextmanager
def wrap_read_errors(path: Path) -> Iterator[None]:
    """Turn errors while a file is read into a DataError that names the file."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        # gzip and bz2 raise an OSError without strerror if their data are damaged.
        reason = getattr(error, "strerror", None)
        what = "read" if reason else "decompressed"
        reason = reason or "it is damaged or cut short"
        raise DataError(f"data file {str(path)!r} cannot be {what}: {reason}") from error


class DataFile:
    """A data file as a stream of bytes, decompressed if its first bytes say so."""

    def __init__(self, path: Path) -> None:
        self.raw = path.open("rb")
        start = self.raw.read(6)
        self.raw.seek(0)
        opener = next((each for magic, each in _OPENERS.items() if start.startswith(magic)), None)
        self.stream = self.raw if opener is None else cast(BinaryIO, opener(self.raw))

    def read(self, size: int) -> bytes:
        return self.stream.read(size)

    @property
    def bytes_read(self) -> int:
        """Position in the file on disk."""
        return self.raw.tell()

    def __enter__(self) -> DataFile:
        return self

    def __exit__(self, *others: object) -> None:
        if self.stream is not self.raw:
            self.stream.close()
        self.raw.close()
