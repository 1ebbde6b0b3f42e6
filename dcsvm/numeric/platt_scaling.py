"""Calibration curves: logistic functions of scores, fitted to scores of rows left out.

Two classes have one score, and Platt's sigmoid of it; several classes have a score each, and the
softmax of the scaled scores.
"""

import numpy as np
import scipy

from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray
from dcsvm.numeric.bounded_newton import Evaluation, minimize_bounded

#: The penalty that keeps the scale finite where the scores separate the classes.
STABILITY = 1e-3
#: The penalty on a region's own slope and shift: as much as about so many rows. The least slope.
ADJUSTMENT, LEAST_SLOPE = 10.0, 0.01
#: Newton steps of a sigmoid, and the gradient per row at which they end.
STEPS, PRECISION = 100, 1e-10
#: The gradient per row at which other fits end.
PRECISE = 1e-4


def fit_sigmoid(
    scores: FloatArray, wanted: FloatArray, weights: FloatArray, shifted: bool = True
) -> tuple[float, float]:
    """Fit the log-odds `slope * scores + shift` of class 1 by Newton's method.

    `wanted` (n,) is the probability of class 1 that each row should have
    (`compute_platt_targets`). The slope is not negative: a larger score never makes class 1 less
    likely. Unless `shifted`, the shift is 0, and the sigmoid is a temperature.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines (1999). Lin, Lin, Weng: A note on
    Platt's probabilistic outputs for support vector machines (2007).
    """
    if not len(scores):
        return 1.0, 0.0
    size = float(np.abs(scores).max()) or 1.0
    columns = np.column_stack([scores / size, np.ones(len(scores))])
    total = float(weights.sum())
    penalty = np.array([STABILITY / total, STABILITY / total])
    if not shifted:
        columns[:, 1] = 0.0
    found = np.zeros(2)
    value = logistic_loss(columns @ found, wanted, weights) / total
    for _ in range(STEPS):
        p = scipy.special.expit(columns @ found)
        gradient = columns.T @ (weights * (p - wanted)) / total + penalty * found
        if np.abs(gradient).max() < PRECISION:
            break
        curvature = (columns * (weights * p * (1.0 - p))[:, None]).T @ columns / total
        step = np.linalg.solve(curvature + np.diag(penalty + 1e-12), gradient)
        for length in 0.5 ** np.arange(30):
            trial = found - length * step
            after = (
                logistic_loss(columns @ trial, wanted, weights) / total + penalty @ trial**2 / 2
            )
            if after <= value:
                found, value = trial, after
                break
        else:
            break
    if found[0] < 0.0:
        share = float((weights * wanted).sum() / total)
        return 0.0, float(np.log(share) - np.log1p(-share)) if shifted else 0.0
    return float(found[0] / size), float(found[1])


def fit_adjustment(logits: FloatArray, y: IntArray, weights: FloatArray) -> FloatArray:
    """Fit a slope and shifts of logits (n, classes) for the rows of a region: (1 + classes,).

    They are drawn to one and zero. Logits are minus infinity for classes that the region lacks.
    """
    logits = np.ascontiguousarray(logits.T)
    known = np.isfinite(logits)
    if len(known) == 2 and known.all():
        return _adjust_odds(logits[1] - logits[0], y.astype(float), weights)
    values, rows = np.where(known, logits, 0.0), np.arange(len(y))
    blocked = np.where(known, 0.0, -np.inf)
    begin = np.append(1.0, np.zeros(len(values)))

    def evaluate(found: FloatArray) -> Evaluation:
        logs, gap = find_logs(found[0] * values + found[1:, None] + blocked), found - begin
        shares = np.exp(logs)
        slack = weights * shares
        spread = slack * (values - (shares * values).sum(axis=0))
        curvature = np.diag(np.append(np.vdot(spread, values), slack.sum(axis=1)) + ADJUSTMENT)
        curvature[0, 1:] = curvature[1:, 0] = spread.sum(axis=1)
        curvature[1:, 1:] -= slack @ shares.T
        slack[y, rows] -= weights
        gradient = np.append(np.vdot(slack, values), slack.sum(axis=1)) + ADJUSTMENT * gap
        value = ADJUSTMENT * float(gap @ gap) / 2.0 - float(weights @ logs[y, rows])
        return value, gradient, curvature

    least = np.append(LEAST_SLOPE, np.full(len(values), -np.inf))
    return minimize_bounded(evaluate, begin, least, PRECISE * float(weights.sum()))


def _adjust_odds(odds: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """The same for log-odds (n,) of two classes, whose shifts are opposite."""
    draw, begin = np.array([ADJUSTMENT, ADJUSTMENT / 2.0]), np.array([1.0, 0.0])

    def evaluate(found: FloatArray) -> Evaluation:
        logits, gap = found[0] * odds + found[1], found - begin
        shares = scipy.special.expit(logits)
        slack, bent = weights * (shares - y), weights * shares * (1.0 - shares)
        leaning = bent @ odds
        curvature = np.array([[(bent * odds) @ odds, leaning], [leaning, bent.sum()]])
        value = logistic_loss(logits, y, weights) + float(draw @ gap**2) / 2.0
        gradient = np.array([slack @ odds, slack.sum()]) + draw * gap
        return value, gradient, curvature + np.diag(draw)

    least, precision = np.array([LEAST_SLOPE, -np.inf]), PRECISE * float(weights.sum())
    slope, shift = minimize_bounded(evaluate, begin, least, precision)
    return np.array([slope, -shift / 2.0, shift / 2.0])


def fit_temperature(
    scores: FloatArray, y: IntArray, weights: FloatArray, known: BoolArray
) -> float:
    """Fit the scale with which the softmax of scores (n, classes) is likeliest for classes y.

    Only `known` scores (n, classes) count; others have probability zero. The scale is not
    negative.
    """
    size = float(np.abs(scores[known]).max(initial=0.0)) or 1.0
    values = np.where(known, scores / size, 0.0).T.copy()
    blocked = np.where(known, 0.0, -np.inf).T.copy()
    total, rows = float(weights.sum()), np.arange(len(y))
    if not total:
        return 1.0

    def evaluate(found: FloatArray) -> Evaluation:
        logs = find_logs(values * found + blocked)
        shares = np.exp(logs)
        shared = shares * values
        mean = shared.sum(axis=0)
        variance = (shared * values).sum(axis=0) - mean**2
        gradient = weights @ (mean - values[y, rows]) + STABILITY * found
        value = STABILITY * float(found[0]) ** 2 / 2.0 - float(weights @ logs[y, rows])
        curvature = np.atleast_2d(weights @ variance + STABILITY)
        return value / total, gradient / total, curvature / total

    return float(minimize_bounded(evaluate, np.ones(1), np.zeros(1), PRECISE)[0] / size)


def find_logs(logits: FloatArray) -> FloatArray:
    """The logarithms of the softmax of logits (classes, n), of which some may be -infinity."""
    shifted = logits - logits.max(axis=0)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=0)))


def compute_platt_targets(y: IntArray, weights: FloatArray) -> FloatArray:
    """The targets of Platt (n,): the share of each class if one more row of each were added."""
    second = float(weights[y == 1].sum())
    first = float(weights[y == 0].sum())
    return np.where(y == 1, (second + 1.0) / (second + 2.0), 1.0 / (first + 2.0))


def logistic_loss(logits: FloatArray, wanted: FloatArray, weights: FloatArray) -> float:
    """The sum of the losses of log-odds `logits` for rows of class 1 with share `wanted`."""
    return float(weights @ (np.logaddexp(0.0, logits) - wanted * logits))
