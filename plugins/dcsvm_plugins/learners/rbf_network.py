"""The radial basis function network."""

import numpy as np
import scipy
from scipy import sparse

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import IntArray, Matrix, make_kernel
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion


@component
class RBFNetwork(LocalLearner):
    """Gaussian basis functions at random training rows, with weights by least squares.

    Each class has a target of +1 and -1 (two classes share one), a bias, and a ridge penalty.
    Training takes time linear in the rows and cubic in `centres`; prediction costs `centres`
    kernel evaluations, however many rows there are. The centres are not tuned, so an SVM is
    usually more accurate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> network = build("learner", "rbf_network", centres=20)
    >>> clf = DivideAndConquerClassifier("whole", network, "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Broomhead, Lowe: Multivariable functional interpolation and adaptive networks (1988).
    """

    name = "rbf_network"
    keeps_support = True

    centres: int = setting(100, at_least=1, help="maximum number of basis functions")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    ridge: float = setting(1e-3, above=0, help="penalty on the weights")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the basis functions at all rows, of a copy, and of blocks."""
        return 20.0 * n_rows * (1 + min(n_rows, self.centres)) + 4.0 * n_rows * n_features

    def fit(self, problem: Problem) -> LocalModel:
        kernel = make_kernel("rbf", self.gamma, 3, 0.0, problem.X, problem.weights)
        # Draw among distinct rows, so that a duplicate counts like a row of weight 2.
        different = _find_distinct(problem.X)
        drawn = problem.seed.generator().permutation(len(different))[: self.centres]
        rows = different[np.sort(drawn)]
        points = problem.X[rows]
        bumps = np.hstack([kernel(problem.X, points), np.ones((problem.n_rows, 1))])
        weights = problem.masses
        targets = problem.targets
        normal = bumps.T @ (bumps * weights[:, None])
        places = np.arange(len(rows))
        normal[places, places] += self.ridge
        solution = scipy.linalg.lstsq(normal, bumps.T @ (targets * weights[:, None]))[0]
        return KernelExpansion(points, solution[:-1], solution[-1], kernel, rows)


def _find_distinct(X: Matrix) -> IntArray:
    """Return the first of each set of equal rows, in an order independent of duplicates."""
    if not sparse.issparse(X):
        return np.asarray(np.unique(X, axis=0, return_index=True)[1])
    X = X.sorted_indices()
    keys = [
        X.indices[start:stop].astype(np.int64).tobytes() + X.data[start:stop].tobytes()
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    first: dict[bytes, int] = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    return np.array([first[key] for key in sorted(first)], dtype=np.intp)
