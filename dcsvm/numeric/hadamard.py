"""The fast Walsh-Hadamard transform, and random directions that it makes."""

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.distances import as_dense
from dcsvm.numeric.stored_arrays import Stored, axes


def hadamard_transform(values: FloatArray) -> FloatArray:
    """The products of the last axis, a power of two long, with the Hadamard matrix."""
    shape, half = values.shape, 1
    while half < shape[-1]:
        pairs = values.reshape(*shape[:-1], -1, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        values = np.stack([first + second, first - second], axis=-2)
        half *= 2
    return values.reshape(shape)


@attrs.frozen(eq=False)
class HadamardDirections(Stored):
    """Random directions, each like a Gaussian vector: the rows of `S H G P H B`.

    B flips signs, H is the Hadamard matrix, P a permutation, G and S scale: one of each per block.
    A row of d features takes d log d steps, and memory for four vectors.
    """

    signs: FloatArray = attrs.field(metadata=axes("blocks", "length"))
    order: IntArray = attrs.field(
        metadata=axes("blocks", "length", dtype=np.integer, at_least=0, below="length")
    )
    normals: FloatArray = attrs.field(metadata=axes("blocks", "length"))
    scales: FloatArray = attrs.field(metadata=axes("blocks", "length"))

    @classmethod
    def draw(
        cls, generator: np.random.Generator, n_features: int, count: int, scale: float
    ) -> "HadamardDirections":
        """At least `count` directions for rows of n_features, with entries of size `scale`."""
        length = 1 << (n_features - 1).bit_length()
        shape = -(-count // length), length
        normals = generator.normal(size=shape)
        lengths = np.sqrt(generator.chisquare(length, size=shape))
        norms = np.sqrt((normals**2).sum(axis=1, keepdims=True) * length)
        return cls(
            signs=generator.choice([-1.0, 1.0], size=shape),
            order=generator.permuted(np.tile(np.arange(length), (shape[0], 1)), axis=1),
            normals=normals,
            scales=scale * lengths / norms,
        )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        length = sizes["length"]
        if length & (length - 1) or length < sizes.get("features", 1):
            raise ValueError(f"HadamardDirections has blocks of {length}, not a power of two")
        return sizes

    def products(self, X: Matrix) -> FloatArray:
        """The inner products (n, blocks * length) of rows X (n, d) with the directions."""
        length = self.signs.shape[1]
        padded = np.pad(as_dense(X), ((0, 0), (0, length - X.shape[1])))[:, None]
        mixed = hadamard_transform(padded * self.signs)
        mixed = np.take_along_axis(mixed, self.order[None], axis=2)
        turned = hadamard_transform(mixed * self.normals) * self.scales
        return turned.reshape(X.shape[0], -1)
