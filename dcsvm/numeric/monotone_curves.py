"""Calibration curves that increase piece by piece, drawn to a logistic function of the scores.

The log-odds of two classes are one such curve of a score. Several classes have one curve in
common, and a scale and a shift each.
"""

import numpy as np
import scipy

from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray
from dcsvm.numeric.bounded_newton import Evaluation, minimize_bounded
from dcsvm.numeric.platt_scaling import (
    compute_platt_targets,
    find_logs,
    fit_sigmoid,
    fit_temperature,
    logistic_loss,
)

#: The slope may change at so many quantiles of the scores, if they are at least so far apart, as
#: a share of the mean size of the scores.
KNOTS, NEAR = 9, 0.01
#: The penalty on the squared difference of a piece's rise from that of the logistic function, and
#: the least slope of a piece and of the logistic function, as shares.
DRAW, LEAST_SLOPE, LEAST_SCALE = 0.1, 0.02, 0.05
#: The penalties that draw a class's scale to one and its shift to zero unless the class has the
#: rows to say otherwise, and the least scale.
SCALE_DRAW, SHIFT_DRAW, LEAST_OWN = 50.0, 5.0, 0.1
#: The gradient per row at which a fit ends, and a curvature that keeps its steps finite.
PRECISION, TINY = 1e-4, 1e-12
#: Curvature and temperature, which a fit begins from, are computed from about so many scores, and
#: curvature from so many rows at most.
MANY_SCORES, SOME_ROWS = 2**14, 700
#: A curve of two classes is fitted to the means of so many groups of scores.
GROUPS = 512


