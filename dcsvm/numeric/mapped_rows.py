"""Rows in a file: a memory-mapped matrix that travels between processes as a handle."""

from __future__ import annotations

import mmap
import operator
import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray

#: Rows per block of a pass over a file.
BLOCK_ROWS = 1 << 15
#: Ids of rows are turned into an array up to so many bytes, and into a file beyond.
GATHERED_BYTES = 1 << 28
#: Columns are read together up to so many bytes.
COLUMN_BYTES = 1 << 28
#: Pages of the file that gathering may leave in memory.
RESIDENT_BYTES = 1 << 28
PAGE_BYTES = 4096
#: Rows with so many ids are read together.
GATHERED_ROWS = RESIDENT_BYTES // PAGE_BYTES


class MappedRows(np.memmap[Any, np.dtype[np.float64]]):
    """Rows (n, d) of a `.npy` file of float64, read from disk where they are used.

    An array like any other, except that it is read-only and that its pickle is a handle (path,
    place and shape), so that no process receives the rows themselves. The file must be visible
    under the same path wherever the handle goes, and must not change.

    Examples
    --------
    >>> import pickle, tempfile
    >>> import numpy as np
    >>> from dcsvm.numeric import MappedRows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(folder + "/X.npy", np.zeros((10_000, 20)))
    ...     X = MappedRows.open(folder + "/X.npy")
    ...     len(pickle.dumps(X)) < 500
    True
    """

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> MappedRows:
        """Map the matrix of a `.npy` file; ValueError says what is wrong with it."""
        mapped = np.load(Path(path).absolute(), mmap_mode="r")
        if not isinstance(mapped, np.memmap) or mapped.ndim != 2 or mapped.dtype != np.float64:
            raise ValueError(
                f"must hold a matrix of float64, but holds {mapped.dtype} of shape {mapped.shape}"
            )
        if not mapped.flags.c_contiguous:
            raise ValueError("must hold its matrix row by row (C order), but has Fortran order")
        return mapped.view(cls)

    @classmethod
    def write(
        cls, path: str | os.PathLike[str], blocks: Iterable[FloatArray], n_features: int
    ) -> MappedRows:
        """Write blocks of rows (m, n_features) to a `.npy` file, one after the other, and map it.

        Nothing is left under this name if a block cannot be written.
        """
        path = Path(path)
        aside = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with open(aside, "w+b") as out:
                n_rows, start = 0, _write_header(out, 0, n_features)
                for block in blocks:
                    out.write(np.ascontiguousarray(block, dtype=np.float64).data)
                    n_rows += len(block)
                assert _write_header(out, n_rows, n_features) == start
            if not n_rows:
                raise ValueError("must have rows, but there are none")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        return cls.open(path)

    def spill(self, blocks: Iterable[FloatArray], n_features: int) -> MappedRows:
        """Write blocks to a new file beside this one, which lives as long as its rows."""
        name = self._name_neighbour()
        found = self.write(name, blocks, n_features)
        weakref.finalize(found, _remove, name)
        return found

    def permute(self, place: IntArray, n_rows: int) -> MappedRows:
        """Write rows to the places (n,) of a new file of `n_rows`; those at -1 are left out.

        All rows are read once, in order. The file lives as long as its rows.
        """
        name = self._name_neighbour()
        try:
            out = np.lib.format.open_memmap(name, "w+", np.float64, (n_rows, self.shape[1]))
            for start, block in zip(range(0, len(self), BLOCK_ROWS), self.blocks(), strict=True):
                there = place[start : start + len(block)]
                used = there >= 0
                out[there[used]] = block[used]
                if start % (32 * BLOCK_ROWS) == 0:
                    release_pages(out)
            out.flush()
            found = self.open(name)
        except BaseException:
            _remove(name)
            raise
        weakref.finalize(found, _remove, name)
        return found

    def _name_neighbour(self) -> str:
        handle, name = tempfile.mkstemp(".npy", "rows-", Path(str(self.filename)).parent)
        os.close(handle)
        return name

    def blocks(self, rows: IntArray | None = None) -> Iterator[FloatArray]:
        """Yield all rows, or those with some ids, block by block; read pages are given back."""
        n_rows = len(self) if rows is None else len(rows)
        for start in range(0, n_rows, BLOCK_ROWS):
            end = start + BLOCK_ROWS
            yield np.array(self[start:end]) if rows is None else self[rows[start:end]]
            if start % (32 * BLOCK_ROWS) == 0:
                self.release()
        self.release()

    def column_groups(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield the first column and the values (n, m) of some columns at a time.

        If that takes several groups, the columns are first written to a file of their own, so that
        the rows are read once.
        """
        width = max(1, COLUMN_BYTES // (8 * len(self)))
        if width >= self.shape[1]:
            yield 0, self._take_columns(np.empty(self.shape, order="F"))
            return
        with tempfile.TemporaryFile(dir=Path(str(self.filename)).parent) as file:
            columns = np.memmap(file, np.float64, "w+", shape=self.shape, order="F")
            self._take_columns(columns)
            for first in range(0, self.shape[1], width):
                yield first, np.array(columns[:, first : first + width], order="F")
                release_pages(columns)

    def _take_columns(self, found: FloatArray) -> FloatArray:
        """Copy all rows to an array in Fortran order."""
        for start, block in zip(range(0, len(self), BLOCK_ROWS), self.blocks(), strict=True):
            found[start : start + len(block)] = block
            if start % (32 * BLOCK_ROWS) == 0:
                release_pages(found)
        return found

    def release(self) -> None:
        """Release the file's pages to the system, which reads them again when needed."""
        release_pages(self)

    def __array_finalize__(self, source: Any) -> None:
        super().__array_finalize__(source)
        #: Bytes of pages that were read since they were released; views of one file share it.
        self._read = getattr(source, "_read", None) or [0]

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, np.ndarray) and rows.ndim:
            if rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) > GATHERED_ROWS:
                return self._gather(rows)
            self._release_when_full(len(rows))
        found = super().__getitem__(rows)
        is_copy = isinstance(found, MappedRows) and getattr(found, "_mmap", None) is None
        return found.view(np.ndarray) if is_copy else found

    def _gather(self, rows: IntArray) -> FloatArray:
        """The rows with many ids, block by block, so that few pages are in memory at a time."""
        found = np.empty((len(rows), *self.shape[1:]))
        if rows.min() < -len(self) or rows.max() >= len(self):
            raise IndexError(f"a row is out of bounds for {len(self)} rows")
        for start in range(0, len(rows), GATHERED_ROWS):
            some = slice(start, start + GATHERED_ROWS)
            # Without the check of bounds, there is no copy on the way.
            np.take(self.view(np.ndarray), rows[some], axis=0, out=found[some], mode="wrap")
            self.release()
        self._read[0] = 0
        return found

    def _release_when_full(self, n_rows: int) -> None:
        """Release the pages once many rows were read, assuming one page per row."""
        self._read[0] += n_rows * PAGE_BYTES
        if self._read[0] > RESIDENT_BYTES:
            self._read[0] = 0
            self.release()

    @property
    def file(self) -> tuple[str, tuple[int, int]]:
        """The path of the file, and a fingerprint of its version."""
        path = str(self.filename)
        return path, _fingerprint(path)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __reduce__(self) -> Any:
        base = getattr(self, "_mmap", None)
        if base is None or not self.flags.c_contiguous:
            return np.asarray(self).copy().__reduce__()
        address = np.frombuffer(base, dtype=np.uint8).ctypes.data
        skipped = self.offset - self.offset % mmap.ALLOCATIONGRANULARITY
        offset = skipped + self.ctypes.data - address
        path = str(self.filename)
        return _map, (path, offset, self.shape, _fingerprint(path))


