"""Data files opened: what they are, whether compressed, and how much of them has been read."""

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
_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


def ending(path: Path) -> str:
    """What a file's name says it holds, whether compressed or not: `.csv` for `a.csv.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_file(path: Path) -> None:
    """Refuse what is no file, or an empty one."""
    if not path.exists():
        raise DataError(f"data file {str(path)!r} does not exist")
    if not path.is_file():
        what = "a directory" if path.is_dir() else "something else"
        raise DataError(f"data file {str(path)!r} is {what}, not a file")
    if path.stat().st_size == 0:
        raise DataError(f"data file {str(path)!r} is empty")


@contextmanager
def complaints(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into a sentence about the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise DataError(
            f"data file {str(path)!r} cannot be decompressed: it is damaged or cut short"
        ) from error
    except OSError as error:
        if error.strerror is None:  # how bz2 says that its data are damaged
            raise DataError(
                f"data file {str(path)!r} cannot be decompressed: it is damaged or cut short"
            ) from error
        raise DataError(f"data file {str(path)!r} cannot be read: {error.strerror}") from error


class Opened:
    """A data file as a stream of bytes, decompressed where its first bytes ask for it."""

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
        """How far into the file, as it lies on the disk."""
        return self.raw.tell()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *others: object) -> None:
        if self.stream is not self.raw:
            self.stream.close()
        self.raw.close()
