"""Ridge regression on Fourier features that a Hadamard transform makes: Fastfood."""

import attrs
import numpy as np
import scipy

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, HadamardDirections, Matrix, axes
from dcsvm.toolbox import GAMMA_HELP, Cost, Gamma

#: Rows that are transformed at a time, to bound the memory.
BLOCK_ROWS = 1024


@attrs.frozen(eq=False)
class FastfoodPlanes(LocalModel):
    """Hyperplanes in the space of the cosines and sines of products with random directions."""

    directions: HadamardDirections
    weights: FloatArray = attrs.field(metadata=axes("waves", "columns"))
    biases: FloatArray = attrs.field(metadata=axes("columns"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        self.directions.check_stored(**sizes)
        if sizes["waves"] % 2 or sizes["waves"] > 2 * self.directions.scales.size:
            raise ValueError("FastfoodPlanes.weights do not fit its directions")
        return sizes

    def waves(self, X: Matrix) -> FloatArray:
        """The features (n, waves): products of two rows' approximate the kernel."""
        angles = self.directions.products(X)[:, : len(self.weights) // 2]
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
    stored_types = (FastfoodPlanes, HadamardDirections)

    frequencies: int = setting(300, at_least=1, help="random directions; two features for each")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    ridge: float = setting(0.01, above=0, help="penalty on the weights")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the waves of a block of rows, with copies, and of the equations."""
        return (30.0 * min(n_rows, BLOCK_ROWS) + 32.0 * self.frequencies) * 2 * self.frequencies

    def fit(self, problem: Problem) -> LocalModel:
        drawn, targets, masses = self._draw(problem), problem.targets, problem.masses
        size = len(drawn.weights) + 1
        normal, right = np.zeros((size, size)), np.zeros((size, targets.shape[1]))
        for start in range(0, problem.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            waves = np.pad(drawn.waves(problem.X[rows]), ((0, 0), (0, 1)), constant_values=1.0)
            weighted = waves.T * masses[rows]
            normal += weighted @ waves
            right += weighted @ targets[rows]
        normal[np.arange(size - 1), np.arange(size - 1)] += self.ridge
        solution = scipy.linalg.solve(normal, right, assume_a="pos")
        return attrs.evolve(drawn, weights=solution[:-1], biases=solution[-1])

    def _draw(self, problem: Problem) -> FastfoodPlanes:
        """The random features, with weights of zero."""
        draw, scale = (
            problem.seed.generator(),
            np.sqrt(2.0 * problem.kernel("rbf", self.gamma).gamma),
        )
        drawn = HadamardDirections.draw(draw, problem.n_features, self.frequencies, scale)
        return FastfoodPlanes(drawn, np.zeros((2 * self.frequencies, 1)), np.zeros(1))
