"""The paper's rivals with the same grid: bagging that grows while it gains, and CBD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import measured
import numpy as np
from data import Split, split
from global_svm import CELLS, SAMPLE
from td import SCHEMES

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build

#: Seconds of work after which a rival's search is given up.
CAP = 3600


def run(name: str, training: str, rival: str, cap: int = CAP, sample: bool = False) -> None:
    """Search for a rival's parameters, then ask the best about the test rows.

    With `sample` CBD tries every seventh cell, the ones that the global SVM was measured with.
    """
    asked = {"data_set": name, "training": training, "rival": rival}
    if measured.read("rivals", **asked):
        return
    cut = split(name)
    if rival == "cbd":
        cells = SAMPLE if sample else CELLS
        found = measured.capped(lambda: concept_boundary(cut, training, cells), cap)
    else:
        found = measured.capped(lambda: bagging(cut, training), cap)
    print(asked, found, flush=True)
    measured.append("rivals", asked | found)


def bagging(cut: Split, training: str) -> dict[str, Any]:
    """Members of 1,500 rows for every cell, until the gain on the validation rows is too small."""
    (X, y), (X_val, y_val) = cut.training, cut.validation
    judged = tuple(range(len(y), len(y) + len(y_val)))
    rows, labels = np.concatenate([X, X_val]), np.concatenate([y, y_val])
    clock, best, best_score = measured.Clock(), None, -1.0
    for cell in CELLS:
        clf = DivideAndConquerClassifier(
            build("decomposer", "growing_bags", held_back=judged),
            build("learner", "kernel_svm", multiclass=SCHEMES[training], **cell),
            build("combiner", "vote"),
            random_state=0,
        ).fit(rows, labels)
        score = float(clf.score(X_val, y_val))
        if score > best_score:
            best, best_score, best_cell = clf, score, cell
    took = clock.seconds()
    members = len(best.model_.committee.members)
    return _result(best, took, best_cell, best_score, cut) | {"members": members}


def concept_boundary(
    cut: Split, training: str, cells: Sequence[dict[str, float]] = CELLS
) -> dict[str, Any]:
    """One machine on the rows near class boundaries, with each of the cells."""
    clf = DivideAndConquerClassifier(
        build("decomposer", "concept_boundary"),
        build("learner", "kernel_svm", multiclass=SCHEMES[training]),
        build("combiner", "route"),
        random_state=0,
    )
    clock = measured.Clock()
    grid = [{f"learner__{name}": [cell[name]] for name in cell} for cell in cells]
    search = GranularitySearch(clf, grid, random_state=0, n_jobs=1).fit(
        *cut.training, X_val=cut.validation[0], y_val=cut.validation[1]
    )
    took = clock.seconds()
    cell = {name.removeprefix("learner__"): value for name, value in search.best_params_.items()}
    facts = {
        "rows": search.best_estimator_.ledger_[0].rows,
        "cells": len(cells),
        "seconds_of_cells": round(float(search.results_["seconds"].sum()), 3),
    }
    return _result(search.best_estimator_, took, cell, search.best_score_, cut) | facts


def search_seconds(record: dict[str, Any]) -> float:
    """The seconds of a search over all cells: those that were not tried as long as the others.

    Cells are timed on the wall, which beside other work is more than the processor's time of all.
    """
    tried = record.get("cells", len(CELLS))
    left_out = len(CELLS) / tried - 1
    of_cells = min(record.get("seconds_of_cells", 0.0), record["seconds"])
    return float(record["seconds"] + left_out * of_cells)


def _result(
    best: Any, took: dict[str, float], cell: dict[str, float], score: float, cut: Split
) -> dict[str, Any]:
    """The test rows are read here, when the cell is chosen."""
    X, y = cut.test()
    return (
        {"seconds": took["cpu_seconds"]}
        | cell
        | {
            "validation_accuracy": score,
            "test_accuracy": float((best.predict(X) == y).mean()),
            "nsv": float(np.mean(best.cost(X).kernel_evaluations)),
        }
    )
