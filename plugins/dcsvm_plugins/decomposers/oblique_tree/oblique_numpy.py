"""Growth of oblique trees in numpy, as in C, with any method for hyperplanes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from dcsvm.numeric import (
    BoolArray,
    Float32Rows,
    FloatArray,
    Hyperplane,
    IntArray,
    exact_products,
    solve_pegasos,
)

if TYPE_CHECKING:
    from dcsvm_plugins.decomposers.oblique_tree.oblique_growth import GrowthSettings

#: Fits a hyperplane to rows (m,), given their signs and weights.
PlaneFitter: TypeAlias = Callable[[IntArray, FloatArray, FloatArray], Hyperplane]
#: A split must lower the impurity by more than rounding errors.
NO_GAIN = 1e-12
POWER_STEPS = 12


def grow_numpy(
    rows: Float32Rows,
    y: IntArray,
    n_classes: int,
    masses: FloatArray | None,
    order: IntArray,
    settings: GrowthSettings,
    fit_plane: PlaneFitter | None = None,
) -> tuple[FloatArray, FloatArray, IntArray, int]:
    """The arrays of an oblique tree: weights, thresholds, children, features."""
    mass = np.ones(rows.n_rows) if masses is None else masses
    fit_plane = fit_plane or _pegasos_at_nodes(rows, mass, settings)
    weights: list[FloatArray] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    n_leaves = 0
    waiting = [(np.asarray(order), 0, -1, 0)]
    while waiting:
        here, depth, parent, side = waiting.pop()
        plane = None
        if len(here) > settings.fewest and depth < settings.deepest:
            plane = _split(rows, y, n_classes, mass, here, settings.by_impurity, fit_plane)
        if plane is None:
            new, n_leaves = ~n_leaves, n_leaves + 1
        else:
            new = len(weights)
            w, threshold, left = plane
            weights.append(w)
            thresholds.append(threshold)
            children.append([0, 0])
            waiting.append((here[~left], depth + 1, new, 1))
            waiting.append((here[left], depth + 1, new, 0))
        if parent >= 0:
            children[parent][side] = new
    return (
        np.array(weights, dtype=np.float32).reshape(-1, rows.stride),
        np.array(thresholds),
        np.array(children, dtype=np.int32).reshape(-1, 2),
        rows.n_features,
    )


def _pegasos_at_nodes(
    rows: Float32Rows, mass: FloatArray, settings: GrowthSettings
) -> PlaneFitter:
    def fit_plane(here: IntArray, signs: FloatArray, weights: FloatArray) -> Hyperplane:
        batch, given = min(settings.pegasos.batch, len(here)), settings.pegasos
        most = float(given.iterations)
        if settings.passes:
            most = min(most, settings.passes * len(here) / batch)
        random = given.random + next(nodes) if given.random else 0
        wanted = attrs.evolve(given, iterations=max(1, int(most)), random=random)
        pulls = signs * weights
        if settings.sum_one:
            pulls /= mass[here].sum()
        return solve_pegasos(rows.subset(here), pulls, np.arange(len(here)), wanted)

    nodes = count()
    return fit_plane


def _split(
    rows: Float32Rows,
    y: IntArray,
    n_classes: int,
    mass: FloatArray,
    here: IntArray,
    by_impurity: bool,
    fit_plane: PlaneFitter,
) -> tuple[FloatArray, float, BoolArray] | None:
    """The hyperplane of a node, its threshold, and which rows go left; None for a leaf."""
    counts = _masses(y[here], mass[here], n_classes)
    total, impurity = counts.sum(), entropy(counts)
    if impurity <= NO_GAIN * total:
        return None
    plus = choose_sides(rows, y, mass, here, counts)[y[here]]
    both = np.array([mass[here][~plus].sum(), mass[here][plus].sum()])
    # Both sides have the same total weight, with a mean of 1.
    weights = mass[here] * len(here) / (2.0 * both[plus.astype(np.intp)])
    signs = np.where(plus, 1.0, -1.0)
    found = fit_plane(here, signs, weights)
    taken = rows.subset(here)
    directions = [found.weights]
    if by_impurity:
        # Fallback if the learned direction gains nothing: from mean to mean.
        means = (taken.dense if taken.dense is not None else taken.sparse).T @ (signs * weights)
        directions.append(np.asarray(means)[: rows.n_features])
    for direction in directions:
        w = np.zeros(rows.stride, dtype=np.float32)
        w[: rows.n_features] = direction
        scores = exact_products(dense_rows(taken), w)
        threshold = -found.bias
        if by_impurity:
            threshold = best_cut(scores, y[here], mass[here], n_classes)
        left = scores <= threshold
        after = sum(
            entropy(_masses(y[here[side]], mass[here[side]], n_classes)) for side in (left, ~left)
        )
        if impurity - after > NO_GAIN * total:
            return w, threshold, left
    return None


def dense_rows(rows: Float32Rows) -> Any:
    """Rows as an (n, stride) float32 array."""
    return rows.dense if rows.dense is not None else Float32Rows.of(rows.sparse.toarray()).dense


def _masses(y: IntArray, mass: FloatArray, n_classes: int) -> FloatArray:
    return np.bincount(y, mass, minlength=n_classes).astype(np.float64)


def entropy(counts: FloatArray) -> Any:
    """Mass times the entropy of the class shares, over the last axis."""
    total = counts.sum(axis=-1)
    logs = np.log(np.where(counts > 0, counts, 1.0))
    return total * np.log(np.where(total > 0, total, 1.0)) - (counts * logs).sum(axis=-1)


def best_cut(scores: FloatArray, y: IntArray, mass: FloatArray, n_classes: int) -> float:
    """The threshold with the least impurity, halfway between two scores."""
    order = np.argsort(scores, kind="stable")
    sorted_ = scores[order]
    cuts = np.flatnonzero(sorted_[:-1] < sorted_[1:])
    if not len(cuts):
        return float(sorted_[-1])
    masses = np.zeros((len(y), n_classes))
    masses[np.arange(len(y)), y[order]] = mass[order]
    left = np.cumsum(masses, axis=0)
    after = entropy(left[cuts]) + entropy(np.maximum(left[-1] - left[cuts], 0.0))
    at = cuts[after.argmin()]
    low, high = sorted_[at], sorted_[at + 1]
    middle = low + (high - low) / 2.0
    return float(middle if middle < high else low)


def choose_sides(
    rows: Float32Rows, y: IntArray, mass: FloatArray, here: IntArray, counts: FloatArray
) -> BoolArray:
    """Which classes are positive: split along the principal axis of the class means."""
    present = np.flatnonzero(counts > 0)
    side = np.zeros(len(counts), dtype=bool)
    side[present[-1]] = True
    if len(present) <= 2:
        return side
    taken = rows.take(here)
    sums = np.stack([taken.T @ (mass[here] * (y[here] == label)) for label in present])
    held = counts[present]
    means = sums / held[:, None] - sums.sum(axis=0) / held.sum()
    axis = means[(held * (means**2).sum(axis=1)).argmax()]
    for _ in range(POWER_STEPS):
        along = means @ axis
        size = (held * np.abs(along)).sum()
        axis = (held * along / size) @ means if size > 0 else np.zeros_like(axis)
    along = means @ axis
    best, cut = 0.0, None
    for place in along:
        high = along > place
        if high.any():
            apart = np.average(along[high], weights=held[high])
            apart -= np.average(along[~high], weights=held[~high])
            score = held[high].sum() * held[~high].sum() * apart**2
            best, cut = (score, place) if score > best else (best, cut)
    if cut is not None:
        side[:] = False
        side[present[along > cut]] = True
    return side
