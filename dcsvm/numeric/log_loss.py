"""Multinomial logistic regression by L-BFGS."""

import numpy as np
import scipy

from dcsvm.numeric.array_types import FloatArray, IntArray


def minimize_log_loss(
    features: FloatArray, y: IntArray, costs: FloatArray, n_classes: int, iterations: int = 1000
) -> tuple[FloatArray, FloatArray]:
    """The weights (d, k) and biases (k,) with the least regularized log-loss.

    Half the sum of the squared weights plus the loss of each row of `features` (n, d) with
    classes y (n,), times its cost (n,).
    """
    from scipy import optimize  # predicting does not need it

    d = features.shape[1]
    own = (y[:, None] == np.arange(n_classes)).astype(float)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        table = flat.reshape(d + 1, n_classes)
        logs = scipy.special.log_softmax(features @ table[:-1] + table[-1], axis=1)
        slopes = costs[:, None] * (np.exp(logs) - own)
        gradient = np.vstack([features.T @ slopes + table[:-1], slopes.sum(axis=0)])
        value = 0.5 * (table[:-1] ** 2).sum() - costs @ (own * logs).sum(axis=1)
        return float(value), gradient.ravel()

    options = {"maxiter": iterations, "gtol": 1e-6}
    start = np.zeros((d + 1) * n_classes)
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    table = np.asarray(found.x).reshape(d + 1, n_classes)
    return table[:-1], table[-1]
