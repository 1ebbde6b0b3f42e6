"""Opening data files, compressed or not, with errors that name the file."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from dcsvm.base.errors import DataError

UTF_8 = "utf-8"
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def check_file(path: Path) -> None:
    """Raise if the path is not a file, or if the file is empty."""
    if not path.exists():
        raise DataError(f"data file {str(path)!r} does not exist")
    if not path.is_file():
        what = "a directory" if path.is_dir() else "something else"
        raise DataError(f"data file {str(path)!r} is {what}, not a file")
    if path.stat().st_size == 0:
        raise DataError(f"data file {str(path)!r} is empty")


def find_encoding(name: str) -> str:
    """Return the usual name of an encoding of text, or raise."""
    try:
        found = codecs.lookup(name)
        "x".encode(found.name)
    except (LookupError, ValueError) as error:
        raise DataError(
            f"no encoding is called {name!r}; common ones are 'utf-8', 'latin-1', 'cp1252' and "
            "'utf-16'"
        ) from error
    return found.name


@contextmanager
def wrap_read_errors(path: Path) -> Iterator[None]:
    """Turn errors while a file is read into a DataError that names the file."""
    try:
        yield
    except UnicodeError as error:
        encoding = getattr(error, "encoding", "text")
        raise DataError(
            f"data file {str(path)!r} is not {encoding}: {error}; name its encoding as `encoding`"
        ) from error
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        # gzip and bz2 raise an OSError without strerror if their data are damaged.
        reason = getattr(error, "strerror", None)
        what = "read" if reason else "decompressed"
        reason = reason or "it is damaged or cut short"
        raise DataError(f"data file {str(path)!r} cannot be {what}: {reason}") from error


class DataFile:
    """A data file as a stream of bytes, decompressed if its first bytes say so.

    Text in another encoding is turned into UTF-8.
    """

    def __init__(self, path: Path, encoding: str = UTF_8) -> None:
        self.raw = path.open("rb")
        start = self.raw.read(6)
        self.raw.seek(0)
        opener = next((each for magic, each in _OPENERS.items() if start.startswith(magic)), None)
        self.stream = self.raw if opener is None else cast(BinaryIO, opener(self.raw))
        self.decoder = None if encoding == UTF_8 else codecs.getincrementaldecoder(encoding)()

    def read(self, size: int) -> bytes:
        if self.decoder is None:
            return self.stream.read(size)
        text, given = "", b" "
        while given and not text:  # a block may end within a letter
            given = self.stream.read(size)
            text = self.decoder.decode(given, final=not given)
        return text.encode()

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
