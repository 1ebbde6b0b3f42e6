"""The decision graph over class pairs against Max Wins and SVC, one thread each.

Rows "batch" time `predict` of `dag` against that of `vote`, which fuses all pairs over one kernel
matrix; "one row" and "training" time it against SVC, whose own scheme is one against one. Settings
are those chosen in examples/reproduce_dag.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build

ONE_BY_ONE, BATCH = 200, 10_000
#: By data set, what examples/reproduce_dag chose for DAGSVM; clusters have what suits them.
CELLS: dict[str, dict[str, Any]] = {
    "usps": {"kernel": "poly", "degree": 3, "gamma": "auto", "C": 10.0},
    "letter": {"gamma": 2.0, "C": 10.0},
    "covertype": {"gamma": 0.5, "C": 10.0},
    "200 classes": {"gamma": 0.05, "C": 10.0},
}


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """The data sets of the DAGSVM paper, and 200 classes of a few rows."""
    del options
    yield from of_classes(200)
    usps = data.arrays("usps")
    yield from rows_of(
        "usps",
        *(usps["X_train"].astype(float), usps["y_train"].astype(int)),
        usps["X_test"].astype(float),
    )
    X, y = data.letter()
    X = 2.0 * X - 1.0
    yield from rows_of("letter", X[:16_000], y[:16_000], X[16_000:])
    X, y = continuous_standardised(data.arrays("covtype"))
    yield from rows_of("covertype", X[:11_340], y[:11_340], X[-BATCH:])


def continuous_standardised(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Covertype with its ten continuous columns standardised by the first 11,340 rows."""
    X = np.ascontiguousarray(arrays["X"], dtype=np.float64)
    learned = X[:11_340, :10]
    X[:, :10] = (X[:, :10] - learned.mean(axis=0)) / learned.std(axis=0)
    return X, arrays["y"].astype(int)


def of_classes(classes: int) -> Iterator[Case]:
    """Clusters of 30 rows each: thousands of pairs with few rows."""
    random = np.random.default_rng(0)
    centres = 3.0 * random.normal(size=(classes, 8))
    y = np.repeat(np.arange(classes), 30)
    X = centres[y] + 0.7 * random.normal(size=(len(y), 8))
    T = centres[random.integers(classes, size=2000)] + 0.7 * random.normal(size=(2000, 8))
    yield from rows_of(f"{classes} classes", X, y, T)


def rows_of(name: str, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Iterator[Case]:
    """One set of pairs: trained by both, then asked in batches and row by row."""
    learner = build("learner", "kernel_svm", **CELLS[name])
    graph, votes = (
        DivideAndConquerClassifier("class_pairs", learner, combiner, n_jobs=1)
        for combiner in ("dag", "vote")
    )
    svc = SVC(**CELLS[name], cache_size=1000)
    yield f"{name}, training", 1.0, lambda: graph.fit(X, y), lambda: svc.fit(X, y)
    graph.fit(X, y)
    votes.fit(X, y)
    svc.fit(X, y)
    assert (graph.predict(T) == votes.predict(T)).mean() > 0.97
    asked = graph.cost(T).unique_kernel_evaluations.mean() / len(graph.model_.support)
    yield (
        *(f"{name}, batch, {100 * asked:.0f}% of the vectors", 1.0),
        lambda: graph.predict(T),
        lambda: votes.predict(T),
    )
    singles = [np.array(row)[None] for row in T[:ONE_BY_ONE]]
    graph.predict(singles[0])
    yield (
        *(f"{name}, one row at a time", 10.0),
        lambda: [graph.predict(x) for x in singles],
        lambda: [svc.predict(x) for x in singles],
    )


if __name__ == "__main__":
    main(__doc__, cases)
