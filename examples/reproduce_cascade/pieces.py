"""Cascades of two, three and four pieces on covertype, 200,000 rows of two classes.

    python examples/reproduce_cascade/pieces.py [--rows 200000] [--against spruce]

Lodgepole Pine against Ponderosa Pine takes minutes; against Spruce, where two rows in five become
support vectors, hours. C and gamma are chosen from a small grid by the whole machine, learned from
10,000 of the training rows and judged by 5,000 others of them.
"""

from __future__ import annotations

import argparse
from typing import Any

from data import RIVALS, Split, covertype_two
from measured import accuracy, learn, machine, once

from dcsvm import build

GRID = [(C, gamma) for C in (1.0, 8.0, 64.0) for gamma in (2.0, 8.0, 32.0)]
LEARNED, JUDGED = 10000, 5000


def chosen(split: Split, rows: int, against: str) -> tuple[float, float]:
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

        key = {"against": against, "rows": rows, "C": C, "gamma": gamma, "chosen_on": LEARNED}
        record = once("pieces_choice", key, measure)
        if record["validation"] > most:
            best, most = (C, gamma), record["validation"]
    return best


def measure(split: Split, C: float, gamma: float, pieces: int, cores: int) -> dict[str, Any]:
    """One training, and one look at the test rows; no pieces stand for the whole."""
    decomposer = (
        build("decomposer", "cascade", pieces=pieces) if pieces else build("decomposer", "whole")
    )
    model, took = learn(decomposer, machine(C, gamma), split.X, split.y, jobs=cores)
    return {**took, "test": accuracy(model, *split.test())}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, default=200000)
    reader.add_argument("--cores", type=int, default=1)
    reader.add_argument("--against", choices=list(RIVALS), default="ponderosa")
    given = reader.parse_args()
    split = covertype_two(given.rows, given.against)
    C, gamma = chosen(split, given.rows, given.against)
    for pieces in (2, 3, 4, 0):
        key = {"against": given.against, "rows": given.rows, "C": C, "gamma": gamma}
        key |= {"pieces": pieces, "cores": given.cores}
        once(
            "pieces",
            key,
            lambda pieces=pieces: measure(split, C, gamma, pieces, given.cores),
        )


if __name__ == "__main__":
    main()
