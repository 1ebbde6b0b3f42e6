"""The fast Walsh-Hadamard transform."""

import numpy as np

from dcsvm.numeric.array_types import FloatArray


def hadamard_transform(values: FloatArray) -> FloatArray:
    """The products of the last axis, a power of two long, with the Hadamard matrix."""
    shape, half = values.shape, 1
    while half < shape[-1]:
        pairs = values.reshape(*shape[:-1], -1, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        values = np.stack([first + second, first - second], axis=-2)
        half *= 2
    return values.reshape(shape)
