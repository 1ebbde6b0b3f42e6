"""Newton's method finds the least squared hinge loss: that of LIBLINEAR, and of BFGS."""

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from dcsvm.numeric import Kernel, minimize_squared_hinge

X, y = make_moons(120, noise=0.3, random_state=0)
TARGET = np.where(y == 1, 1.0, -1.0)


def test_the_objective_is_as_small_as_that_of_bfgs():
    rows, costs = np.arange(0, 120, 9), np.random.default_rng(0).uniform(0.5, 2.0, 120)
    kernel = Kernel("rbf", gamma=1.0)
    values = np.column_stack([kernel(X, X[rows]), np.ones(120)])

    def objective(weights):
        short = np.maximum(1.0 - TARGET * (values @ weights), 0.0)
        inner = weights[:-1] @ values[rows, :-1] @ weights[:-1]
        return (inner + costs @ short**2) / 2

    zero = np.zeros(len(rows) + 1)
    found = minimize_squared_hinge(values, rows, TARGET, costs, zero)
    best = minimize(objective, zero, method="BFGS", options={"gtol": 1e-8})
    assert objective(found) <= best.fun * (1 + 1e-6)
    assert objective(found) < 0.9 * objective(zero)


def test_an_optimum_stays_as_it_is():
    rows, costs = np.arange(0, 120, 9), np.ones(120)
    kernel = Kernel("rbf", gamma=1.0)
    values = np.column_stack([kernel(X, X[rows]), np.ones(120)])
    found = minimize_squared_hinge(values, rows, TARGET, costs, np.zeros(len(rows) + 1))
    again = minimize_squared_hinge(values, rows, TARGET, costs, found)
    np.testing.assert_allclose(again, found, rtol=1e-3, atol=1e-4)
