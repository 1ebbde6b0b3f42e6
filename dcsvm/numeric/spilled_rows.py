"""Rows that were moved out of memory into a temporary file, such as support vectors."""

from __future__ import annotations

import tempfile
import threading
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.mapped_rows import RESIDENT_BYTES, release_pages


class RowSpill:
    """A temporary file without a name, for up to `n_rows` rows of float64 numbers.

    Rows are arrays as any others, but their pages are the system's to drop. The file is gone with
    the last of them.

    Parameters
    ----------
    n_rows, n_features : int
        Space is taken as rows are added.
    folder : str
        Where the file is.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from dcsvm.numeric.spilled_rows import RowSpill
    >>> spill = RowSpill(100, 2, tempfile.gettempdir())
    >>> spill.add(np.ones((3, 2))).sum()
    np.float64(6.0)
    """

    def __init__(self, n_rows: int, n_features: int, folder: str) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            self.mapped = SpilledRows(file, np.float64, "w+", shape=(n_rows, n_features))
        self.length = 0
        _SPILLS[id(self.mapped)] = self.mapped

    def add(self, rows: FloatArray) -> FloatArray:
        """Copy rows (m, n_features) to the file; the same rows, from there."""
        start, self.length = self.length, self.length + len(rows)
        found: FloatArray = self.mapped[start : self.length].view(np.ndarray)
        found[:] = rows
        found.flags.writeable = False
        self.mapped.count_used(rows.nbytes)
        return found

    def has_room(self, rows: Any) -> bool:
        """Whether this is an array of rows that `add` can take."""
        return (
            type(rows) is np.ndarray
            and rows.dtype == np.float64
            and rows.ndim == 2
            and rows.shape[1] == self.mapped.shape[1]
            and self.length + len(rows) <= len(self.mapped)
        )


class SpilledRows(np.memmap[Any, np.dtype[np.float64]]):
    """The rows of a file; its pages are released once many have been used."""

    _used = 0

    def count_used(self, n_bytes: int) -> None:
        with _LOCK:
            self._used += n_bytes
            is_full = self._used > RESIDENT_BYTES
            self._used = 0 if is_full else self._used
        if is_full:
            release_pages(self)


_LOCK = threading.Lock()
_SPILLS: WeakValueDictionary[int, SpilledRows] = WeakValueDictionary()


def release_spills() -> None:
    """Release the pages of all spilled rows to the system, which reads them again when needed."""
    for each in list(_SPILLS.values()):
        release_pages(each)
