"""Other learners in the leaves of the tree, beyond the paper.

    python examples/reproduce_td/leaf_learners.py

Leaves have at most 1,500 rows. Each learner has its own grid, and the cell with the best
validation accuracy is asked for the test rows. Appended to measured/leaf_learners.jsonl.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import measured
import numpy as np
from data import split

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build

CEILING = 1500
SETS = ("pendigits", "letter", "shuttle")
GAMMAS = [0.1, 1.0, 10.0, 100.0]
#: Values that are tried, by learner.
GRIDS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "kernel_svm": {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": GAMMAS},
    "krr": {"ridge": [1.0, 0.1, 0.01, 0.001], "gamma": GAMMAS},
    "trbf_krr": {"ridge": [1.0, 0.1, 0.01, 0.001], "gamma": GAMMAS},
    "linear_svm": {"C": [10.0**power for power in range(-2, 5)]},
}


def measure(name: str, learner: str) -> dict[str, Any]:
    """Search on the validation rows, then ask for the test rows once."""
    rows = split(name)
    tree = build("decomposer", "tree", ceiling=CEILING, growth="exact")
    model = DivideAndConquerClassifier(tree, build("learner", learner), "route", random_state=0)
    grid = {f"learner__{key}": list(values) for key, values in GRIDS[learner].items()}
    search = GranularitySearch(model, grid, levels=1, refit="training", random_state=0, n_jobs=1)
    clock = measured.Clock()
    search.fit(*rows.training, X_val=rows.validation[0], y_val=rows.validation[1])
    took = clock.seconds()
    X, y = rows.test()
    clock = measured.Clock()
    answers = search.predict(X)
    return {
        "cells": len(search.results_["params"]),
        "chosen": {key: search.best_params_[f"learner__{key}"] for key in GRIDS[learner]},
        "validation_accuracy": search.best_score_,
        "test_accuracy": float((answers == y).mean()),
        "nsv": float(np.mean(search.cost(X).kernel_evaluations)),
        **took,
        "answering_cpu_seconds": clock.seconds()["cpu_seconds"],
    }


def main() -> None:
    for name in SETS:
        for learner in GRIDS:
            asked = {"data_set": name, "learner": learner}
            if not measured.read("leaf_learners", **asked):
                measured.append("leaf_learners", asked | measure(name, learner))
                print(asked, flush=True)


if __name__ == "__main__":
    main()
