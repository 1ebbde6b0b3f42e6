"""The online support vector machine: LASVM."""

import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import OnlineRun
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion


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
        return OnlineRun.estimate_bytes(n_rows, n_features)

    def fit(self, problem: Problem) -> LocalModel:
        kernel, draw = problem.kernel("rbf", self.gamma), problem.seed.generator()
        costs, targets = self.C * problem.masses, problem.targets
        coefficients, biases = np.zeros(targets.shape), np.zeros(targets.shape[1])
        for column, signs in enumerate(np.ascontiguousarray(targets.T)):
            run = OnlineRun(problem.X, signs, costs, kernel, self.tol)
            biases[column] = run.learn(draw, self.epochs, self.steps)
            coefficients[run.rows, column] = run.duals
        support = np.flatnonzero(coefficients.any(axis=1))
        points, duals = problem.X[support], coefficients[support]
        return KernelExpansion(points, duals, biases, kernel, support)
