"""Atomic file writes: write to a temporary file, then rename it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file so that it never exists half written, even if the process is killed."""
    with open_atomically(path) as handle:
        handle.write(content.encode() if isinstance(content, str) else content)


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