def fit_monotone_sigmoid(
    scores: FloatArray, y: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Fit log-odds of class 1 that are linear between knots and increase everywhere.

    Scores, classes 0 and 1 and positive weights are (n,) arrays. Returns `knots` (k,), `slopes` (k
    + 1,) and a shift: the log-odds are `split_at(scores, knots) @ slopes + shift`.
    """
    scores, wanted, weights = merge_neighbors(scores, compute_platt_targets(y, weights), weights)
    slope, shift = fit_sigmoid(scores, wanted, weights)
    if not np.any(scores) or len(np.unique(y)) < 2:
        return np.zeros(0), np.array([slope]), shift
    knots, widths = place_knots(scores)
    columns = np.column_stack([split_at(scores, knots) / widths, np.ones(len(scores))])
    drawn = max(slope, LEAST_SCALE / float(np.abs(scores).mean())) * widths
    total, n = float(weights.sum()), len(widths)
    draw = np.append(np.full(n, DRAW), 0.0)
    begin = np.append(drawn, shift)

    def evaluate(found: FloatArray) -> Evaluation:
        logits, gap = columns @ found, found - begin
        shares = scipy.special.expit(logits)
        gradient = columns.T @ (weights * (shares - wanted)) + draw * gap
        curvature = (columns.T * (weights * shares * (1.0 - shares))) @ columns
        curvature[np.diag_indices(n + 1)] += draw + TINY * total
        value = logistic_loss(logits, wanted, weights) + draw @ gap**2 / 2.0
        return value / total, gradient / total, curvature / total

    least = np.append(LEAST_SLOPE * drawn, -np.inf)
    found = minimize_bounded(evaluate, begin, least, PRECISION)
    return knots, np.asarray(found[:n] / widths), float(found[n])


def fit_monotone_softmax(
    scores: FloatArray, y: IntArray, weights: FloatArray, known: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Fit log-probabilities that are a softmax of increasing curves of scores (n, classes).

    Only `known` scores count, those of the class of each row among them; others have probability
    zero. Returns the knots (k,) and slopes (k + 1,) of the common curve, and the factor and the
    shift (classes,) of it for each class.
    """
    rows, n_classes = scores.shape
    few = slice(None, None, -(-rows * n_classes // MANY_SCORES))
    temperature = fit_temperature(scores[few], y[few], weights[few], known[few])
    size = float(np.abs(scores[known]).mean()) if known.any() else 0.0
    if size == 0.0:
        return np.zeros(0), np.array([temperature]), np.ones(n_classes), np.zeros(n_classes)
    total = float(weights.sum())
    knots, widths = place_knots(scores[known])
    pieces = split_at(np.where(known, scores, 0.0).T.ravel(), knots)
    pieces /= widths
    some = slice(None, None, -(-rows // min(SOME_ROWS, MANY_SCORES // n_classes)))
    here = np.ascontiguousarray(pieces.reshape(n_classes, rows, -1)[:, some])
    shared = weights[some] * total / float(weights[some].sum())
    blocked = np.ascontiguousarray(np.where(known, 0.0, -np.inf).T)
    own = y, np.arange(rows)
    drawn = max(temperature, LEAST_SCALE / size) * widths
    n = len(widths)

    draw = np.repeat([DRAW, SCALE_DRAW, SHIFT_DRAW], [n, n_classes, n_classes])
    begin = np.concatenate([drawn, np.ones(n_classes), np.zeros(n_classes)])

    def evaluate(found: FloatArray) -> Evaluation:
        rises, scales, shifts = np.split(found, [n, n + n_classes])
        common, gap = (pieces @ rises).reshape(blocked.shape), found - begin
        logs = find_logs(common * scales[:, None] + shifts[:, None] + blocked)
        shares = np.exp(logs)
        slack = weights * shares
        slack[own] -= weights
        gradient = [
            (slack * scales[:, None]).ravel() @ pieces,
            (slack * common).sum(axis=1),
            slack.sum(axis=1),
        ]
        value = float(draw @ gap**2 / 2.0 - weights @ logs[own])
        curvature = find_curvature(here, common[:, some], scales, shares[:, some], shared)
        curvature += np.diag(draw)
        return value / total, (np.concatenate(gradient) + draw * gap) / total, curvature / total

    least = [*(LEAST_SLOPE * drawn), *[LEAST_OWN] * n_classes, *[-np.inf] * n_classes]
    found = minimize_bounded(evaluate, begin, np.array(least), PRECISION)
    rises, scales, shifts = np.split(found, [n, n + n_classes])
    return knots, rises / widths, scales, shifts


def find_curvature(
    pieces: FloatArray,
    common: FloatArray,
    scales: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """The curvature of the log-loss in rises, scales and shifts, as if logits were linear.

    `pieces` is (classes, n, pieces), `common` and `shares` are (classes, n), `weights` (n,).
    """
    n_classes, n = len(scales), pieces.shape[2]
    means = np.einsum("ci,cip->pi", shares * scales[:, None], pieces)
    table = np.vstack([means, shares * common, shares])
    result = -(table * weights) @ table.T
    columns = np.concatenate([pieces, common[:, :, None], np.ones((*common.shape, 1))], axis=2)
    own = (weights * shares)[:, :, None]
    blocks = columns.transpose(0, 2, 1) @ (columns * own)
    rises, factors, moves = np.split(np.arange(n + 2 * n_classes), [n, n + n_classes])
    result[:n, :n] += (blocks[:, :n, :n] * scales[:, None, None] ** 2).sum(axis=0)
    for at, place in ((n, factors), (n + 1, moves)):
        shared = blocks[:, :n, at].T * scales
        result[np.ix_(rises, place)] += shared
        result[np.ix_(place, rises)] += shared.T
        result[place, place] += blocks[:, at, at]
    result[factors, moves] += blocks[:, n, n + 1]
    result[moves, factors] += blocks[:, n, n + 1]
    return np.asarray(result)


def merge_neighbors(
    scores: FloatArray, wanted: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """At most GROUPS means of neighboring scores, of what is wanted of them, and their weights."""
    if len(scores) <= GROUPS:
        return scores, wanted, weights
    order = np.argsort(scores)
    begins = np.arange(GROUPS) * len(scores) // GROUPS
    total, first, second = (
        np.add.reduceat(each[order], begins)
        for each in (weights, weights * scores, weights * wanted)
    )
    return first / total, second / total, total


def place_knots(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Knots at quantiles of scores that are not all zero, and the widths of the pieces between."""
    least = NEAR * float(np.abs(scores).mean())
    knots: list[float] = []
    for each in np.quantile(scores, np.linspace(0, 1, KNOTS + 2)[1:-1]).tolist():
        if not knots or each - knots[-1] > least:
            knots.append(each)
    edges = np.array([float(scores.min()), *knots, float(scores.max())])
    return np.array(knots), np.maximum(np.diff(edges), least)


def split_at(scores: FloatArray, knots: FloatArray) -> FloatArray:
    """The part of each score in each interval between knots: (n, k + 1), of sum `scores`.

    The first and the last interval reach to infinity; the intervals begin at zero, or at the knot
    next to it.
    """
    if not len(knots):
        return scores[:, None]
    low, high = np.concatenate([[-np.inf], knots]), np.concatenate([knots, [np.inf]])
    inside = np.maximum(scores[:, None], low)
    np.minimum(inside, high, out=inside)
    inside -= np.minimum(np.maximum(0.0, low), high)
    return np.asarray(inside)
