"""Batches of covertype through a forest of SVMs: by its plan, member by member, LightGBM."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import data
import numpy as np
from table import Row, show
from threadpoolctl import threadpool_limits

from dcsvm import DivideAndConquerClassifier, build

TREES, CEILING, THREADS = 10, 500, 2
#: As in examples/forest_showcase.py, chosen there on validation rows.
TREE = {"local_scaling": "minmax", "max_features": 0.8, "border": 0.5, "relevance": 1.0}
MACHINE = {"multiclass": "rest", "kernel": "rbf", "C": 100.0, "gamma": 30.0}
BOOSTED = {"n_estimators": 467, "num_leaves": 511, "learning_rate": 0.05, "min_child_samples": 5}
#: Rows per second that are asked of the forest.
ASKED = 30_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    parser.add_argument("--repeats", type=int, default=3, help="how often each batch is asked")
    parser.add_argument("--rows", type=int, default=300_000, help="rows that are trained on")
    parser.add_argument("--asked", type=int, default=100_000, help="rows of a batch")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time, halved, on a shared machine"
    )
    options = parser.parse_args()
    X, y = some_rows() if options.quick else data.covertype()
    trained, asked = (2000, 1000) if options.quick else (options.rows, options.asked)
    order = np.random.default_rng(0).permutation(len(y))
    training, batch = order[:trained], order[-asked:]
    boosts = not options.quick and find_spec("lightgbm") is not None
    clock = time.perf_counter
    if options.cpu:
        clock = halved
    with threadpool_limits(1):
        cut = X[training], y[training], X[batch], y[batch]
        show(list(rows_of(*cut, options.repeats, clock, boosts)), as_json=options.json)


def rows_of(
    X: Any, y: Any, T: Any, t: Any, repeats: int, clock: Callable[[], float], boosts: bool
) -> Iterator[Row]:
    """Microseconds per row of the forest and of others, and how often they are wrong."""
    tree = build("decomposer", "tree", ceiling=CEILING, **TREE)
    machine = build("learner", "kernel_svm", **MACHINE)
    forest = DivideAndConquerClassifier(
        TREES * tree, machine, "mean", n_jobs=THREADS, random_state=0
    ).fit(X, y)
    labels, ours = ask(forest.predict, T, repeats, clock)
    singly, theirs = ask(lambda T: ask_members(forest, T), T, repeats, clock)
    assert (labels == singly).all(), "the plan and its members predict other labels"
    limit, asked = 1e6 / ASKED, f"{ASKED:,} rows/s"
    name = f"{TREES} trees of {len(X):,} rows"
    yield Row(f"{name}, member by member", "us", ours, theirs, asked, ours, limit)
    if boosts:
        from lightgbm import LGBMClassifier

        boosted = LGBMClassifier(**BOOSTED, n_jobs=THREADS, random_state=0, verbose=-1).fit(X, y)
        said, theirs = ask(boosted.predict, T, 1, clock)
        yield Row(f"{name}, LightGBM", "us", ours, theirs, "faster", ours / theirs, 1.0)
        wrong = [float(np.mean(each != t)) for each in (labels, said)]
        yield Row(f"{name}, LightGBM, errors", "", *wrong, "", 0.0, 1.0)


def ask_members(forest: DivideAndConquerClassifier, T: Any) -> Any:
    """The labels member by member, half of the rows in each thread."""
    model = forest.model_
    with ThreadPoolExecutor(THREADS) as pool:
        scores = pool.map(
            lambda rows: model.combination.combine(model.committee, rows),
            np.array_split(T, THREADS),
        )
        return forest.classes_[np.nanargmax(np.concatenate(list(scores)), axis=1)]


def ask(
    predict: Callable[[Any], Any], T: Any, repeats: int, clock: Callable[[], float]
) -> tuple[Any, float]:
    """The labels, and the median microseconds per row; what is prepared once is not counted."""
    labels, times = predict(T), []
    for _ in range(repeats):
        started = clock()
        predict(T)
        times.append(clock() - started)
    return labels, 1e6 * sorted(times)[len(times) // 2] / len(T)


def halved() -> float:
    return time.process_time() / THREADS


def some_rows() -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.random((4000, 6))
    return X, (3 * X[:, 0] + X[:, 1] ** 2).astype(int)


if __name__ == "__main__":
    main()
