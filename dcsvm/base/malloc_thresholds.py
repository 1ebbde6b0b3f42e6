"""Memory that a process keeps between large arrays, where an environment has it given back."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The variable of glibc that Dask sets for its workers, so that they give memory back at once.
VARIABLE = "MALLOC_TRIM_THRESHOLD_"
#: What glibc calls its thresholds, and the largest that it chooses by itself.
TRIM, MMAP = -1, -3
KEPT_BYTES, MAPPED_BYTES = 1 << 26, 1 << 25


class _Users:
    """How many threads want memory to be kept."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0

    def change(self, step: int, least: int) -> None:
        with self.lock:
            self.count += step
            if self.count == (step > 0):  # the first one, or none any more
                library = _find_library()
                library.mallopt(TRIM, KEPT_BYTES if step > 0 else least)
                library.mallopt(MMAP, MAPPED_BYTES)
                if step < 0:
                    library.malloc_trim(0)


_USERS = _Users()


@contextmanager
def keep_memory() -> Iterator[None]:
    """Let freed memory be used again in a `with` block, as a process does by default.

    A kernel matrix that is given back is written page by page by the system before the next one,
    which takes longer than a small machine. At the end of the block, it is given back.
    """
    least = os.environ.get(VARIABLE, "")
    if not least.isdigit() or _find_library() is None:
        yield
        return
    _USERS.change(1, int(least))
    try:
        yield
    finally:
        _USERS.change(-1, int(least))


def _find_library() -> Any:
    """The C library of this process, if it is glibc."""
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
