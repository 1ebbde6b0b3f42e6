"""Feature-space division of 50,000 rows of covertype against DC-SVM early, with 5 minutes."""

from __future__ import annotations

import argparse
import time

import data
import numpy as np
from table import Row, show

from dcsvm import DivideAndConquerClassifier, build

FEATURES = {"rd": 40, "pca": 40, "dca": 40, "bcd": 27, "abd": 27}
LIMIT = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    options = parser.parse_args()
    arrays = data.arrays("covtype")
    rows = 2000 if options.quick else options.rows
    order = np.random.default_rng(0).permutation(len(arrays["y"]))[: rows * 5 // 4]
    X, y = data.scaled(arrays["X"][order]), arrays["y"][order] == 1
    level = max(1, round(np.log(rows / 800) / np.log(4)))
    early = build("decomposer", "dc_svm", depth=level, early=level, gamma=1.0)
    svm = build("learner", "kernel_svm", C=32.0, gamma=32.0)
    alone = pipeline(early, svm, "route")
    spaces = [
        build("decomposer", f"{kind}_subspaces", subspaces=4, features=features)
        for kind, features in FEATURES.items()
    ]
    divided = pipeline(build("decomposer", "sum", summands=tuple(spaces)), alone, "fusion")
    seconds, errors = zip(*(measured(each, X, y, rows) for each in (divided, alone)), strict=True)
    minutes = f"under {LIMIT:.0f} s"
    show(
        [
            Row("training and answering", "s", *seconds, minutes, seconds[0], LIMIT),
            Row("test error", "%", *errors, "below theirs", errors[0], errors[1]),
        ],
        as_json=options.json,
    )


def pipeline(decomposer: object, learner: object, combiner: str) -> DivideAndConquerClassifier:
    return DivideAndConquerClassifier(decomposer, learner, combiner, n_jobs=2, random_state=0)


def measured(
    classifier: DivideAndConquerClassifier, X: np.ndarray, y: np.ndarray, rows: int
) -> tuple[float, float]:
    """Seconds of learning the first rows and answering the others, and the error there."""
    started = time.perf_counter()
    classifier.fit(X[:rows], y[:rows])
    error = 100.0 * (1.0 - classifier.score(X[rows:], y[rows:]))
    return time.perf_counter() - started, error


if __name__ == "__main__":
    main()
