"""Monotone calibration curves against independent solvers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from dcsvm.numeric.monotone_curves import (
    DRAW,
    GROUPS,
    KNOTS,
    LEAST_SLOPE,
    SCALE_DRAW,
    SHIFT_DRAW,
    fit_monotone_sigmoid,
    fit_monotone_softmax,
    merge_neighbors,
    place_knots,
    split_at,
)
from dcsvm.numeric.platt_scaling import compute_platt_targets, fit_sigmoid, fit_temperature


def two_classes(n=8000):
    """Scores whose log-odds rise four times as fast above zero as below it."""
    generator = np.random.default_rng(0)
    scores = generator.normal(size=n)
    odds = np.where(scores > 0, 4.0, 1.0) * scores
    return scores, (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int), odds


def three_classes(n=300, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, n)
    return generator.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


def test_a_curve_of_two_classes_increases_and_is_close_to_the_true_one():
    scores, y, odds = two_classes()
    knots, slopes, shift = fit_monotone_sigmoid(scores, y, np.ones(len(y)))
    found = split_at(scores, knots) @ slopes + shift
    assert (np.diff(found[np.argsort(scores)]) > 0).all()
    assert np.abs(found - odds).mean() < 0.25
    slope, bias = fit_sigmoid(scores, compute_platt_targets(y, np.ones(len(y))), np.ones(len(y)))
    assert np.abs(found - odds).mean() < 0.5 * np.abs(slope * scores + bias - odds).mean()


#: SLSQP of older versions of SciPy leaves the bounds by rounding errors.
clips = pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")


@clips
def test_a_curve_of_two_classes_minimizes_its_loss():
    scores, y, _ = two_classes(300)
    weights = 1.0 + np.arange(len(y)) % 2
    knots, slopes, shift = fit_monotone_sigmoid(scores, y, weights)
    slope, _ = fit_sigmoid(scores, compute_platt_targets(y, weights), weights)
    widths, pieces = place_knots(scores)[1], split_at(scores, knots)
    wanted = compute_platt_targets(y, weights)

    def loss(found):
        logits = pieces @ found[:-1] + found[-1]
        gap = (found[:-1] - slope) * widths
        losses = np.logaddexp(0.0, logits) - wanted * logits
        return weights @ losses + DRAW * gap @ gap / 2

    bounds = [(LEAST_SLOPE * slope, None)] * len(slopes) + [(None, None)]
    begin = np.append(np.full(len(slopes), 1.0), 0.0)
    reference = minimize(loss, begin, method="SLSQP", bounds=bounds, options={"ftol": 1e-12})
    assert loss(np.append(slopes, shift)) == pytest.approx(reference.fun, abs=1e-3)
    np.testing.assert_allclose(slopes, reference.x[:-1], atol=0.05)


@clips
@pytest.mark.parametrize("lacking", [False, True])
def test_curves_of_several_classes_minimize_their_loss(lacking):
    scores, y = three_classes()
    known = np.ones(scores.shape, dtype=bool)
    known[:, 2] = ~lacking | (np.arange(len(y)) % 2 == 0) | (y == 2)
    weights = 1.0 + np.arange(len(y)) % 2
    knots, *fitted = fit_monotone_softmax(scores, y, weights, known)
    widths = place_knots(scores[known])[1]
    common, n = fit_temperature(scores, y, weights, known), len(widths)
    pieces = split_at(scores.ravel(), knots)

    def loss(found):
        slopes, scales, shifts = np.split(found, [n, n + 3])
        logits = (pieces @ slopes).reshape(scores.shape) * scales + shifts
        logs = log_softmax(np.where(known, logits, -np.inf), axis=1)
        gap, own = (slopes - common) * widths, scales - 1.0
        penalty = DRAW * gap @ gap + SCALE_DRAW * own @ own + SHIFT_DRAW * shifts @ shifts
        return penalty / 2 - weights @ logs[np.arange(len(y)), y]

    bounds = [(LEAST_SLOPE * common, None)] * n + [(None, None)] * 6
    begin = np.concatenate([np.full(n, 1.0), np.ones(3), np.zeros(3)])
    reference = minimize(loss, begin, method="SLSQP", bounds=bounds, options={"ftol": 1e-12})
    assert loss(np.concatenate(fitted)) == pytest.approx(reference.fun, abs=1e-2)
    slopes, scales, _ = fitted
    assert (slopes > 0).all()
    assert (scales > 0).all()


def test_unknown_classes_have_no_part_in_a_curve():
    scores, y = three_classes()
    known = np.ones(scores.shape, dtype=bool)
    known[::2, 2] = False
    keep = known[np.arange(len(y)), y]
    scores, y, known = scores[keep], y[keep], known[keep]
    noise = np.where(known, scores, np.random.default_rng(1).normal(size=scores.shape))
    one = fit_monotone_softmax(scores, y, np.ones(len(y)), known)
    other = fit_monotone_softmax(noise, y, np.ones(len(y)), known)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("knots", [[], [0.5], [-1.0, 0.0, 2.0], [1.0, 2.0]])
def test_scores_split_at_knots_sum_to_the_scores(knots):
    scores = np.linspace(-3, 3, 13)
    parts = split_at(scores, np.array(knots))
    assert parts.shape == (13, len(knots) + 1)
    np.testing.assert_allclose(parts.sum(axis=1), scores, atol=1e-12)


def test_knots_keep_a_distance_where_scores_coincide():
    scores = np.repeat([-1.0, 1.0], [50, 51])
    knots, widths = place_knots(scores)
    assert knots.tolist() == [-1.0, 1.0]
    assert (widths > 0).all()
    assert len(place_knots(np.linspace(-1, 1, 99))[0]) == KNOTS


def test_scores_without_information_give_a_flat_or_straight_curve():
    y = np.array([0, 1])
    knots, slopes, shift = fit_monotone_sigmoid(np.zeros(2), y, np.ones(2))
    assert (len(knots), len(slopes), shift) == (0, 1, 0.0)
    assert fit_monotone_sigmoid(np.zeros(0), y[:0], np.ones(0))[1].tolist() == [1.0]
    known = np.ones((2, 3), dtype=bool)
    knots, _, scales, shifts = fit_monotone_softmax(np.zeros((2, 3)), y, np.ones(2), known)
    assert (len(knots), scales.tolist(), shifts.tolist()) == (0, [1.0] * 3, [0.0] * 3)


def test_neighboring_scores_are_merged_by_their_weights():
    scores, y, _ = two_classes(3000)
    weights = 1.0 + np.arange(3000) % 2
    means, wanted, totals = merge_neighbors(scores, y.astype(float), weights)
    assert len(means) == GROUPS
    assert (np.diff(means) > 0).all()
    assert totals.sum() == weights.sum()
    np.testing.assert_allclose(totals @ wanted, weights @ y)
    np.testing.assert_allclose(totals @ means, weights @ scores)
