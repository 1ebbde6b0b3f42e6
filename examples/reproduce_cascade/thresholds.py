"""How far one threshold on one column gets on the pairs of tables 4 and 5.

    python examples/reproduce_cascade/thresholds.py

A stump and one nearest neighbour, from the same training rows: what these get right without
effort, an SVM can be expected to get right too.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from data import covertype_pair
from measured import accuracy, once
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tables4to6 import PROBLEMS


def measure(problem: str) -> dict[str, Any]:
    """The column, the threshold, and the test accuracies."""
    rows = covertype_pair(*PROBLEMS[problem][0])
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(rows.X, rows.y)
    nearest = KNeighborsClassifier(1).fit(rows.X, rows.y)
    return {
        "column": int(stump.tree_.feature[0]),
        "threshold": float(stump.tree_.threshold[0]),
        "stump": accuracy(stump, *rows.test()),
        "nearest": accuracy(nearest, *rows.test()),
    }


def main() -> None:
    for problem in PROBLEMS:
        once("thresholds", {"problem": problem}, partial(measure, problem))


if __name__ == "__main__":
    main()