def release_pages(mapped: FloatArray) -> None:
    """Release the pages of a mapped array to the system."""
    base = getattr(mapped, "_mmap", None)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _write_header(out: Any, n_rows: int, n_features: int) -> int:
    """Write the header of a `.npy` file, as long for any number of rows; return its length."""
    out.seek(0)
    described = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_features)}
    np.lib.format.write_array_header_1_0(out, described)
    return int(out.tell())


def make_spill_folder() -> str:
    """A new temporary folder for rows; remove those that killed processes of this host left."""
    prefix = f"dcsvm-rows-{socket.gethostname()}-"
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        process = left.name.removeprefix(prefix).partition("-")[0]
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-")


def _is_running(process: int) -> bool:
    """Whether a process of this host runs; assumed if signals do not say."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _map(path: str, offset: int, shape: tuple[int, ...], fingerprint: tuple[int, int]) -> Any:
    if _fingerprint(path) != fingerprint:
        raise OSError(f"{path!r} has changed since its rows were mapped")
    return np.memmap(path, np.float64, "r", offset, shape).view(MappedRows)


def is_visible(path: str, fingerprint: tuple[int, int]) -> bool:
    """Whether this process sees a file of mapped rows; called in a worker."""
    try:
        return _fingerprint(path) == fingerprint
    except OSError:
        return False


def _fingerprint(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


@attrs.frozen(eq=False)
class RowHandle:
    """Some of the rows of mapped rows; what arrives in another process are these rows."""

    source: MappedRows
    rows: IntArray

    def __reduce__(self) -> Any:
        return operator.getitem, (self.source, self.rows)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Rows of a matrix to be sent to another process: a handle if they are in a file."""
    return RowHandle(X, rows) if isinstance(X, MappedRows) else X[rows]


def select_rows(X: Any, rows: IntArray) -> Any:
    """The rows of a matrix with these ids; of many rows in a file, a file beside it."""
    if not isinstance(X, MappedRows) or 8 * len(rows) * X.shape[1] <= GATHERED_BYTES:
        return X[rows]
    if len(rows) == len(X) and bool((np.diff(rows) == 1).all()):
        return X
    return X.spill(X.blocks(rows), X.shape[1])
