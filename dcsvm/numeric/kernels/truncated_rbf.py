"""The feature map of the truncated RBF kernel, and the truncated exponential series."""

from math import comb

import numpy as np

from dcsvm.numeric.kernels.distances import Floats, squared_norms


def truncated_exponential(values: Floats, order: int) -> Floats:
    """The exponential series of each value, truncated after the given order."""
    result = np.ones_like(values, dtype=np.float64)
    # Horner's scheme: 1 + v (1 + v/2 (1 + v/3 (...))).
    for k in range(order, 0, -1):
        result *= values
        result /= k
        result += 1.0
    return result


def truncated_rbf_features(X: Floats, gamma: float, order: int) -> Floats:
    """Rows (n, C(features + order, order)) whose inner products are the truncated RBF kernel.

    The column of the monomial x^a (a multi-index with |a| <= order) is ``exp(-gamma |x|^2) sqrt((2
    gamma)^|a| / a!) x^a``. Columns are sorted by total degree, then lexicographically.
    """
    rows, features = X.shape
    result = np.empty((rows, comb(features + order, order)))
    scaled = np.sqrt(2.0 * gamma) * X
    # Each monomial is multiplied only by its last variable or later ones, to get each once.
    level = [np.exp(-gamma * squared_norms(X))]
    powers = [np.zeros(features, dtype=np.int64)]
    firsts = [0]
    column = 0
    for degree in range(order + 1):
        for values in level:
            result[:, column] = values
            column += 1
        if degree == order:
            break
        following, following_powers, following_firsts = [], [], []
        for values, power, first in zip(level, powers, firsts, strict=True):
            for variable in range(first, features):
                raised = power.copy()
                raised[variable] += 1
                following.append(values * scaled[:, variable] / np.sqrt(raised[variable]))
                following_powers.append(raised)
                following_firsts.append(variable)
        level, powers, firsts = following, following_powers, following_firsts
    return result
