"""Bounds of the rounding error of kernel sums in float32."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats
from dcsvm.numeric.kernels.kernel import Kernel

UNIT = 2.0**-24
"""The largest relative error of rounding to float32."""
CHUNK = 256
"""The compiled library adds this many terms to a partial sum, then adds the partial sums."""
LEAST, EXPONENTS = -63, 128
"""The binary exponents of squared norms that the compiled library has tables for."""
LARGEST, SMALLEST = 1e37, 1e-37
"""Beyond these, float32 may overflow or lose digits."""


@attrs.frozen(eq=False)
class Float32ErrorBound:
    """Bounds of the rounding error in the sums of a packed expansion.

    Every step is counted with its largest possible error, in units of ``UNIT``; d is the number of
    features, S = \\|x\\|^2 + max \\|p\\|^2.

    - An RBF kernel's squared distance is off by at most (2 d + 10) S: d for each of the norm and
      twice the product, 6 for adding them up, 4 for rounding x and p. Multiplied by gamma, itself
      and the product rounded (4 S more), that is what the exponent is off by; the kernel value is
      then off by that power of e, and by 8 for the exponential itself.
    - A polynomial kernel's base is off by (d + 6) B with B = gamma |x| max |p| + \\|coef0\\|, its
      value by degree (d + 7) B^degree. The linear kernel has degree 1.
    - Coefficients are rounded (1), and terms are added in chunks and chunks to sums.

    Parameters
    ----------
    kernel : Kernel
    depth : int
        Columns of the points.
    largest_square : float
        The largest squared norm of a point.
    weights : (classes,) array
        The sum over a class's points of their largest absolute coefficient.
    terms : int
        Points of the largest class.
    """

    kernel: Kernel
    depth: int
    largest_square: float
    weights: Floats
    terms: int

    @classmethod
    def of(
        cls, kernel: Kernel, points: Floats, magnitudes: Floats, sizes: npt.NDArray[np.int64]
    ) -> Float32ErrorBound:
        """The bound for points (m, d), sorted by class, with magnitudes (m,)."""
        squares = np.einsum("ij,ij->i", points, points)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        totals = np.concatenate([[0.0], np.cumsum(magnitudes)])
        return cls(
            *(kernel, points.shape[1], float(squares.max(initial=0.0))),
            *(totals[ends[1:]] - totals[ends[:-1]], int(sizes.max(initial=0))),
        )

    def shares(self, squares: Floats) -> Floats:
        """The error bound of rows with squared norms (n,), relative to what `measure` gives."""
        summing = (min(self.terms, CHUNK) + self.terms // CHUNK + 12.0) * UNIT
        if self.kernel.kind == "rbf":
            size = squares + self.largest_square
            off = self.kernel.gamma * ((2.0 * self.depth + 14.0) * UNIT * size)
            off += self.kernel.gamma * self.depth * SMALLEST
            held = (off < 1.0) & (max(self.kernel.gamma, self.weights.max()) < LARGEST)
            off = np.where(held, off, 0.0)
            shares = 1.01 * (np.expm1(off) + summing * np.exp(off))
        else:
            degree = 1 if self.kernel.kind == "linear" else self.kernel.degree
            size = np.maximum(squares, self.largest_square)
            largest = np.maximum(self._largest_value(squares), 1.0) * max(self.weights.max(), 1.0)
            held = largest < LARGEST
            shares = np.full(len(squares), degree * (self.depth + 7.0) * UNIT + summing)
        return np.where(held & (size < LARGEST), shares, np.inf)

    def measure(self, squares: Floats, magnitudes: npt.NDArray[np.float32]) -> None:
        """Turn sums (n, classes) into the magnitudes that `shares` are relative to, in place.

        They are sums of absolute coefficients times kernel values. If kernel values may be
        negative, they are replaced by upper bounds. Losses by underflow are added.
        """
        if self.kernel.kind != "rbf":
            largest = np.minimum(self._largest_value(squares), LARGEST)
            with np.errstate(over="ignore"):
                magnitudes[:] = np.minimum(largest[:, None] * self.weights, LARGEST)
        magnitudes += self.lost.astype(np.float32)

    @property
    def lost(self) -> Floats:
        """The largest loss by underflow for each class, (classes,)."""
        return np.asarray(np.minimum(SMALLEST * (self.terms + self.weights) / UNIT, LARGEST))

    def by_exponent(self) -> tuple[Floats, Floats]:
        """`shares` and largest kernel values, by the binary exponent of the squared norm of a row.

        Both grow with the norm, so values are for the next power of two. With the RBF kernel, the
        largest kernel value is not used.
        """
        squares = np.ldexp(np.ones(EXPONENTS), np.arange(LEAST, LEAST + EXPONENTS))
        if self.kernel.kind == "rbf":
            return self.shares(squares), np.ones(EXPONENTS)
        return self.shares(squares), np.minimum(self._largest_value(squares), LARGEST)

    def _largest_value(self, squares: Floats) -> Floats:
        """The largest absolute value that the kernel of a row and a point can have."""
        product = np.sqrt(squares) * np.sqrt(self.largest_square)
        if self.kernel.kind == "linear":
            return np.asarray(product)
        with np.errstate(over="ignore"):
            base = self.kernel.gamma * product + abs(self.kernel.coef0)
            # Powers on the way are no larger than this either.
            return np.asarray(np.maximum(base, 1.0) ** self.kernel.degree)
