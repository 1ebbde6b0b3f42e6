"""The online support vector machine: LASVM."""

import attrs
import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, Kernel, Matrix
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion

#: Rows of each side that an online run begins with.
FIRST = 5
#: Rows whose margins are computed at a time.
BLOCK_ROWS = 1024


@attrs.define(eq=False)
class OnlineRun:
    """The support vectors so far, their signed duals and gradients; `lows` to `highs` bound duals.

    Only support vectors have kernel values, so memory is linear in them.
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
        for start in range(0, len(slopes), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
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
        room = (most[0] if signs[0] > 0 else 0.0) - self.duals[up]
        spare = self.duals[down] - (0.0 if signs[1] > 0 else -most[1])
        size = min(gap / max(bend, 1e-12), room, spare)
        if not size > 0.0:
            return False
        # A bound that is reached is reached exactly, or rounding would keep the pair in use.
        self.duals[up] = self.duals[up] + room if size == room else self.duals[up] + size
        self.duals[down] = self.duals[down] - spare if size == spare else self.duals[down] - size
        self.slopes -= size * (values[0] - values[1])
        return True


@component
class LaSVM(LocalLearner):
    """LASVM: an SVM that sees the rows one after the other, in random order.

    Each row may become a support vector, by a step with the best partner among those so far; then
    a step with the worst pair follows, which may drop others. After a pass, steps go on until the
    support vectors are optimal. Further passes are over the rows that violate the margin, until
    there are none. With `epochs = 1` each row is seen once, as online, which is usually close to
    the exact SVM. Memory is linear in the support vectors. Each class is separated from the rest;
    two classes share a model. Steps are written in Python, so `kernel_svm` is faster.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("whole", "lasvm", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Bordes, Ertekin, Weston, Bottou: Fast kernel classifiers with online and active learning
    (2005).
    """

    name = "lasvm"
    keeps_support = True
    releases_gil = False
    row_weights = "approximate"

    C: float = setting(1.0, above=0, help="cost of margin violations")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    epochs: int = setting(20, at_least=1, help="maximum number of passes over the rows")
    tol: float = setting(1e-3, above=0, help="optimality gap at the end")
    steps: int = setting(100_000, at_least=1, help="maximum number of steps after a pass")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the kernel values of support vectors, if all rows are."""
        return 4.0 * n_rows**2

    def fit(self, problem: Problem) -> LocalModel:
        kernel, draw = problem.kernel("rbf", self.gamma), problem.seed.generator()
        masses = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        labels = np.arange(1, 2) if problem.n_classes == 2 else np.arange(problem.n_classes)
        coefficients = np.zeros((problem.n_rows, len(labels)))
        biases = np.zeros(len(labels))
        for column, label in enumerate(labels):
            signs = np.where(problem.y == label, 1.0, -1.0)
            run = OnlineRun(problem.X, signs, self.C * masses, kernel, self.tol)
            self._learn(run, draw)
            up, down = run.find_pair()
            biases[column] = (run.slopes[up] + run.slopes[down]) / 2
            coefficients[run.rows, column] = run.duals
        support = np.flatnonzero(coefficients.any(axis=1))
        points, duals = problem.X[support], coefficients[support]
        return KernelExpansion(points, duals, biases, kernel, support)

    def _learn(self, run: OnlineRun, draw: np.random.Generator) -> None:
        order = draw.permutation(len(run.signs))
        sides = (order[run.signs[order] > 0], order[run.signs[order] < 0])
        first = np.concatenate([side[:FIRST] for side in sides])
        run.keep(first, np.zeros(len(first)))
        run.slopes = run.signs[first].copy()
        for _ in range(self.epochs):
            for row in order:
                run.process(int(row))
                run.reprocess()
            for _ in range(self.steps):
                if not run.reprocess():
                    break
            order = draw.permutation(run.find_violators())
            if not len(order):
                break
