"""A cache of kernel rows for large problems, with a limit of memory.

The limit is the setting `cache_size` of KernelSVM, in `__init__.py`.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import Floats, Kernel, Rows, address, as_dense, native, row_slices
from dcsvm_plugins.learners.kernel_svm.gram import BLOCK

Integers = npt.NDArray[np.int64]

PANEL = 8
GATHER_FROM = 256
"""From this many features on, entries of small matrices are copied from cached rows."""
SLICE = 4096
"""Columns per thread; fixed, so that results do not depend on the number of threads."""


class KernelRows:
    """Rows of the float32 matrix ``K - shift`` of one problem; the most recently used are kept.

    They take `cache_bytes`, but at least `least` rows fit in any case. Threads of the pool share
    the work.
    """

    def __init__(
        self, kernel: Kernel, X: Rows, cache_bytes: int, least: int, pool: Executor | None
    ) -> None:
        self.kernel, self.pool, self.n = kernel, pool, X.shape[0]
        self.stride = (self.n + PANEL - 1) // PANEL * PANEL
        slots = min(self.n, max(least, cache_bytes // (4 * self.stride)))
        self.store = np.zeros((slots, self.stride), dtype=np.float32)
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self.row_in = np.full(slots, -1, dtype=np.int64)
        self.used = np.zeros(slots, dtype=np.int64)
        self.buffer = np.empty(0, dtype=np.float32)
        self.clock = 0
        self.native = (
            kernel.kind == "rbf" and not sparse.issparse(X) and native.library is not None
        )
        self.shift = 1.0 if kernel.kind in ("rbf", "laplacian") else 0.0
        self.X = X
        if self.native:
            dense = as_dense(X)
            self.X = np.ascontiguousarray(dense - dense.mean(axis=0))
            self.panels, self.squares = pack_rows(self.X, self.stride)

    def square(self, rows: Integers) -> npt.NDArray[np.float32]:
        """The matrix of the given rows, (m, m padded to whole blocks), at most as many as fit.

        The array is overwritten by the next call; allocating a new one would take longer than
        filling it.
        """
        m, library = len(rows), native.library
        wide = (m + BLOCK - 1) // BLOCK * BLOCK
        if self.buffer.size < m * wide:
            self.buffer = np.empty(m * wide, dtype=np.float32)
        out = self.buffer[: m * wide].reshape(m, wide)
        if library is None:
            out[:, :m] = self.store[self._slots(rows)][:, rows]
        elif self.native and self.X.shape[1] <= GATHER_FROM:
            self._compute_square(rows, out)
        else:
            slots = self._slots(rows)
            _share(
                *(self.pool, m, 256, library.dcsvm_gather),
                *(address(self.store), self.stride, address(slots), address(rows), m),
                after=(address(out),),
            )
        out[:, m:] = 0.0
        return out

    def _compute_square(self, rows: Integers, out: npt.NDArray[np.float32]) -> None:
        """With few features, computing is faster than copying entries from the cache."""
        chosen, whole = self.X[rows], (len(rows) + PANEL - 1) // PANEL * PANEL
        panels, squares = pack_rows(chosen, whole)
        places = np.arange(len(rows), dtype=np.int64)
        self._fill(chosen, squares, (panels, squares, whole), places, out)

    def add(self, rows: Integers, steps: Floats, f: Floats) -> None:
        """Add the sum of steps times rows to f, which has `stride` entries.

        If the rows do not fit in the cache, they are added in several parts.
        """
        library = native.library
        for part in row_slices(len(rows), 1, len(self.store)):
            slots, taken = self._slots(rows[part]), np.ascontiguousarray(steps[part])
            if library is None:
                f[: self.n] += taken @ self.store[slots, : self.n].astype(np.float64)
                continue
            _share(
                *(self.pool, self.stride, SLICE, library.dcsvm_add_rows),
                *(address(self.store), self.stride, address(slots), address(taken), len(slots)),
                after=(address(f),),
            )

    def _slots(self, rows: Integers) -> Integers:
        """The places of the rows in the cache; missing rows are computed."""
        self.clock += 1
        known = self.slot_of[rows]
        self.used[known[known >= 0]] = self.clock
        missing = rows[known < 0]
        if len(missing):
            # Least recently used first; a stable sort is the same on all machines.
            free = np.argsort(self.used, kind="stable")[: len(missing)].astype(np.int64)
            old = self.row_in[free]
            self.slot_of[old[old >= 0]] = -1
            self.row_in[free], self.slot_of[missing] = missing, free
            self.used[free] = self.clock
            self._compute(missing, free)
        return self.slot_of[rows]

    def _compute(self, rows: Integers, slots: Integers) -> None:
        library = native.library
        if not self.native or library is None:
            for part in row_slices(len(rows), 24 * self.n, 1 << 28):
                block = self.kernel(self.X[rows[part]], self.X) - self.shift
                self.store[slots[part], : self.n] = block
            return
        points = (self.panels, self.squares, self.stride)
        self._fill(self.X[rows], self.squares[rows], points, slots, self.store)

    def _fill(
        self,
        chosen: Floats,
        chosen_squares: Floats,
        points: tuple[Floats, Floats, int],
        slots: Integers,
        out: npt.NDArray[np.float32],
    ) -> None:
        """Fill rows `slots` of `out` with kernel values of the chosen rows and packed points."""
        library = native.library
        assert library is not None
        _share(
            *(
                self.pool,
                points[2],
                SLICE if points[2] > 4 * SLICE else 512,
                library.dcsvm_rbf_rows,
            ),
            *(address(chosen), address(chosen_squares), len(chosen)),
            *(address(points[0]), address(points[1]), chosen.shape[1], self.kernel.gamma),
            after=(address(slots), out.shape[1], address(out)),
        )


def pack_rows(X: Floats, whole: int) -> tuple[Floats, Floats]:
    """Rows in panels, and their squared norms, both padded to `whole` rows."""
    panels, squares = np.empty(whole * X.shape[1]), np.zeros(whole)
    library = native.library
    assert library is not None
    library.dcsvm_pack(address(X), len(X), X.shape[1], address(panels), address(squares))
    return panels, squares


def _share(
    pool: Executor | None,
    count: int,
    step: int,
    function: Callable[..., Any],
    *before: Any,
    after: tuple[Any, ...],
) -> None:
    """Call ``function(*before, begin, end, *after)`` for slices of range(count)."""
    starts = range(0, count, step)
    ends = [min(count, start + step) for start in starts]

    def work(begin: int, end: int) -> None:
        function(*before, begin, end, *after)

    for _ in (map if pool is None else pool.map)(work, starts, ends):
        pass
