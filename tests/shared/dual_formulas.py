"""The dual of the C-SVM by direct formulas in float64, and what libsvm makes of it."""

import warnings

import attrs
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

MOST_ITERATIONS = 300_000
"""Where libsvm is stopped: at a large C it may go on for minutes in its float32 kernel."""


def exact_rbf(X, gamma):
    """The RBF kernel from differences, so that no digit is lost."""
    return np.exp(-gamma * cdist(X, X, "sqeuclidean"))


def objective(K, y, alphas):
    """What is minimised."""
    beta = y * alphas
    return 0.5 * beta @ K @ beta - alphas.sum()


def slopes(K, y, alphas, C):
    """The largest gradient of a coefficient that can fall, the smallest of one that can grow."""
    beta = y * alphas
    gradient = K @ beta - y
    upper, lower = np.where(y > 0, C, 0.0), np.where(y > 0, 0.0, -np.asarray(C))
    falling, growing = gradient[beta > lower], gradient[beta < upper]
    return falling.max(initial=-np.inf), growing.min(initial=np.inf)


def gap(K, y, alphas, C):
    """The largest violation of the optimality conditions."""
    highest, lowest = slopes(K, y, alphas, C)
    return highest - lowest


@attrs.frozen(eq=False)
class Theirs:
    """What libsvm answers: alphas, decisions of the training rows, and how sure those are."""

    alphas: np.ndarray
    decisions: np.ndarray
    objective: float
    gap: float
    doubt: float


def libsvm(K, y, C, tol):
    """Libsvm's solution on a precomputed kernel, judged in the exact one.

    Its decisions are in doubt by its gap and by what its bias is off.
    """
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=float), y.shape))
    model = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=500, max_iter=MOST_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(K, y, sample_weight=bounds)
    alphas = np.zeros(len(y))
    alphas[model.support_] = np.abs(model.dual_coef_[0])
    highest, lowest = slopes(K, y, alphas, bounds)
    off = abs(model.intercept_[0] + 0.5 * (highest + lowest))
    return Theirs(
        *(alphas, model.decision_function(K), objective(K, y, alphas), highest - lowest),
        doubt=0.01 + 2.0 * max(highest - lowest, 0.0) + 2.0 * off,
    )
