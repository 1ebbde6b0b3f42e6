"""Map of a model over two features: predictions and parts on a grid."""

from typing import Any

import attrs
import numpy as np

from dcsvm.drawing import Scene
from dcsvm.numeric import IntArray, Matrix

#: Points of the grid along each side.
SIDE = 140
#: Test rows that are drawn.
DRAWN_ROWS = 600


@attrs.frozen
class Plane:
    """A grid over two features; plain data, row after row from the bottom.

    `answers` and `parts` hold a line of numbers separated by spaces for each row of the grid.
    `points` are held-out rows: two values, true class, answered class. `names` are those of the
    two features.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    answers: tuple[str, ...]
    parts: tuple[str, ...]
    points: tuple[tuple[float, float, int, int], ...]
    names: tuple[str, str] = ("feature 0", "feature 1")

    def grid(self, lines: tuple[str, ...]) -> IntArray:
        return np.array([line.split() for line in lines], dtype=np.intp)


def sample_plane(classifier: Any, scene: Scene, y: Any, answers: Any) -> Plane | None:
    """Predict on a grid; None if the classifier does not see exactly two numbers."""
    if scene.X.shape[1] != 2 or hasattr(scene.X, "toarray") or scene.X.shape[0] == 0:
        return None
    if scene.indicators:
        return None
    offset = np.zeros(2) if scene.offset is None else scene.offset
    factor = np.ones(2) if scene.factor is None else np.where(scene.factor, scene.factor, 1.0)
    X = scene.X / factor + offset
    low, high = X.min(axis=0), X.max(axis=0)
    edge = 0.04 * np.where(high > low, high - low, 1.0)
    low, high = low - edge, high + edge
    sides = [np.linspace(low[axis], high[axis], SIDE) for axis in range(2)]
    grid = np.column_stack([each.ravel() for each in np.meshgrid(*sides)])
    grid = (grid - offset) * factor
    there = classifier.model_.labels(grid)
    parts = _find_parts(scene.committee, grid)
    some = np.linspace(0, X.shape[0] - 1, min(DRAWN_ROWS, X.shape[0])).astype(np.intp)
    truth = np.where(np.isin(y, classifier.classes_), np.searchsorted(classifier.classes_, y), -1)
    predicted = np.searchsorted(classifier.classes_, answers)
    return Plane(
        (float(low[0]), float(low[1])),
        (float(high[0]), float(high[1])),
        _lines(there),
        () if parts is None else _lines(parts),
        tuple((float(X[i, 0]), float(X[i, 1]), int(truth[i]), int(predicted[i])) for i in some),
        (scene.features[0], scene.features[1]),
    )


def _find_parts(committee: Any, X: Matrix) -> IntArray | None:
    """The part that each row is routed to in the first group with a router; None without one."""
    for group in committee.groups:
        if group.router is not None:
            routing = group.router.route(X)
            found = np.full(X.shape[0], -1)
            # Of several parts the one with the largest weight: it is written last.
            order = slice(None) if routing.weight is None else np.argsort(routing.weight)
            found[routing.row[order]] = routing.member[order]
            return found
    return None


def _lines(values: IntArray) -> tuple[str, ...]:
    return tuple(" ".join(map(str, line)) for line in values.reshape(SIDE, SIDE).tolist())
