"""DC-SVM stopped early on binary covertype: 464,810 rows, C = 32, gamma = 32, features in [0, 1].

    python examples/reproduce_cascade/dc_svm_early.py [--rows 50000] [--widths 32]

The DC-SVM paper has 64 clusters (three levels of four). With the machine's own gamma rows are far
from all centres, and a third of them ends in one cluster; so the clusters have a width of their
own, chosen by 20,000 training rows after learning from 80,000 others. `--widths` gives the ones to
choose from, `--level 2` stops at 16 clusters, `--rows` learns from fewer.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from data import covertype_binary
from measured import accuracy, learn, machine, once

from dcsvm import build

C = GAMMA = 32.0


WIDTHS = [0.5, 1.0, 2.0, 4.0, 8.0, 32.0]
LEARNED, JUDGED = 80000, 20000


def levels(width: float, level: dict[str, int]) -> Any:
    """Clusters in the feature space of that gamma."""
    return build("decomposer", "dc_svm", gamma=width, balance=1.5, **level)


def chosen(widths: list[float], level: dict[str, int]) -> float:
    """The width with the fewest errors on training rows that were not learned."""
    if len(widths) == 1:
        return widths[0]
    split = covertype_binary(LEARNED + JUDGED)
    errors = {}
    for width in widths:

        def measure(width: float = width) -> dict[str, Any]:
            model, took = learn(
                levels(width, level), machine(C, GAMMA), split.X[:LEARNED], split.y[:LEARNED]
            )
            right = accuracy(model, split.X[LEARNED:], split.y[LEARNED:])
            return {"cpu": took["cpu"], "validation": right}

        key = {"width": width, "chosen_on": LEARNED, **level}
        errors[width] = -once("dc_svm_early_choice", key, measure)["validation"]
    return min(errors, key=errors.__getitem__)


def measure(rows: int | None, width: float, level: dict[str, int]) -> dict[str, Any]:
    """One training, and one look at the test rows."""
    split = covertype_binary(rows)
    model, took = learn(levels(width, level), machine(C, GAMMA), split.X, split.y)
    X, y = split.test()
    started = time.process_time()
    right = accuracy(model, X, y)
    return {
        **took,
        "learned": len(split.y),
        "test": right,
        "predict_cpu": round(time.process_time() - started, 3),
        "largest_part": max(record.rows for record in model.ledger_),
        "kernel_evaluations": float(model.cost(X[:5000]).kernel_evaluations.mean()),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, default=None)
    reader.add_argument("--widths", type=float, nargs="+", default=WIDTHS)
    reader.add_argument("--level", type=int, default=3)
    given = reader.parse_args()
    level = {"depth": given.level, "early": given.level, "sample": 2000}
    width = chosen(given.widths, level)
    key = {"rows": given.rows, "width": width, **level}
    once("dc_svm_early", key, lambda: measure(given.rows, width, level))


if __name__ == "__main__":
    main()
