"""Points and coefficients laid out as the compiled library reads them."""

from __future__ import annotations

import ctypes
import itertools
import threading
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.expansion.float32_error_bound import Float32ErrorBound
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense, is_sparse
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.native import ErrorBoundStructure, ExpansionStructure, address

NATIVE_KINDS = {"linear": 0, "rbf": 1, "poly": 2}
MOST_BYTES = 1 << 30
"""Points whose packed copy would be larger than this are left to numpy."""

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Float32Expansion:
    """One expansion in float32, and how far off that may be.

    Parameters
    ----------
    structure : ExpansionStructure
        With a last column of magnitudes, against which errors are measured.
    doubt : Float32ErrorBound
    table : ErrorBoundStructure
        The same for one row at a time.
    arrays : list
        What the structures point into.
    """

    structure: ExpansionStructure
    doubt: Float32ErrorBound
    table: ErrorBoundStructure
    arrays: list[npt.NDArray[Any]]


@attrs.frozen(eq=False, slots=False)
class PackedExpansion:
    """One expansion in float64, moved to the points' mean where that is allowed.

    Parameters
    ----------
    kernel, points, coefficients, sizes
        The expansion: `sizes` says how many points each class has.
    origin : (features,) array
    columns : (depth,) array
        Those in which points differ from the origin. The others add the same to the distances of
        a row from all points, as part of its norm.
    double : ExpansionStructure
    arrays : list
        What the structure points into.
    """

    kernel: Kernel
    points: Floats
    coefficients: Floats
    sizes: Integers
    origin: Floats
    columns: Integers
    double: ExpansionStructure
    arrays: list[npt.NDArray[Any]]
    scratch: threading.local = attrs.field(factory=threading.local)

    @cached_property
    def single(self) -> Float32Expansion:
        """The same in float32, made when first asked: many models never are."""
        arrays: list[npt.NDArray[Any]] = []
        centred = np.ascontiguousarray((self.points - self.origin)[:, self.columns])
        magnitudes = np.abs(self.coefficients).max(axis=1, initial=0.0)
        widened = np.hstack([self.coefficients, magnitudes[:, None]])
        with np.errstate(over="ignore"):  # of what float32 cannot hold, every answer is in doubt
            singles = centred.astype(np.float32)
            structure = _structure(self.kernel, singles, widened, self.sizes, arrays)
        doubt = Float32ErrorBound.of(self.kernel, centred, magnitudes, self.sizes)
        tables = [
            np.ascontiguousarray(each)
            for each in (*doubt.by_exponent(), doubt.weights, doubt.lost)
        ]
        arrays.extend(tables)
        table = ErrorBoundStructure(*(address(each) for each in tables))
        return Float32Expansion(structure, doubt, table, arrays)

    @property
    def room(self) -> int:
        """Numbers that one row's answer needs beside the structures."""
        classes = len(self.sizes)
        padded = int(_starts(self.sizes, 8)[-1] + _starts(self.sizes, 16)[-1])
        features = len(self.origin)
        return 2 * features + padded + classes * (classes - 1) + 5 * classes + 16

    def ask(
        self, library: ctypes.CDLL, X: Floats, precision: str
    ) -> tuple[npt.NDArray[Any], Floats | None]:
        """Sums by row, class and column; in float32 also the share by which each row may be off.

        The share is of the last column. It is infinite where nothing can be said of a row.
        """
        moved, squares = self._moved(X)
        if precision == "float64":
            return self._expand(library.dcsvm_expand_f64, self.double, moved, squares), None
        single = self.single
        shares = single.doubt.shares(squares)
        beyond = np.isinf(shares)
        moved[beyond], known = 0.0, np.where(beyond, 0.0, squares).astype(np.float32)
        singles = moved.astype(np.float32)
        sums = self._expand(library.dcsvm_expand_f32, single.structure, singles, known)
        single.doubt.measure(squares, sums[:, :, -1])
        return sums, shares

    def _moved(self, X: Floats) -> tuple[Floats, Floats]:
        """The rows' columns that count, moved by the origin, and their squared norms."""
        moved = X - self.origin
        squares = np.einsum("ij,ij->i", moved, moved)
        if len(self.columns) < X.shape[1]:
            moved = np.ascontiguousarray(moved[:, self.columns])
        return moved, squares

    def _expand(
        self, function: Any, structure: Any, X: npt.NDArray[Any], squares: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        sums = np.empty((len(X), structure.classes, structure.columns), dtype=X.dtype)
        if not function(structure, address(X), address(squares), len(X), address(sums)):
            raise MemoryError("evaluate: no room for the sums of one tile")
        return sums

    def walk(self, library: ctypes.CDLL, X: Floats, biases: Floats) -> Integers:
        """The labels of rows X by walks, in float64."""
        moved, squares = self._moved(X)
        labels = np.empty(len(X), dtype=np.int64)
        if not library.dcsvm_walk(
            *(self.double, address(moved), address(squares), len(moved)),
            *(address(biases), address(labels)),
        ):
            raise MemoryError("walk: no room for the kernel values of one tile")
        return labels

    def ask_one(self, library: ctypes.CDLL, x: Floats, biases: Floats, walks: bool) -> int:
        """One row's label by votes or by a walk: in float32, and in float64 where it matters."""
        scratch = self.scratch
        if getattr(scratch, "biases", None) is not biases:
            scratch.biases, scratch.keep = biases, np.empty(self.room)
            scratch.front = (self.double, self.single.structure, self.single.table)
            scratch.middle = (address(self.origin), len(self.origin), address(self.columns))
            scratch.back = (address(biases),), (address(scratch.keep),)
        front, (before, after) = scratch.front, scratch.back
        label: int = library.dcsvm_one(*front, address(x), *scratch.middle, *before, walks, *after)
        return label


def pack_expansion(
    kernel: Kernel, points: Rows, coefficients: Floats, counts: Integers | None
) -> PackedExpansion | None:
    """The packed expansion, or None where the library cannot serve it."""
    if backend.library() is None or kernel.kind not in NATIVE_KINDS or is_sparse(points):
        return None
    size = points.shape[0] * points.shape[1] * 8
    if size > MOST_BYTES:
        return None
    rows = as_dense(points)
    moves = kernel.kind == "rbf" and len(rows) > 0
    origin = _middle(rows) if moves else np.zeros(rows.shape[1])
    centred = rows - origin
    differ = centred.any(axis=0)
    columns = np.flatnonzero(differ if differ.any() else ~differ)
    centred = np.ascontiguousarray(centred[:, columns])
    sizes = np.array([len(rows)], dtype=np.int64) if counts is None else counts
    arrays: list[npt.NDArray[Any]] = []
    double = _structure(kernel, centred, coefficients, sizes, arrays)
    return PackedExpansion(kernel, rows, coefficients, sizes, origin, columns, double, arrays)


def _middle(points: Floats) -> Floats:
    """The mean, which is exact in columns of one value."""
    same = (points == points[0]).all(axis=0)
    return np.asarray(np.where(same, points[0], points.mean(axis=0)))


def _starts(sizes: Integers, width: int) -> Integers:
    padded = (sizes + width - 1) // width * width
    return np.concatenate([[0], np.cumsum(padded)]).astype(np.int64)


def _structure(
    kernel: Kernel,
    points: npt.NDArray[Any],
    coefficients: Floats,
    sizes: Integers,
    arrays: list[npt.NDArray[Any]],
) -> ExpansionStructure:
    """Everything padded class by class to whole panels of 64 bytes, and cut into panels."""
    width = 64 // points.itemsize
    starts = _starts(sizes, width)
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
        *(len(sizes), columns, points.shape[1], NATIVE_KINDS[kernel.kind], kernel.degree),
        *(kernel.gamma, kernel.coef0, *(address(array) for array in held)),
    )
