"""Sigmoids and temperatures against independent solvers."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from sklearn.calibration import _sigmoid_calibration
from sklearn.linear_model import LogisticRegression

from dcsvm.numeric import platt_scaling
from dcsvm.numeric.platt_scaling import (
    ADJUSTMENT,
    LEAST_SLOPE,
    compute_platt_targets,
    fit_adjustment,
    fit_temperature,
)


def fit_sigmoid(scores, y, weights, shifted=True):
    return platt_scaling.fit_sigmoid(scores, compute_platt_targets(y, weights), weights, shifted)


def two_classes(n=400, seed=0, slope=1.7, shift=-0.6):
    generator = np.random.default_rng(seed)
    scores = generator.normal(scale=2.0, size=n)
    y = (generator.random(n) < 1 / (1 + np.exp(-slope * scores - shift))).astype(int)
    return scores, y


@pytest.mark.parametrize("seed", range(3))
def test_a_sigmoid_is_that_of_scikit_learn(seed):
    scores, y = two_classes(seed=seed)
    slope, shift = fit_sigmoid(scores, y, np.ones(len(y)))
    a, b = _sigmoid_calibration(scores, y)
    np.testing.assert_allclose((slope, shift), (-a, -b), rtol=1e-3, atol=1e-3)


def test_weights_count_as_repeated_rows():
    scores, y = two_classes()
    weights = 1.0 + np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    np.testing.assert_allclose(
        fit_sigmoid(scores, y, weights),
        fit_sigmoid(scores[repeated], y[repeated], np.ones(len(repeated))),
        rtol=1e-6,
    )


def test_scores_that_separate_the_classes_give_a_finite_sigmoid():
    scores, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    slope, shift = fit_sigmoid(scores, y, np.ones(4))
    assert 0.5 < slope < 3.0
    assert abs(shift) < 1e-6


def test_scores_that_mislead_count_for_nothing():
    scores, y = two_classes()
    slope, shift = fit_sigmoid(-scores, y, np.ones(len(y)))
    assert slope == 0.0
    assert shift == pytest.approx(np.log(y.mean() / (1 - y.mean())), abs=0.02)
    assert fit_sigmoid(-scores, y, np.ones(len(y)), shifted=False) == (0.0, 0.0)
    assert fit_sigmoid(scores[:0], y[:0], np.ones(0)) == (1.0, 0.0)


def test_a_sigmoid_without_a_shift_is_a_logistic_regression_without_an_intercept():
    scores, y = two_classes(shift=0.0, n=4000)
    slope, shift = fit_sigmoid(scores, y, np.ones(len(y)), shifted=False)
    reference = LogisticRegression(C=1e6, fit_intercept=False).fit(scores[:, None], y)
    assert shift == 0.0
    assert slope == pytest.approx(reference.coef_[0, 0], rel=0.01)


def three_classes(n=300, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, n)
    return generator.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


@pytest.mark.parametrize("lacking", [False, True])
def test_a_temperature_is_the_likeliest_scale(lacking):
    scores, y = three_classes()
    known = np.ones(scores.shape, dtype=bool)
    known[:, 2] = ~lacking | (np.arange(len(y)) % 2 == 0) | (y == 2)
    weights = 1.0 + np.arange(len(y)) % 3
    scale = fit_temperature(scores, y, weights, known)

    def loss(scale):
        logs = log_softmax(np.where(known, scale * scores, -np.inf), axis=1)
        return -weights @ logs[np.arange(len(y)), y]

    assert scale == pytest.approx(minimize_scalar(loss, bounds=(0.0, 9.0)).x, rel=1e-3)
    assert fit_temperature(-scores, y, weights, known) == 0.0
    assert fit_temperature(scores[:0], y[:0], weights[:0], known[:0]) == 1.0


def test_an_adjustment_minimizes_its_loss_and_few_rows_adjust_little():
    logits, y = three_classes()
    logits = np.where([True, True, False], logits, -np.inf)
    logits, y = logits[y < 2], y[y < 2]
    weights = 1.0 + np.arange(len(y)) % 2

    def loss(found):
        logs = log_softmax(found[0] * logits[:, :2] + found[1:], axis=1)
        drawn = ADJUSTMENT * ((found[0] - 1.0) ** 2 + found[1:] @ found[1:]) / 2
        return drawn - weights @ logs[np.arange(len(y)), y]

    found = fit_adjustment(logits, y, weights)
    np.testing.assert_allclose(found[:3], minimize(loss, [1.0, 0.0, 0.0]).x, atol=1e-3)
    assert found[3] == 0.0
    few = fit_adjustment(logits[:3], y[:3], weights[:3])
    np.testing.assert_allclose(few, [1.0, 0.0, 0.0, 0.0], atol=0.3)


def test_an_adjustment_of_two_classes_is_that_of_their_odds():
    scores, y = two_classes()
    logits, weights = np.column_stack([0.3 * scores, 1.1 * scores]), 1.0 + np.arange(len(y)) % 2

    def loss(found):
        logs = log_softmax(found[0] * logits + found[1:], axis=1)
        drawn = ADJUSTMENT * ((found[0] - 1.0) ** 2 + found[1:] @ found[1:]) / 2
        return drawn - weights @ logs[np.arange(len(y)), y]

    found = fit_adjustment(logits, y, weights)
    np.testing.assert_allclose(found, minimize(loss, [1.0, 0.0, 0.0]).x, atol=1e-3)
    assert fit_adjustment(-3.0 * logits, y, weights)[0] == LEAST_SLOPE
