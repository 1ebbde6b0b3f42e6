"""Cascades of several classes: directly, or inside every pair of classes.

    python examples/reproduce_cascade/multiclass.py

C and gamma are chosen for the whole machine by two folds of the training rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from data import arrays
from measured import accuracy, machine, once
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build

SETS = {"pendigits": 100.0, "letter": 15.0}
GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.5, 2.0, 8.0]}


def split(name: str) -> tuple[Any, Any, Any, Any]:
    """The source's own split, features in [0, 1]."""
    archive = arrays(name)
    if "X" in archive:
        X, y = archive["X"] / SETS[name], archive["y"]
        return X[:16000], y[:16000], X[16000:], y[16000:]
    X, T = (archive[word] / SETS[name] for word in ("X_train", "X_test"))
    return X, archive["y_train"], T, archive["y_test"]


def build_classifier(method: str, C: float, gamma: float) -> DivideAndConquerClassifier:
    """The whole machine, a cascade of all classes, or a cascade for every pair."""
    svm = machine(C, gamma)
    if method == "whole":
        return DivideAndConquerClassifier("whole", svm, "route", random_state=0)
    if method == "cascade, directly":
        return DivideAndConquerClassifier("cascade", svm, "route", random_state=0)
    if method == "cascade of 3 pieces, directly":
        three = build("decomposer", "cascade", pieces=3)
        return DivideAndConquerClassifier(three, svm, "route", random_state=0)
    inner = DivideAndConquerClassifier("cascade", svm, "route")
    return DivideAndConquerClassifier("class_pairs", inner, "vote", random_state=0)


def choose(name: str) -> dict[str, Any]:
    """C and gamma by two folds of 4,000 training rows."""
    X, y, _, _ = split(name)
    few = np.random.default_rng(0).permutation(len(y))[:4000]
    return dict(GridSearchCV(SVC(), GRID, cv=2).fit(X[few], y[few]).best_params_)


def measure(name: str, method: str, C: float, gamma: float) -> dict[str, Any]:
    """One training, and one look at the test rows."""
    X, y, T, t = split(name)
    model = build_classifier(method, C, gamma).fit(X, y)
    kept = len(model.model_.committee.support)
    return {"test": accuracy(model, T, t), "support_vectors": kept}


def main() -> None:
    methods = ("whole", "cascade, directly", "cascade of 3 pieces, directly", "cascade in pairs")
    for name in SETS:
        best = once("multiclass_choice", {"data": name}, partial(choose, name))
        for method in methods:
            key = {"data": name, "method": method, "C": best["C"], "gamma": best["gamma"]}
            once("multiclass", key, partial(measure, *key.values()))


if __name__ == "__main__":
    main()
