"""What a Laplacian kernel and a learned metric are worth in a leaf, over the suite.

    python tests/benchmarks/leaf_kernels.py --rows 2000 --seeds 2

For each data set of the suite (`DCSVM_SUITE` names its folder) and each seed, rows are split into
training, validation and test rows; C and gamma are chosen on the validation rows from the same
twelve cells for every kernel and metric, and test rows are asked once. Features are standardized.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from tree_accuracy import SETS, split

from dcsvm import DivideAndConquerClassifier, build

KERNELS, METRICS = ("rbf", "laplacian"), ("given", "learned")
KINDS = list(product(KERNELS, METRICS))
CELLS = [{"C": C, "gamma": g} for C in (1.0, 10.0, 100.0) for g in (0.1, 0.3, 1.0, 3.0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at most")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sets", default=",".join(name for name in SETS if name != "w8a_train"))
    options = parser.parse_args()
    heads = [f"{kernel}, {metric}" for kernel, metric in KINDS]
    print(f"{'accuracy, %':18}" + "".join(f"{head:>20}" for head in heads))
    rows = []
    for name in options.sets.split(","):
        scores = [
            [score(kind, name, seed, options.rows) for kind in KINDS]
            for seed in range(options.seeds)
        ]
        rows.append(np.mean(scores, axis=0))
        say(name, rows[-1])
    say("mean", np.mean(rows, axis=0))


def say(name: str, scores: Any) -> None:
    print(f"{name:18}" + "".join(f"{100 * score:20.2f}" for score in scores), flush=True)


def score(kind: tuple[str, str], name: str, seed: int, rows: int) -> float:
    """The test accuracy of a kernel in a metric, with C and gamma from the validation rows."""
    kernel, metric = kind
    parts = split(name, seed, rows)
    scaler = StandardScaler().fit(parts[0][0])
    train, validation, test = ((scaler.transform(X), y) for X, y in parts)
    if metric == "learned":
        decomposer = build("decomposer", "learned_metric", kernel=kernel)
        fitted = DivideAndConquerClassifier(decomposer, "majority", "route", random_state=seed)
        view = fitted.fit(*train).model_.committee.members[0].view
        train, validation, test = ((view.apply(X), y) for X, y in (train, validation, test))
    unit = 1 / train[0].shape[1]
    found = []
    for cell in CELLS:
        learner = build(
            "learner", "kernel_svm", kernel=kernel, **cell | {"gamma": cell["gamma"] * unit}
        )
        fitted = DivideAndConquerClassifier("whole", learner, "route", random_state=seed).fit(
            *train
        )
        found.append((fitted.score(*validation), fitted))
    return float(max(found, key=lambda each: each[0])[1].score(*test))


if __name__ == "__main__":
    main()
