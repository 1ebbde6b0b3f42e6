"""Atomic file writes through a temporary file, and the error of a full disk."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dcsvm.base.errors import DiskFullError

#: Errors of a full device, a used quota and a limit on the size of files.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write_atomically(path: Path, content: bytes | str, *, title: Path | None = None) -> None:
    """Write a file so that it never exists half written; errors call it `title` or its path."""
    encoded = content.encode() if isinstance(content, str) else content
    with explain_full_disk(title or path, len(encoded)), open_atomically(path) as handle:
        handle.write(encoded)


@contextmanager
def explain_full_disk(path: str | Path, n_bytes: int | None = None) -> Iterator[None]:
    """Raise a DiskFullError with the bytes needed, if known, and those free in the folder."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        needed = "" if n_bytes is None else f"it takes {_format_bytes(n_bytes)}, and "
        folder = next(each for each in Path(path).absolute().parents if each.is_dir())
        free = f"{_format_bytes(shutil.disk_usage(folder).free)} are free in {str(folder)!r}"
        reason = (error.strerror or "no room").lower()
        raise DiskFullError(f"cannot write {str(path)!r}: {reason}; {needed}{free}") from error


def _format_bytes(n: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:,.1f} {unit}"
    return f"{n} bytes"


@contextmanager
def open_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` on success and is removed on error."""
    final = os.path.realpath(path)
    folder = os.path.dirname(final)
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, final)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # not every system can sync a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
