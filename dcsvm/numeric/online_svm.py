"""The solver of LASVM: a binary SVM that sees its rows one after the other."""

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.kernel import Kernel

#: Rows of each side that an online run begins with.
FIRST = 5
#: Kernel values that are computed at a time.
BLOCK_VALUES = 2**18


@attrs.define(eq=False)
class OnlineRun:
    """A binary SVM that sees rows X (n, d) one after the other, as LASVM does.

    `signs` (n,) are the labels, `costs` (n,) bound the duals. `rows` (m,) are the support vectors
    so far, with their signed `duals` and gradients. Only they have kernel values, so memory is
    linear in them.
    """

    X: Matrix
    signs: FloatArray
    costs: FloatArray
    kernel: Kernel
    tol: float
    rows: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    duals: FloatArray = attrs.field(factory=lambda: np.zeros(0))
    slopes: FloatArray = attrs.field(factory=lambda: np.zeros(0))
    points: Matrix = None

    @staticmethod
    def estimate_bytes(n_rows: int, n_features: int) -> float:
        """The bytes of a block of kernel values, three times, and of support vectors."""
        return 24.0 * BLOCK_VALUES + 8.0 * n_rows * n_features

    def learn(self, draw: np.random.Generator, epochs: int, steps: int) -> float:
        """Pass over the rows in random order until no row violates the margin; the bias.

        After each pass, up to `steps` steps with the worst pair follow.
        """
        order = draw.permutation(len(self.signs))
        sides = (order[self.signs[order] > 0], order[self.signs[order] < 0])
        first = np.concatenate([side[:FIRST] for side in sides])
        self.keep(first, np.zeros(len(first)))
        self.slopes = self.signs[first].copy()
        for _ in range(epochs):
            for row in order:
                self.process(int(row))
                self.reprocess()
            for _ in range(steps):
                if not self.reprocess():
                    break
            order = draw.permutation(self.find_violators())
            if not len(order):
                break
        up, down = self.find_pair()
        return float((self.slopes[up] + self.slopes[down]) / 2)

    def process(self, row: int) -> None:
        """Let a row become a support vector, if that and a step with another one help."""
        if row in self.rows:
            return
        slope = self.signs[row]
        if len(self.rows):
            slope = slope - float((self.kernel(self.X[[row]], self.points) @ self.duals)[0])
        self.keep(np.append(self.rows, row), np.append(self.duals, 0.0))
        self.slopes = np.append(self.slopes, slope)
        up, down = self.find_pair()
        place = len(self.rows) - 1
        self.step(*((place, down) if self.signs[row] > 0 else (up, place)))

    def reprocess(self) -> bool:
        """Take a step with the worst pair, and drop rows that it left without use."""
        moved = self.step(*self.find_pair())
        up, down = self.find_pair()
        above, below = self.slopes >= self.slopes[up], self.slopes <= self.slopes[down]
        idle = np.where(self.signs[self.rows] > 0, below, above) & (self.duals == 0.0)
        idle[[up, down]] = False
        if idle.any():
            slopes = self.slopes[~idle]
            self.keep(self.rows[~idle], self.duals[~idle])
            self.slopes = slopes
        return moved

    def keep(self, rows: IntArray, duals: FloatArray) -> None:
        """Replace the support vectors and their duals."""
        self.rows, self.duals, self.points = rows, duals, self.X[rows]

    def find_pair(self) -> tuple[int, int]:
        """The dual to raise, and the one to lower: those with the steepest slopes."""
        signs, most = self.signs[self.rows], self.costs[self.rows]
        highs, lows = np.where(signs > 0, most, 0.0), np.where(signs > 0, 0.0, -most)
        up = np.where(self.duals < highs, self.slopes, -np.inf).argmax()
        down = np.where(self.duals > lows, self.slopes, np.inf).argmin()
        return int(up), int(down)

    def find_violators(self) -> IntArray:
        """The rows that would still move if they were support vectors."""
        slopes = self.signs.copy()
        size = max(1, BLOCK_VALUES // len(self.rows))
        for start in range(0, len(slopes), size):
            rows = slice(start, start + size)
            slopes[rows] -= self.kernel(self.X[rows], self.points) @ self.duals
        up, down = self.find_pair()
        above = slopes - self.slopes[down] > self.tol
        below = self.slopes[up] - slopes > self.tol
        return np.setdiff1d(np.flatnonzero(np.where(self.signs > 0, above, below)), self.rows)

    def step(self, up: int, down: int) -> bool:
        """Raise one dual and lower another as far as that helps; whether it did."""
        gap = self.slopes[up] - self.slopes[down]
        if not gap > self.tol:
            return False
        values = self.kernel(self.points[[up, down]], self.points)
        bend = values[0, up] + values[1, down] - 2.0 * values[0, down]
        signs, most = self.signs[self.rows[[up, down]]], self.costs[self.rows[[up, down]]]
        highest = most[0] if signs[0] > 0 else 0.0
        lowest = 0.0 if signs[1] > 0 else -most[1]
        room, spare = highest - self.duals[up], self.duals[down] - lowest
        size = min(gap / max(bend, 1e-12), room, spare)
        if not size > 0.0:
            return False
        # A bound that is reached is reached exactly, or rounding would keep the pair in use.
        self.duals[up] = highest if size == room else self.duals[up] + size
        self.duals[down] = lowest if size == spare else self.duals[down] - size
        self.slopes -= size * (values[0] - values[1])
        return True
