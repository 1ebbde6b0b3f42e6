"""One row at a time: `predict` of many pipelines on Letter, against SVC.predict on one thread."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import data
import numpy as np
from sklearn.svm import SVC
from table import Row, show
from threadpoolctl import threadpool_limits

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.inspection import compile_tree

TRAINED, CALLS = 6000, 100
C, GAMMA = 10.0, 3.0
#: Microseconds that a row may take beside its kernel values.
LIMIT = 100.0
#: A compiled tree, in microseconds, and a forest, as a share of the time of SVC.
TREE_LIMIT, FOREST_RATIO = 3.0, 0.2
#: Decomposer with settings, times, learner, combiner.
PIPELINES: list[tuple[str, dict[str, Any], int, str, str]] = [
    ("whole", {}, 1, "kernel_svm", "route"),
    ("class_pairs", {}, 1, "kernel_svm", "dag"),
    ("tree", {}, 1, "kernel_svm", "route"),
    ("kmeans", {}, 1, "kernel_svm", "route"),
    ("kernel_kmeans", {}, 1, "kernel_svm", "route"),
    ("oblique_tree", {}, 1, "majority", "route"),
    ("class_pairs", {}, 1, "kernel_svm", "vote"),
    ("class_rest", {}, 1, "kernel_svm", "argmax"),
    ("class_codes", {}, 1, "kernel_svm", "decode"),
    ("whole", {}, 1, "kernel_svm", "vote"),
    ("whole", {}, 1, "kernel_svm", "mean"),
    ("whole", {}, 1, "krr", "route"),
    ("rd_subspaces", {}, 1, "kernel_svm", "mean"),
    ("pca_subspaces", {}, 1, "kernel_svm", "fusion"),
    ("tree", {"splitter": "random"}, 5, "kernel_svm", "mean"),
    ("bootstrap", {}, 1, "kernel_svm", "vote"),
    ("chunks", {}, 1, "kernel_svm", "vote"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=CALLS, help="rows asked one by one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    parser.add_argument("--only", default="", help="run rows whose name holds this text")
    options = parser.parse_args()
    X, y = some_rows() if options.quick else data.letter()
    trained = 300 if options.quick else TRAINED
    order = np.random.default_rng(0).permutation(len(y))
    X, y, T = X[order[:trained]], y[order[:trained]], X[order[trained:]]
    singles = [np.array(row)[None] for row in T[: options.repeats]]
    with threadpool_limits(1):
        svc = SVC(C=C, gamma=GAMMA).fit(X, y)
        theirs = median_microseconds(svc.predict, singles)
        show(rows_of(X, y, T, singles, theirs, options.only), as_json=options.json)


def rows_of(X: Any, y: Any, T: Any, singles: list[Any], theirs: float, only: str) -> list[Row]:
    """A row for each pipeline; the labels of single rows are compared with those of a batch."""
    rows, speed = [], 0.0
    for division, settings, times, learner, combiner in PIPELINES:
        name = f"{times} * {division}" if times > 1 else division
        name = f"{name} + {combiner}" + (f" ({learner})" if learner != "kernel_svm" else "")
        if only not in name and speed:
            continue
        clf = fit(division, settings, times, learner, combiner, X, y)
        batch = clf.predict(T)[: len(singles)]
        assert [clf.predict(x)[0] for x in singles] == batch.tolist(), name
        took = median_microseconds(clf.predict, singles)
        evaluations = np.mean(clf.cost(T[: len(singles)]).unique_kernel_evaluations)
        # The first pipeline says what a kernel value costs.
        speed = speed or took / evaluations
        limit = LIMIT + speed * evaluations
        asked = f"under {limit:.0f} us"
        rows.append(Row(name, "us", took, theirs, asked, took, limit))
        if learner == "majority":
            one = compile_tree(clf).one
            took = median_microseconds(one, [x[0] for x in singles])
            asked = f"under {TREE_LIMIT:.0f} us"
            rows.append(Row(f"{name}, compiled", "us", took, theirs, asked, took, TREE_LIMIT))
        if times > 1:
            asked = f"{1 / FOREST_RATIO:.0f} times faster"
            row = Row(f"{name}, SVC", "us", took, theirs, asked, took / theirs, FOREST_RATIO)
            calibrated = clf.set_params(probability="auto").fit(X, y)
            rows += [row, *rows_of_probabilities(calibrated, name, singles, theirs, limit)]
    return rows


def rows_of_probabilities(
    clf: DivideAndConquerClassifier, name: str, singles: list[Any], theirs: float, limit: float
) -> Iterator[Row]:
    """The same pipeline with probability="auto", as recipes have it."""
    batch = np.vstack(singles)
    singly = np.vstack([clf.predict_proba(x) for x in singles])
    np.testing.assert_allclose(singly, clf.predict_proba(batch), atol=1e-9)
    for method in (clf.predict, clf.predict_proba):
        took = median_microseconds(method, singles)
        asked = f"under {limit:.0f} us"
        title = f"{name}, probabilities, {method.__name__}"
        yield Row(title, "us", took, theirs, asked, took, limit)


def fit(
    division: str,
    settings: dict[str, Any],
    times: int,
    learner: str,
    combiner: str,
    X: Any,
    y: Any,
) -> DivideAndConquerClassifier:
    decomposer = build("decomposer", division, **settings)
    own = {"kernel_svm": {"C": C, "gamma": GAMMA}, "krr": {"gamma": GAMMA}}.get(learner, {})
    return DivideAndConquerClassifier(
        times * decomposer if times > 1 else decomposer,
        build("learner", learner, **own),
        combiner,
        random_state=0,
    ).fit(X, y)


def median_microseconds(ask: Callable[[Any], object], rows: list[Any]) -> float:
    """The median time of a call for a single row."""
    for row in rows[:10]:
        ask(row)
    times = []
    for row in rows:
        begin = time.perf_counter()
        ask(row)
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def some_rows() -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.random((400, 6))
    return X, (3 * X[:, 0]).astype(int) + 3 * (X[:, 1] > 0.5)


if __name__ == "__main__":
    main()
