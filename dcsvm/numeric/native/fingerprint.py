"""A number for the C sources: a library carries that of those it was built from."""

from __future__ import annotations

import hashlib
from pathlib import Path


def fingerprint(folder: Path) -> int:
    """64 bits of the names and contents of the sources and of how they are built; 0 for none."""
    found = hashlib.sha256()
    sources = sorted([*folder.glob("*.c"), *folder.glob("*.h")])
    for path in [*sources, folder / "build.py"] if sources else []:
        content = path.read_bytes()
        found.update(f"{path.name} {len(content)}\n".encode() + content)
    return int.from_bytes(found.digest()[:8], "little") if sources else 0
