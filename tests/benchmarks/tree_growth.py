"""Growing a tree over a million rows: by histograms, by the exact search, and beside LightGBM."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from math import log
from typing import Any

import numpy as np
from table import Row, show

from dcsvm import DivideAndConquerClassifier, Problem, build
from dcsvm.base.threads import CORES

FEATURES, CEILING, THREADS = 28, 1500, 2
ROWS, SIZES = 1_000_000, (500_000, 1_000_000, 2_000_000, 5_000_000)
FASTER, EXPONENT = 12.0, 1.05
CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.perf_counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    parser.add_argument("--repeats", type=int, default=3, help="of what takes seconds")
    parser.add_argument(
        "--only", choices=("exact", "lightgbm", "sizes"), action="append", help="some of the rows"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="processor time of one thread, on a shared machine"
    )
    options = parser.parse_args()
    CLOCK.set(time.process_time if options.cpu else time.perf_counter)
    asked = options.only or ["exact", "lightgbm", "sizes"]
    share = 100 if options.quick else 1
    CORES.set(1 if options.cpu else THREADS)
    parts = {"exact": beside_exact, "lightgbm": beside_lightgbm, "sizes": by_size}
    rows = [row for name in asked for row in parts[name](share, options.repeats)]
    show(rows, as_json=options.json)


def beside_exact(share: int, repeats: int) -> Iterator[Row]:
    X, y = make_rows(ROWS // share, 0)
    ours, _ = median_of(repeats, lambda: grow(X, y, "histogram"))
    theirs, _ = median_of(1, lambda: grow(X, y, "exact"))
    name = f"growing, {len(X):,} rows, exact search"
    yield Row(name, "s", ours, theirs, f"{FASTER:.0f} times faster", ours / theirs, 1 / FASTER)


def beside_lightgbm(share: int, repeats: int) -> Iterator[Row]:
    from lightgbm import LGBMClassifier

    X, y = make_rows(ROWS // share, 0)
    X_test, y_test = make_rows(200_000 // share, 1)
    tree = build("decomposer", "tree", ceiling=CEILING)
    learner = build("learner", "kernel_svm", C=1.0, gamma=0.05)
    ours, classifier = median_of(
        repeats,
        lambda: DivideAndConquerClassifier(
            tree, learner, "route", random_state=0, n_jobs=CORES.get()
        ).fit(X, y),
    )
    theirs, booster = median_of(
        repeats, lambda: LGBMClassifier(n_jobs=CORES.get(), verbose=-1, random_state=0).fit(X, y)
    )
    name = f"tree + kernel_svm, {len(X):,} rows, LightGBM"
    yield Row(name, "s", ours, theirs, "no slower", ours / theirs, 1.0)
    errors = [float(np.mean(each.predict(X_test) != y_test)) for each in (classifier, booster)]
    yield Row(f"{name}, errors", "", *errors, "", 0.0, 1.0)


def by_size(share: int, repeats: int) -> Iterator[Row]:
    """Each size beside the smallest one, judged by the exponent of the growth of time."""
    first = 0.0
    for size in SIZES:
        X, y = make_rows(size // share, 0)
        took, _ = median_of(repeats, lambda X=X, y=y: grow(X, y, "histogram"))
        first = first or took
        if size > SIZES[0]:
            exponent = log(took / first) / log(size / SIZES[0])
            name = f"growing, {len(X):,} rows, {SIZES[0] // share:,} rows"
            asked = f"exponent {exponent:.2f}, at most {EXPONENT}"
            yield Row(name, "s", took, first, asked, exponent, EXPONENT)


def grow(X: np.ndarray, y: np.ndarray, growth: str) -> Any:
    """The parts of a tree, and its router."""
    tree = build("decomposer", "tree", ceiling=CEILING, growth=growth)
    return next(tree.levels(Problem(X, y, 2)))


def median_of(repeats: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The median seconds, and what was made."""
    seconds = []
    for _ in range(repeats):
        started = CLOCK.get()()
        made = work()
        seconds.append(CLOCK.get()() - started)
    return sorted(seconds)[len(seconds) // 2], made


def make_rows(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """28 continuous features, some of them redundant, and two classes with noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, FEATURES))
    X[:, 20:] += X[:, :8]
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + 0.5 * X[:, 4] * X[:, 5]
    return X, (score + 0.4 * generator.normal(size=rows) > 0).astype(int)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    main()
