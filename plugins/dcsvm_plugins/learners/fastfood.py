"""Ridge regression on Fourier features that a Hadamard transform makes: Fastfood."""

import attrs
import numpy as np
from scipy import linalg

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, as_dense, axes, hadamard_transform
from dcsvm.toolbox import GAMMA_HELP, Cost, Gamma

#: Rows that are transformed at a time, to bound the memory.
BLOCK_ROWS = 1024


@attrs.frozen(eq=False)
class FastfoodPlanes(LocalModel):
    """Hyperplanes in the space of the cosines and sines of `S H G P H B x`.

    B flips signs, H is the Hadamard matrix, P a permutation, G and S scale: one of each per block.
    """

    signs: FloatArray = attrs.field(metadata=axes("blocks", "length"))
    order: IntArray = attrs.field(metadata=axes("blocks", "length", dtype=np.integer, at_least=0))
    normals: FloatArray = attrs.field(metadata=axes("blocks", "length"))
    scales: FloatArray = attrs.field(metadata=axes("blocks", "length"))
    weights: FloatArray = attrs.field(metadata=axes("waves", "columns"))
    biases: FloatArray = attrs.field(metadata=axes("columns"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        length, frequencies = sizes["length"], self.scales.size
        if length & (length - 1) or length < sizes.get("features", 1):
            raise ValueError(f"FastfoodPlanes has blocks of {length}, not a power of two")
        if (self.order >= length).any() or sizes["waves"] > 2 * frequencies or sizes["waves"] % 2:
            raise ValueError("FastfoodPlanes.order or weights do not fit its blocks")
        return sizes

    def angles(self, X: Matrix) -> FloatArray:
        """The inner products (n, frequencies) of rows with random directions."""
        length = self.signs.shape[1]
        padded = np.pad(as_dense(X), ((0, 0), (0, length - X.shape[1])))[:, None]
        mixed = np.take_along_axis(hadamard_transform(padded * self.signs), self.order[None], 2)
        turned = hadamard_transform(mixed * self.normals) * self.scales
        return np.asarray(turned.reshape(X.shape[0], -1)[:, : len(self.weights) // 2])

    def waves(self, X: Matrix) -> FloatArray:
        """The features (n, waves): products of two rows' approximate the kernel."""
        angles = self.angles(X)
        return np.asarray(np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(angles.shape[1]))

    def scores(self, X: Matrix) -> FloatArray:
        starts = range(0, X.shape[0], BLOCK_ROWS)
        scores = [self.waves(X[start : start + BLOCK_ROWS]) @ self.weights for start in starts]
        return np.vstack([np.zeros((0, len(self.biases))), *scores]) + self.biases

    @property
    def cost(self) -> Cost:
        return Cost(hyperplanes=float(len(self.weights) // 2))


@component
class Fastfood(LocalLearner):
    """Least squares on random Fourier features of a Gaussian kernel, by Hadamard transforms.

    A transform of d features (padded to a power of two) takes d log d steps and three vectors of
    memory instead of the d x d random numbers of plain random features, which pays for hundreds of
    features and more. Training takes time linear in the rows and cubic in `frequencies`. Each
    class has a target of +1 and -1 (two classes share one), a bias and a ridge penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("whole", "fastfood", "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Le, Sarlos, Smola: Fastfood: approximating kernel expansions in loglinear time (2013).
    """

    name = "fastfood"
    keeps_support = False
    stored_types = (FastfoodPlanes,)

    frequencies: int = setting(300, at_least=1, help="random directions; two features for each")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    ridge: float = setting(0.01, above=0, help="penalty on the weights")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the waves of a block of rows, with copies, and of the equations."""
        return (30.0 * min(n_rows, BLOCK_ROWS) + 32.0 * self.frequencies) * 2 * self.frequencies

    def fit(self, problem: Problem) -> LocalModel:
        gamma = problem.kernel("rbf", self.gamma).gamma
        empty = self._draw(problem, gamma)
        labels = np.arange(1, 2) if problem.n_classes == 2 else np.arange(problem.n_classes)
        targets = np.where(problem.y[:, None] == labels, 1.0, -1.0)
        masses = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        size = len(empty.weights) + 1
        normal, right = np.zeros((size, size)), np.zeros((size, len(labels)))
        for start in range(0, problem.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            waves = np.pad(empty.waves(problem.X[rows]), ((0, 0), (0, 1)), constant_values=1.0)
            weighted = waves.T * masses[rows]
            normal += weighted @ waves
            right += weighted @ targets[rows]
        normal[np.arange(size - 1), np.arange(size - 1)] += self.ridge
        solution = linalg.solve(normal, right, assume_a="pos")
        return attrs.evolve(empty, weights=solution[:-1], biases=solution[-1])

    def _draw(self, problem: Problem, gamma: float) -> FastfoodPlanes:
        """The random transform, without weights."""
        draw, length = problem.seed.generator(), 1 << (problem.n_features - 1).bit_length()
        blocks = -(-self.frequencies // length)
        normals = draw.normal(size=(blocks, length))
        lengths = np.sqrt(draw.chisquare(length, size=(blocks, length)))
        norms = np.sqrt((normals**2).sum(axis=1, keepdims=True) * length)
        columns = 1 if problem.n_classes == 2 else problem.n_classes
        return FastfoodPlanes(
            signs=draw.choice([-1.0, 1.0], size=(blocks, length)),
            order=draw.permuted(np.tile(np.arange(length), (blocks, 1)), axis=1),
            normals=normals,
            scales=np.sqrt(2.0 * gamma) * lengths / norms,
            weights=np.zeros((2 * self.frequencies, columns)),
            biases=np.zeros(columns),
        )
