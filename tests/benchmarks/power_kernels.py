"""Kernels exp(-gamma sum |x - y|^p) beside the RBF kernel (p = 2) and the Laplacian one (p = 1).

    python tests/benchmarks/power_kernels.py

scikit-learn's SVC with precomputed kernels, C and gamma by three folds of the rows learned, judged
by other rows of the part to learn from (`suite.py --judge validation`). Every set is scaled as
`global_svm` chose. A column with several powers shows the one that the folds chose.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from suite import HERE, Cell, draw, read_kept

from dcsvm import TablePreparation
from dcsvm.toolbox import Column, TableSchema

POWERS = (2.0, 1.0, 0.5, 1.5)
FAMILIES = ((2.0,), (1.0,), (0.5,), (1.5,), (2.0, 1.0), (2.0, 1.0, 0.5), (2.0, 1.0, 1.5), POWERS)
#: Gammas as multiples of one over the median distance, and values of C.
FACTORS, COSTS = (0.1, 0.4, 1.5, 5.0), (1.0, 10.0, 100.0, 1000.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1500, help="to learn from")
    parser.add_argument("--judges", type=int, default=3000, help="rows to judge by at the most")
    options = parser.parse_args()
    titles = [" ".join(f"{power:g}" for power in family) for family in FAMILIES]
    print(f"{'p':16}" + "".join(f"{title:>13}" for title in titles), flush=True)
    rows = []
    for name, chosen in read_chosen("global_svm").items():
        cell = draw(name, 0, options.rows, "validation")
        if not sparse.issparse(cell.X):
            found = measure(cell, chosen["data.scale"], options.judges)
            best = [max(family, key=lambda power: found[power][0]) for family in FAMILIES]
            rows.append([found[power][1] for power in best])
            print_row(name, rows[-1])
    print_row("mean", np.mean(rows, axis=0))


def print_row(name: str, accuracies: Any) -> None:
    print(f"{name:16}" + "".join(f"{100 * each:13.2f}" for each in accuracies), flush=True)


def read_chosen(method: str) -> dict[str, dict[str, Any]]:
    """What the search of a recipe chose on each set, of 4,000 rows."""
    kept = read_kept(HERE / "measured" / "suite_validation.jsonl")
    return {
        each["set"]: each["chosen"]
        for each in kept
        if (each["method"], each["tag"], each["asked"]) == (method, "ranks and Laplacian", 4000)
    }


def prepare(cell: Cell, scale: Any) -> tuple[Any, Any]:
    """The features of the rows to learn from and to judge by."""
    highest = np.nanmax(np.vstack([cell.X, cell.X_test]), axis=0)
    columns = tuple(
        Column(
            f"x{j}",
            tuple(map(str, range(int(highest[j]) + 1))) if j in cell.categorical else None,
        )
        for j in range(cell.X.shape[1])
    )
    prepared = TablePreparation(scale, missing="mark", schema=TableSchema(columns)).fit(cell.X)
    return prepared.transform(cell.X), prepared.transform(cell.X_test)


def measure(cell: Cell, scale: Any, most: int) -> dict[float, tuple[float, float]]:
    """The accuracy by folds, and of the rows that judge, of the best machine of each power."""
    X, judged = prepare(cell, scale)
    found = {}
    for power in POWERS:
        within, across = add_powers(X, X, power), add_powers(judged[:most], X, power)
        unit = np.median(within[within > 0])
        cells = list(product(FACTORS, COSTS))
        scores = [rate(np.exp(-factor / unit * within), cell.y, C) for factor, C in cells]
        factor, C = cells[int(np.argmax(scores))]
        machine = SVC(C=C, kernel="precomputed").fit(np.exp(-factor / unit * within), cell.y)
        answers = machine.predict(np.exp(-factor / unit * across))
        found[power] = max(scores), float((answers == cell.y_test[:most]).mean())
    return found


def add_powers(X: Any, Y: Any, power: float) -> Any:
    """The sums of |x - y|^p over the features, (n, m)."""
    total = np.zeros((len(X), len(Y)))
    for column, other in zip(X.T, Y.T, strict=True):
        total += np.abs(column[:, None] - other) ** power
    return total


def rate(gram: Any, y: Any, C: float) -> float:
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(gram, y)
    return float(np.mean([rate_fold(gram, y, C, *fold) for fold in folds]))


def rate_fold(gram: Any, y: Any, C: float, learned: Any, judging: Any) -> float:
    machine = SVC(C=C, kernel="precomputed").fit(gram[np.ix_(learned, learned)], y[learned])
    return float(machine.score(gram[np.ix_(judging, learned)], y[judging]))


if __name__ == "__main__":
    main()
