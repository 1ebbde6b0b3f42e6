"""Sums of curves of single features, learned on top of log-odds."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import log_loss

from dcsvm.numeric.additive_curves import DRAW, AdditiveCurves, fit_additive_curves


def draw_rows(n, seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3)) * [1.0, 100.0, 0.0]
    odds = X[:, 0] + np.abs(X[:, 1]) / 50.0 - 1.0
    return X, odds, (generator.random(n) < expit(odds)).astype(float)


def test_curves_find_what_log_odds_lack():
    X, _, y = draw_rows(8000, 0)
    curves = fit_additive_curves(X, y, np.ones(len(y)), X[:, 0])
    test, truth, y_test = draw_rows(4000, 1)
    found = test[:, 0] + curves.evaluate(test)
    losses = [log_loss(y_test, expit(each)) for each in (test[:, 0], found, truth)]
    assert losses[1] < losses[2] + 0.3 * (losses[0] - losses[2])
    assert curves.slopes[:, 2].tolist() == [0.0] * 8
    same = curves.evaluate(sparse.csr_array(test))
    np.testing.assert_array_equal(same, curves.evaluate(test))
    np.testing.assert_array_equal(curves.evaluate(test[[7]]), curves.evaluate(test)[[7]])
    far = np.array([[1e9, -1e9, 5.0]])
    ends = np.array([[X[:, 0].max(), X[:, 1].min(), 0.0]])
    np.testing.assert_allclose(curves.evaluate(far), curves.evaluate(ends))


@pytest.mark.parametrize("n", [1500, 5000])
def test_curves_are_close_to_the_least_penalized_loss(n):
    X, _, y = draw_rows(n, 2)
    X, offsets, weights = X[:, :2], 0.8 * X[:, 0], 1.0 + np.arange(n) % 2
    curves = fit_additive_curves(X, y, weights, offsets)
    pieces = np.hstack([np.clip(X, low, high) - low for low, high in pairwise(curves.edges)])
    columns = (pieces - pieces.mean(axis=0)) / pieces.std(axis=0)

    def loss(found):
        odds = offsets + columns @ found
        return weights @ (np.logaddexp(0, odds) - y * odds) + DRAW * found @ found / 2

    found = curves.slopes.ravel() * pieces.std(axis=0)
    begin = np.zeros(len(found))
    least = minimize(loss, begin).fun
    assert loss(found) - least < 0.02 * (loss(begin) - least)
    np.testing.assert_allclose(curves.evaluate(X), columns @ found, atol=1e-9)


def test_few_rows_say_little():
    X, odds, y = draw_rows(20, 0)
    curves = fit_additive_curves(X, y, np.ones(20), odds)
    assert np.abs(curves.evaluate(X)).mean() < 20 / DRAW


def test_curves_are_checked_when_they_are_loaded():
    with pytest.raises(
        ValueError, match=r"AdditiveCurves.slopes has shape \(2, 3\), but must have"
    ):
        AdditiveCurves(np.zeros((2, 3)), np.zeros((2, 3)), 0.0).check_stored(features=3)
