"""Covertype at growing sizes, beside a decision tree and LightGBM: seconds, errors, speed.

    python examples/reproduce_hlsvm/scaling.py

Every measurement is appended to measured/scaling.jsonl and not made again. All use one thread and
count the processor's seconds, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import measured
import numpy as np
from data import split
from run import count_cost, scaled
from sklearn.tree import DecisionTreeClassifier

from dcsvm.inspection import compile_tree

SIZES = (10_000, 50_000, 100_000, 200_000, 500_000)
#: Fixed, so that only the rows grow; chosen in a trial on rows of the training part.
CELL = {"scale": "minmax", "regularization": 1e-3, "prune": 0.0, "threshold": "impurity"}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--repeats", type=int, default=1, help="measure each size so often")
    given = reader.parse_args()
    rows = split("covertype")
    for repeat in range(given.repeats):
        for size in SIZES:
            key = {"method": "h_lsvm", "rows": size, "repeat": repeat}
            if not measured.find("scaling", **key):
                print(measured.write("scaling", {**key, **grown(rows, size, repeat)}), flush=True)
    for method in ("decision_tree", "lightgbm"):
        key = {"method": method, "rows": len(rows.training[1]), "repeat": 0}
        if not measured.find("scaling", **key):
            print(measured.write("scaling", {**key, **rival(rows, method)}), flush=True)


def grown(rows: Any, size: int, repeat: int) -> dict[str, Any]:
    """The tree from some of the rows; errors on all of those and on the test rows."""
    X, y = rows.training
    drawn = np.random.default_rng(repeat).permutation(len(y))[:size]
    model = scaled("covertype", "h_lsvm", CELL, repeat)
    started = time.process_time()
    model.fit(X[drawn], y[drawn])
    seconds = time.process_time() - started
    fast = compile_tree(model)
    return {
        "fit_seconds": round(seconds, 3),
        "nodes": len(fast.tree.thresholds),
        "training_error": float((fast.predict(X[drawn]) != y[drawn]).mean()),
        **answered(fast, *rows.test()),
        "nodes_per_row": float(count_cost(model, rows.test()[0]).hyperplanes.mean()),
    }


def rival(rows: Any, method: str) -> dict[str, Any]:
    """What another user would take, with its defaults, on all training rows."""
    if method == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_jobs=1, verbose=-1)
    else:
        model = DecisionTreeClassifier(random_state=0)
    started = time.process_time()
    model.fit(*rows.training)
    seconds = time.process_time() - started
    found = {"fit_seconds": round(seconds, 3), **answered(model, *rows.test())}
    if method == "decision_tree":
        path = model.decision_path(rows.test()[0])
        found["nodes_per_row"] = float(path.sum() / path.shape[0] - 1)
        found["nodes"] = int(model.tree_.node_count - model.get_n_leaves())
    return found


def answered(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """The error, and the best of five times that a batch took by row."""
    seconds = []
    for _ in range(5):
        started = time.process_time()
        answers = model.predict(X)
        seconds.append(time.process_time() - started)
    return {
        "error": float((answers != y).mean()),
        "batch_seconds_per_row": min(seconds) / len(y),
    }


if __name__ == "__main__":
    main()
