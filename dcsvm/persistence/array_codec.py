"""Many small arrays as a few .npy entries: one after the other, by dtype."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from dcsvm.persistence.archive import Flaw, Pieces

#: Kinds of dtype that are stored: truth values, integers, floats, complex numbers, bytes, texts.
STORED_KINDS = frozenset("biufcSU")
#: A pool that holds this much is closed: reading takes little more memory than the arrays do.
POOL_BYTES = 2**26

Array: TypeAlias = NDArray[Any]
#: The pool of an array, its shape, and "F" where it is laid out by columns.
Place: TypeAlias = list[Any]


@attrs.define
class _Pool:
    dtype: np.dtype[Any]
    pieces: list[memoryview] = attrs.field(factory=list)
    length: int = 0


@attrs.define
class Packer:
    """Collects arrays, and lays them out in pools.

    An array that is contiguous by rows or by columns keeps that order, since the last bits of a
    product can depend on it; any other becomes contiguous by rows. The dtype is kept as it is,
    with its byte order.
    """

    places: list[Place] = attrs.field(factory=list)
    _pools: list[_Pool] = attrs.field(factory=list)
    _open: dict[str, int] = attrs.field(factory=dict)

    def add(self, array: Array) -> int:
        """Take an array of a stored dtype and return its number."""
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        flat = (array.T if by_columns else array).reshape(-1)
        number = self._pool(flat)
        pool = self._pools[number]
        pool.pieces.append(np.ascontiguousarray(flat).view(np.uint8).data)
        pool.length += len(flat)
        self.places.append([number, list(array.shape), *(["F"] if by_columns else [])])
        return len(self.places) - 1

    def entries(self) -> dict[str, Pieces]:
        """The pools as .npy files by entry name."""
        return {
            _entry(number): [_header(pool.dtype, pool.length), *pool.pieces]
            for number, pool in enumerate(self._pools)
        }

    def _pool(self, flat: Array) -> int:
        key = flat.dtype.str
        number = self._open.get(key)
        if number is not None:
            size = self._pools[number].length * flat.itemsize
            if size == 0 or size + flat.nbytes <= POOL_BYTES:
                return number
        self._pools.append(_Pool(flat.dtype))
        self._open[key] = len(self._pools) - 1
        return self._open[key]


def is_stored(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype can be packed."""
    return dtype.kind in STORED_KINDS and dtype.itemsize > 0


def unpacked(places: list[Place], read: Callable[[str], bytes]) -> list[Array]:
    """The arrays at these places, each with memory of its own."""
    rests: dict[int, Array] = {}
    arrays = []
    for number, shape, *order in places:
        if number not in rests:
            rests[number] = _pool_in(read(_entry(number)))
        rest, size = rests[number], _size(shape)
        if size > len(rest):
            raise Flaw(f"is damaged: an array of shape {shape} is larger than what is stored")
        flat = rest[:size].copy()
        # A pool that is used up lets go of its memory.
        rests[number] = rest[size:] if size < len(rest) else np.empty(0, rest.dtype)
        arrays.append(flat.reshape(shape[::-1]).T if order else flat.reshape(shape))
    for number, rest in rests.items():
        if len(rest):
            raise Flaw(f"is damaged: its entry {_entry(number)!r} holds more than its arrays")
    return arrays


def _size(shape: list[int]) -> int:
    if len(shape) > 32 or any(type(length) is not int or length < 0 for length in shape):
        raise Flaw(f"is damaged: {shape} is not the shape of an array")
    return math.prod(shape)


def _entry(number: int) -> str:
    return f"arrays/{number}.npy"


def _header(dtype: np.dtype[Any], length: int) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    )
    return buffer.getvalue()


def _pool_in(content: bytes) -> Array:
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise Flaw("is damaged: one of its .npy entries has an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    if not is_stored(dtype) or shape != ((len(content) - start) // dtype.itemsize,):
        raise Flaw("is damaged: one of its .npy entries does not hold what its header says")
    return np.frombuffer(content, dtype, offset=start)
