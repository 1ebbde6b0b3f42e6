"""Logistic regression by L-BFGS is that of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from dcsvm.numeric import minimize_log_loss

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_scikit_learn(weighted):
    costs = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    weights, biases = minimize_log_loss(X, y, costs, 3)
    judge = LogisticRegression(C=1.0, tol=1e-9, max_iter=9999).fit(X, y, costs)
    np.testing.assert_allclose(weights, judge.coef_.T, atol=5e-3)
    np.testing.assert_allclose(biases - biases.mean(), judge.intercept_, atol=1e-2)


def test_the_number_of_steps_is_bounded():
    weights, _ = minimize_log_loss(X, y, np.ones(len(y)), 3, iterations=1)
    exact, _ = minimize_log_loss(X, y, np.ones(len(y)), 3)
    assert np.abs(weights - exact).max() > 0.1
