"""Arrays in a model file: arrays of one dtype are concatenated into a few .npy entries."""

import io
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from dcsvm.persistence.model_file_format import FormatError, Pieces

#: Kinds of dtype that can be stored: bool, int, uint, float, complex, bytes, str.
STORED_KINDS = frozenset("biufcSU")
#: A pool of this size is closed, so that reading needs little more memory than the arrays.
POOL_BYTES = 2**26

Array: TypeAlias = NDArray[Any]
#: The pool of an array, its shape, and "F" if it is Fortran-contiguous.
Place: TypeAlias = list[Any]


@attrs.define
class _Pool:
    dtype: np.dtype[Any]
    pieces: list[memoryview] = attrs.field(factory=list)
    length: int = 0


@attrs.define
class ArrayPacker:
    """Collects arrays in pools of one dtype.

    C and Fortran order are kept, since the last bits of a product can depend on them; any other
    layout becomes C-contiguous. The dtype keeps its byte order.
    """

    places: list[Place] = attrs.field(factory=list)
    _pools: list[_Pool] = attrs.field(factory=list)
    _open: dict[str, int] = attrs.field(factory=dict)

    def add(self, array: Array) -> int:
        """Add an array of a storable dtype and return its number."""
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        flat = (array.T if by_columns else array).reshape(-1)
        number = self._choose_pool(flat)
        pool = self._pools[number]
        pool.pieces.append(np.ascontiguousarray(flat).view(np.uint8).data)
        pool.length += len(flat)
        self.places.append([number, list(array.shape), *(["F"] if by_columns else [])])
        return len(self.places) - 1

    def entries(self) -> dict[str, Pieces]:
        """Return the pools as .npy files by entry name."""
        return {
            _name_entry(number): [_build_header(pool.dtype, pool.length), *pool.pieces]
            for number, pool in enumerate(self._pools)
        }

    def _choose_pool(self, flat: Array) -> int:
        number = self._open.get(flat.dtype.str)
        if number is not None:
            size = self._pools[number].length * flat.itemsize
            if size == 0 or size + flat.nbytes <= POOL_BYTES:
                return number
        self._pools.append(_Pool(flat.dtype))
        number = self._open[flat.dtype.str] = len(self._pools) - 1
        return number


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Return whether arrays of this dtype can be packed."""
    return dtype.kind in STORED_KINDS and dtype.itemsize > 0


def unpack_arrays(places: list[Place], read: Callable[[str], bytes]) -> list[Array]:
    """Return copies of the arrays at these places."""
    rests: dict[int, Array] = {}
    arrays = []
    for number, shape, *order in places:
        if number not in rests:
            rests[number] = _read_pool(read(_name_entry(number)))
        rest, size = rests[number], _count_values(shape)
        if size > len(rest):
            raise FormatError(f"is damaged: an array of shape {shape} is larger than its entry")
        flat = rest[:size].copy()
        # An exhausted pool releases its memory.
        rests[number] = rest[size:] if size < len(rest) else np.empty(0, rest.dtype)
        arrays.append(flat.reshape(shape[::-1]).T if order else flat.reshape(shape))
    for number, rest in rests.items():
        if len(rest):
            raise FormatError(f"is damaged: its entry {_name_entry(number)!r} has extra values")
    return arrays


def _count_values(shape: list[int]) -> int:
    if len(shape) > 32 or any(type(length) is not int or length < 0 for length in shape):
        raise FormatError(f"is damaged: {shape} is not a valid array shape")
    return math.prod(shape)


def _name_entry(number: int) -> str:
    return f"arrays/{number}.npy"


def _build_header(dtype: np.dtype[Any], length: int) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    )
    return buffer.getvalue()


def _read_pool(content: bytes) -> Array:
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise FormatError("is damaged: one of its .npy entries has an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    if not is_storable(dtype) or shape != ((len(content) - start) // dtype.itemsize,):
        raise FormatError("is damaged: one of its .npy entries does not match its header")
    return np.frombuffer(content, dtype, offset=start)
