"""Decisions: labels by a threshold or by costs, in place of the likeliest class."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.numeric.array_types import BoolArray, FloatArray

#: How a threshold begins that is to be chosen.
BEST = "best "
#: From the numbers of true and false positives and of all positives and negatives to a score.
Score = Callable[[Any, Any, float, float], Any]
SCORES: dict[str, Score] = {
    "f1": lambda hits, alarms, rare, others: 2.0 * hits / (hits + alarms + rare),
    "accuracy": lambda hits, alarms, rare, others: hits - alarms,
    "balanced_accuracy": lambda hits, alarms, rare, others: hits / rare - alarms / others,
    "mcc": lambda hits, alarms, rare, others: _correlate(hits, alarms, rare, others),
}


def build_costs(costs: Mapping[Any, Any], classes: Any) -> FloatArray:
    """The costs (classes, classes) of answering the column's class for a row of the row's class.

    `costs` holds numbers by class, or tables of numbers by the class that is answered; what it
    leaves out costs 1. Classes may be named by their texts.
    """
    places = {str(label): place for place, label in enumerate(classes.tolist())}

    def find(name: Any) -> int:
        if str(name) not in places:
            raise DataError(f"costs: there is no class {name!r}; {did_you_mean(name, places)}")
        return places[str(name)]

    table = 1.0 - np.eye(len(places))
    for name, given in costs.items():
        row = find(name)
        if isinstance(given, Mapping):
            for other, cost in given.items():
                table[row, find(other)] = cost
        else:
            table[row] = given
            table[row, row] = 0.0
    return table


def build_threshold_costs(threshold: float, rarer: int) -> FloatArray:
    """The costs with which the rarer of two classes is answered above this probability."""
    costs = np.zeros((2, 2))
    costs[rarer, 1 - rarer], costs[1 - rarer, rarer] = 1.0 - threshold, threshold
    return costs


def choose_threshold(name: str, shares: FloatArray, is_rare: BoolArray) -> float:
    """The threshold of the probabilities (n,) of the rarer class with the best score.

    It is the midpoint of two observed probabilities; among ties, the highest threshold.
    """
    order = np.argsort(-shares, kind="stable")
    ordered, hits = shares[order], np.cumsum(is_rare[order])
    rare, others = float(hits[-1]), float(len(shares) - hits[-1])
    if not rare or not others:
        return 0.5
    ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    found = SCORES[name](hits[ends], ends + 1.0 - hits[ends], rare, others)
    best = int(ends[np.argmax(found)])
    below = float(ordered[best + 1]) if best + 1 < len(ordered) else 0.0
    return (float(ordered[best]) + below) / 2.0


def _correlate(hits: Any, alarms: Any, rare: float, others: float) -> Any:
    predicted = hits + alarms
    spread = np.sqrt(predicted * (rare + others - predicted) * rare * others)
    return (hits * others - alarms * rare) / np.where(spread > 0.0, spread, np.inf)
