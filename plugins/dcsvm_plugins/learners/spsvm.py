"""SVMs with a small basis, chosen row by row: SpSVM."""

import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, minimize_squared_hinge
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion


@component
class SpSVM(LocalLearner):
    """An SVM with squared hinge loss over a basis of few rows, chosen greedily.

    Of `candidates` random rows, the one that lowers the objective most by itself joins the basis,
    again and again. Newton's method optimizes all coefficients each time that the basis has
    doubled, and at the end. Each class is separated from the rest (two classes share a model), all
    with one basis. Training takes time linear in the rows and quadratic in `basis`; prediction
    costs `basis` kernel evaluations, usually far fewer than an SVM's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> spsvm = build("learner", "spsvm", basis=10)
    >>> clf = DivideAndConquerClassifier("whole", spsvm, "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Keerthi, Chapelle, DeCoste: Building support vector machines with reduced classifier
    complexity (2006).
    """

    name = "spsvm"
    keeps_support = True
    row_weights = "approximate"

    C: float = setting(1.0, above=0, help="cost of a squared margin violation")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    basis: int = setting(100, at_least=1, help="maximum number of basis rows")
    candidates: int = setting(59, at_least=1, help="random rows that the next one is chosen from")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the kernel values of the basis, and of copies on the way."""
        return 8.0 * n_rows * max(4.8 * min(n_rows, self.basis), 4.0 * self.candidates)

    def fit(self, problem: Problem) -> LocalModel:
        kernel, draw = problem.kernel("rbf", self.gamma), problem.seed.generator()
        targets = problem.targets
        costs, n = self.C * problem.masses, problem.n_rows
        most = min(self.basis, n)
        rows: IntArray = np.zeros(0, dtype=np.intp)
        values = np.ones((n, most + 1))  # kernel values of the basis; the last column is the bias
        weights = np.zeros((most + 1, targets.shape[1]))
        while len(rows) < most:
            size = len(rows)
            drawn = draw.choice(n, size=min(self.candidates, n), replace=False)
            drawn = np.setdiff1d(drawn, rows)
            if not len(drawn):
                continue
            scores = values[:, :size] @ weights[:size] + weights[-1]
            near = kernel(problem.X, problem.X[drawn])
            step, gain = _try_alone(near, scores, weights[-1], targets, costs, drawn)
            best = int(gain.argmax())
            rows, values[:, size] = np.append(rows, drawn[best]), near[:, best]
            weights[size] = step[best]
            if len(rows) & (len(rows) - 1) == 0 or len(rows) == most:
                used = np.append(np.arange(len(rows)), most)
                for column in range(targets.shape[1]):
                    given = values[:, used], rows, targets[:, column], costs
                    start = weights[used, column]
                    weights[used, column] = minimize_squared_hinge(*given, start)
        return KernelExpansion(problem.X[rows], weights[:-1], weights[-1], kernel, rows)


def _try_alone(
    near: FloatArray,
    scores: FloatArray,
    biases: FloatArray,
    targets: FloatArray,
    costs: FloatArray,
    drawn: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Newton's step (candidates, columns) of each candidate alone, and its gain."""
    short = np.maximum(1.0 - targets * scores, 0.0)
    slope = scores[drawn] - biases - near.T @ (costs[:, None] * targets * short)
    bend = 1.0 + (near**2).T @ (costs[:, None] * (short > 0))
    return -slope / bend, (slope**2 / bend).sum(axis=1)
