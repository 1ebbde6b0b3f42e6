"""Files that are whole or not there: written aside, then renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file, so that its name never stands for half of it, whenever the process ends."""
    raw = content.encode() if isinstance(content, str) else content
    aside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with open(aside, "xb") as handle:
            handle.write(raw)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
