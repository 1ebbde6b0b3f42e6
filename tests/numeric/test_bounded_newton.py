"""Newton's method with least values, against an independent solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dcsvm.numeric.bounded_newton import minimize_bounded


def logistic_problem(seed, d=5):
    generator = np.random.default_rng(seed)
    columns = generator.normal(size=(80, d))
    signs = np.sign(columns @ generator.normal(size=d) + generator.normal(size=80))

    def evaluate(found):
        odds = signs * (columns @ found)
        shares = 1 / (1 + np.exp(odds))
        gradient = found - columns.T @ (signs * shares)
        curvature = (columns.T * (shares * (1 - shares))) @ columns + np.eye(d)
        return np.logaddexp(0, -odds).sum() + found @ found / 2, gradient, curvature

    return evaluate


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_least_value_within_the_bounds(seed):
    evaluate, least = logistic_problem(seed), np.array([0.0, 0.3, -np.inf, 0.0, -np.inf])
    found = minimize_bounded(evaluate, np.ones(5), least)
    bounds = [(None if low == -np.inf else low, None) for low in least]
    reference = minimize(lambda x: evaluate(x)[0], np.ones(5), bounds=bounds, tol=1e-12)
    assert (found >= least).all()
    np.testing.assert_allclose(found, reference.x, atol=1e-4)


def test_a_start_below_the_bounds_is_moved_into_them():
    def evaluate(x):
        return float(x @ x) / 2, x, np.eye(2)

    assert minimize_bounded(evaluate, np.full(2, -5.0), np.array([1.0, -1.0])).tolist() == [1.0, 0]
