"""Kernel expansions: functions that share kernel and points, packed for the compiled library."""

import ctypes
import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.expansion.float32_error_bound import Float32ErrorBound
from dcsvm.numeric.kernels.distances import Floats, Rows
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.native import ErrorBoundStructure, ExpansionStructure

Integers = npt.NDArray[np.int64]

BLOCK_ROWS = 768
"""Rows per block; fixed, so that results do not depend on the number of threads."""
NATIVE_KINDS = {"linear": 0, "rbf": 1, "poly": 2}
ROW_KINDS = NATIVE_KINDS | {"sigmoid": 3, "trbf": 4}
"""Kernels that single rows are evaluated with; batches leave the others to numpy."""
MOST_BYTES = 1 << 30
"""Points whose packed copy would be larger than this are left to numpy."""


@attrs.frozen(eq=False)
class Float32Expansion:
    """An expansion in float32, with a bound of its rounding error.

    The last column of `structure` holds magnitudes, which error bounds are relative to; `table` is
    the bound as tables, for single rows; `arrays` is the memory that the structures point to.
    """

    structure: ExpansionStructure
    bound: Float32ErrorBound
    table: ErrorBoundStructure
    arrays: list[npt.NDArray[Any]]


@attrs.frozen(eq=False, slots=False)
class PackedExpansion:
    """An expansion in float64, packed; with an RBF kernel, centered at the mean of the points.

    `columns` (depth,) are the features in which points differ from the `origin` (features,). The
    others add the same to the distances between a row and all points, through its norm. `sizes`
    are the points of each class, and `arrays` is the memory that the structure points to.
    """

    kernel: Kernel
    points: Floats
    coefficients: Floats
    sizes: Integers
    origin: Floats
    columns: Integers
    double: ExpansionStructure
    arrays: list[npt.NDArray[Any]]

    @cached_property
    def single(self) -> Float32Expansion:
        """The same in float32, built on first use."""
        arrays: list[npt.NDArray[Any]] = []
        centered = np.ascontiguousarray((self.points - self.origin)[:, self.columns])
        magnitudes = np.abs(self.coefficients).max(axis=1, initial=0.0)
        widened = np.hstack([self.coefficients, magnitudes[:, None]])
        with np.errstate(over="ignore"):  # the bound is infinite for what overflows
            singles = centered.astype(np.float32)
            structure = _build_structure(self.kernel, singles, widened, self.sizes, arrays)
        bound = Float32ErrorBound.of(self.kernel, centered, magnitudes, self.sizes)
        tables = [
            np.ascontiguousarray(each)
            for each in (*bound.by_exponent(), bound.weights, bound.lost)
        ]
        arrays.extend(tables)
        table = ErrorBoundStructure(*(each.ctypes.data for each in tables))
        return Float32Expansion(structure, bound, table, arrays)

    def ask(
        self, library: ctypes.CDLL, X: Floats, precision: str
    ) -> tuple[npt.NDArray[Any], Floats | None]:
        """Return sums by row, class and column; in float32 also a relative error bound by row.

        The bound is relative to the last column, and infinite if nothing is known.
        """
        moved, squares = self.center(X)
        if precision == "float64":
            return self._expand(library.dcsvm_expand_f64, self.double, moved, squares), None
        single = self.single
        shares = single.bound.shares(squares)
        beyond = np.isinf(shares)
        moved[beyond], known = 0.0, np.where(beyond, 0.0, squares).astype(np.float32)
        singles = moved.astype(np.float32)
        sums = self._expand(library.dcsvm_expand_f32, single.structure, singles, known)
        single.bound.measure(squares, sums[:, :, -1])
        return sums, shares

    def center(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the features of centered rows that matter, and the squared norms of the rows."""
        moved = X - self.origin
        squares = np.einsum("ij,ij->i", moved, moved)
        if len(self.columns) < X.shape[1]:
            moved = np.ascontiguousarray(moved[:, self.columns])
        return moved, squares

    def _expand(
        self, function: Any, structure: Any, X: npt.NDArray[Any], squares: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        sums = np.empty((len(X), structure.classes, structure.columns), dtype=X.dtype)
        if not function(structure, X.ctypes.data, squares.ctypes.data, len(X), sums.ctypes.data):
            raise MemoryError("evaluate: not enough memory for the sums of one tile")
        return sums


@attrs.frozen(eq=False)
class Expansion:
    """Functions f(x) = sum_i k(x, point_i) coefficient_i + bias that share kernel and points.

    For a one-vs-one expansion, `counts` (k,) are the points of each class, in order;
    `coefficients` (p, k - 1) are then the compressed ones of `OneVsOneSolution`, and there is a
    bias for each pair. `packed` is for the compiled library, and built by `prepare`.
    """

    kernel: Kernel
    points: Rows
    coefficients: Floats
    biases: Floats
    counts: Integers | None = None
    packed: PackedExpansion | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pack again in another process, as pointers are not valid there."""
        return prepare, (self.kernel, self.points, self.coefficients, self.biases, self.counts)


def prepare(
    kernel: Kernel,
    points: Rows,
    coefficients: npt.ArrayLike,
    biases: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
) -> Expansion:
    """Build an expansion, with its points packed for fast evaluation; arguments as in `Expansion`.

    Examples
    --------
    >>> import numpy as np
    >>> expansion = prepare(Kernel("linear"), np.eye(2), [[1.0], [-1.0]], [0.5])
    >>> evaluate(expansion, np.array([[2.0, 1.0]])).tolist()
    [[1.5]]
    """
    table = np.ascontiguousarray(coefficients, dtype=np.float64)
    offsets = np.ascontiguousarray(biases, dtype=np.float64)
    sizes = None if counts is None else np.ascontiguousarray(counts, dtype=np.int64)
    if table.ndim != 2 or len(table) != points.shape[0]:
        raise ValueError(
            f"prepare: {points.shape[0]} points need as many rows of coefficients, "
            f"got shape {table.shape}"
        )
    if sizes is not None and (sizes.sum() != len(table) or table.shape[1] != len(sizes) - 1):
        raise ValueError(
            f"prepare: {len(sizes)} classes with {sizes.sum()} points do not fit "
            f"coefficients of shape {table.shape}"
        )
    outputs = table.shape[1] if sizes is None else len(sizes) * (len(sizes) - 1) // 2
    if offsets.shape != (outputs,) or (sizes is not None and sizes.min() < 0):
        raise ValueError(
            f"prepare: {outputs} outputs need as many biases, got shape {offsets.shape}, and "
            f"classes of at least 0 points, got {sizes}"
        )
    packed = _pack(kernel, points, table, sizes)
    return Expansion(kernel, points, table, offsets, sizes, packed)


def evaluate(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Floats:
    """Evaluate all functions on rows X (n, d): (n, outputs), or the decisions of all class pairs.

    `precision` is "float64" or "float32". Threads evaluate blocks of rows, and do not affect the
    result.
    """
    result = np.empty((X.shape[0], len(expansion.biases)))

    def answer(rows: slice) -> None:
        sums, _ = sum_by_class(expansion, X[rows], precision)
        if expansion.counts is None:
            result[rows] = sums[:, 0, : len(expansion.biases)] + expansion.biases
        else:
            result[rows] = decisions_from_sums(sums, expansion.biases)

    run_in_blocks(answer, X.shape[0], threads)
    return result


def class_sums(expansion: Expansion, X: Rows) -> Floats:
    """Sum the terms of each class for each of its pairs, for walks over a few pairs.

    Returns sums (n, k, columns) for rows X (n, d): the decision of the pair (a, b), a < b, is [a,
    b - 1] + [b, a] + its bias.
    """
    return np.asarray(sum_by_class(expansion, X, "float64")[0])


def decisions_from_sums(sums: FloatArray, biases: FloatArray) -> Floats:
    """The decisions (n, pairs) of all pairs from the sums (n, k, columns) by class.

    The sum of class a against b is in column b - 1 if b > a, in column b if b < a.
    """
    first, second = np.triu_indices(sums.shape[1], 1)
    return np.asarray(
        sums[:, first, second - 1].astype(np.float64) + sums[:, second, first] + biases
    )


def run_in_blocks(answer: Callable[[slice], None], rows: int, threads: int) -> None:
    """Call `answer` for each block of rows, in threads if there are several."""
    blocks = [slice(start, min(rows, start + BLOCK_ROWS)) for start in range(0, rows, BLOCK_ROWS)]
    if threads <= 1 or rows <= BLOCK_ROWS:
        for block in blocks:
            answer(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(answer, block) for block in blocks]:
            done.result()


def sum_by_class(
    expansion: Expansion, X: Rows, precision: str
) -> tuple[npt.NDArray[Any], Floats | None]:
    """Return sums by row, class and column; in float32 also a relative error bound by row."""
    if precision not in ("float64", "float32"):
        raise ValueError(f"precision must be 'float64' or 'float32', got {precision!r}")
    if expansion.packed is None or native.library is None:
        return _numpy_sums(expansion, X), None
    rows = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return expansion.packed.ask(native.library, rows, precision)


def _numpy_sums(expansion: Expansion, X: Rows) -> Floats:
    sizes = [expansion.points.shape[0]] if expansion.counts is None else expansion.counts
    result = np.empty((X.shape[0], len(sizes), expansion.coefficients.shape[1]))
    ends = np.cumsum(sizes)
    for rows, block in expansion.kernel.in_blocks(X, expansion.points):
        for index, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            part = slice(end - size, end)
            result[rows, index] = block[:, part] @ expansion.coefficients[part]
    return result


def pack_for_rows(expansion: Expansion) -> PackedExpansion | None:
    """Pack an expansion, also of kernels that batches do not evaluate so; None if impossible."""
    given = expansion.kernel, expansion.points, expansion.coefficients, expansion.counts
    return expansion.packed or _pack(*given, ROW_KINDS)


def _pack(
    kernel: Kernel,
    points: Rows,
    coefficients: Floats,
    counts: Integers | None,
    kinds: Mapping[str, int] = NATIVE_KINDS,
) -> PackedExpansion | None:
    """Pack an expansion; None if the compiled library does not support it."""
    if native.library is None or kernel.kind not in kinds or sparse.issparse(points):
        return None
    size = points.shape[0] * points.shape[1] * 8
    if size > MOST_BYTES:
        return None
    rows = np.ascontiguousarray(points, dtype=np.float64)
    moves = kernel.kind == "rbf" and len(rows) > 0
    origin = _find_center(rows) if moves else np.zeros(rows.shape[1])
    centered = rows - origin
    differ = centered.any(axis=0)
    columns = np.flatnonzero(differ if differ.any() else ~differ)
    centered = np.ascontiguousarray(centered[:, columns])
    sizes = np.array([len(rows)], dtype=np.int64) if counts is None else counts
    arrays: list[npt.NDArray[Any]] = []
    double = _build_structure(kernel, centered, coefficients, sizes, arrays)
    return PackedExpansion(kernel, rows, coefficients, sizes, origin, columns, double, arrays)


def _find_center(points: Floats) -> Floats:
    """The mean of the points, exact in constant columns."""
    same = (points == points[0]).all(axis=0)
    return np.asarray(np.where(same, points[0], points.mean(axis=0)))


def panel_starts(sizes: Integers, width: int) -> Integers:
    """The start of each class, padded to whole panels, and the end of the last."""
    padded = (sizes + width - 1) // width * width
    return np.concatenate([[0], np.cumsum(padded)]).astype(np.int64)


def _build_structure(
    kernel: Kernel,
    points: npt.NDArray[Any],
    coefficients: Floats,
    sizes: Integers,
    arrays: list[npt.NDArray[Any]],
) -> ExpansionStructure:
    """Pad points and coefficients of each class to panels of 64 bytes, and pack them."""
    width = 64 // points.itemsize
    starts = panel_starts(sizes, width)
    ends = np.cumsum(sizes)
    place = np.concatenate(
        [np.arange(size) + start for size, start in zip(sizes, starts, strict=False)]
    )
    padded = np.zeros((starts[-1], points.shape[1]), dtype=points.dtype)
    table = np.zeros((starts[-1], coefficients.shape[1]), dtype=points.dtype)
    padded[place], table[place] = points[: ends[-1]], coefficients
    columns = coefficients.shape[1]
    wide = (columns + width - 1) // width * width
    spread = np.zeros((starts[-1], wide), dtype=points.dtype)
    spread[:, :columns] = table
    blocks, lines = [np.empty(0, points.dtype)], [np.empty(0, points.dtype)]
    for begin, end in itertools.pairwise(starts):
        block = spread[begin:end].reshape(end - begin, wide // width, width)
        blocks.append(block.transpose(1, 0, 2).ravel())
        lines.append(table[begin:end].T.ravel())
    panels = padded.reshape(-1, width, points.shape[1]).transpose(0, 2, 1)
    squares = np.einsum("ij,ij->i", padded.astype(float), padded.astype(float))
    held = [
        starts,
        np.ascontiguousarray(panels).ravel(),
        squares.astype(points.dtype),
        np.concatenate(blocks),
        np.concatenate(lines),
    ]
    arrays.extend(held)
    return ExpansionStructure(
        *(len(sizes), columns, points.shape[1], ROW_KINDS[kernel.kind], kernel.degree),
        *(kernel.gamma, kernel.coef0, *(array.ctypes.data for array in held)),
    )
