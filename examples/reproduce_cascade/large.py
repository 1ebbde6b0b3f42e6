"""More than 100,000 rows of two classes on two cores: cascade, global solver and SVC by the clock.

    python examples/reproduce_cascade/large.py [--rows 120000] [--cores 2]

The data are ijcnn1, both files in one random order. C and gamma are chosen by the whole machine
from a small grid, learned from 20,000 of the training rows and judged by 10,000 others of them.
Wall time means something only on a machine with nothing else to do: the load is kept beside it.
"""

from __future__ import annotations

import argparse
from typing import Any

from data import Split, ijcnn
from measured import accuracy, learn, learn_svc, machine, once

from dcsvm import build

GRID = [(C, gamma) for C in (1.0, 8.0, 64.0) for gamma in (0.5, 2.0, 8.0)]
LEARNED, JUDGED = 20000, 10000
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "cascade": ("cascade", {}),
    "cascade, in turn": ("cascade", {"in_turn": True}),
    "global, own solver": ("whole", {}),
}


def chosen(split: Split) -> tuple[float, float]:
    """The cell of the grid that answers most validation rows rightly; no test row is seen."""
    cut = slice(LEARNED, LEARNED + JUDGED)
    best, most = GRID[0], -1.0
    for C, gamma in GRID:

        def measure(C: float = C, gamma: float = gamma) -> dict[str, Any]:
            model, took = learn(
                build("decomposer", "whole"),
                machine(C, gamma),
                split.X[:LEARNED],
                split.y[:LEARNED],
            )
            return {**took, "validation": accuracy(model, split.X[cut], split.y[cut])}

        record = once("large_choice", {"C": C, "gamma": gamma, "chosen_on": LEARNED}, measure)
        if record["validation"] > most:
            best, most = (C, gamma), record["validation"]
    return best


def measure(split: Split, method: str, C: float, gamma: float, cores: int) -> dict[str, Any]:
    """One training, and one look at the test rows."""
    if method == "SVC":
        model, took = learn_svc(split.X, split.y, C, gamma)
    else:
        name, settings = METHODS[method]
        decomposer = build("decomposer", name, **settings)
        model, took = learn(decomposer, machine(C, gamma), split.X, split.y, jobs=cores)
    return {**took, "test": accuracy(model, *split.test())}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, default=120000)
    reader.add_argument("--cores", type=int, default=2)
    given = reader.parse_args()
    split = ijcnn(given.rows)
    C, gamma = chosen(split)
    for method in [*METHODS, "SVC"]:
        key = {"rows": given.rows, "method": method, "C": C, "gamma": gamma}
        key["cores"] = 1 if method == "SVC" else given.cores
        once(
            "large",
            key,
            lambda method=method: measure(split, method, C, gamma, given.cores),
        )


if __name__ == "__main__":
    main()
