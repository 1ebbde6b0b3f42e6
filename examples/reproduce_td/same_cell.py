"""The undivided SVM at the C and gamma that TD chose, by dcsvm's own solver.

    python examples/reproduce_td/same_cell.py

The global search of scikit-learn saw few cells on most data sets; here the undivided SVM gets the
cell of TD instead. A fit is stopped after `--cap` seconds. Appended to measured/same_cell.jsonl.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import measured
import td
from data import split
from global_svm import undivided
from paper import SETS


def measure(name: str, training: str, cell: dict[str, float]) -> dict[str, Any]:
    """Learn the training rows, then ask for the test rows: nothing is chosen here."""
    rows = split(name)
    clock = measured.Clock()
    model = undivided(training, cell).fit(*rows.training)
    found = {"seconds": clock.seconds()["cpu_seconds"]}
    return {**found, "test_accuracy": float(model.score(*rows.test()))}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--cap", type=int, default=90, help="seconds of the processor")
    given = reader.parse_args()
    for training in ("1A1", "1AO"):
        for name in SETS:
            asked = {"data_set": name, "training": training}
            (chosen,) = td.found(variant="paper", jobs=1, **asked)
            cell = {key: chosen["chosen"][f"learner__{key}"] for key in ("C", "gamma")}
            if not measured.read("same_cell", **asked, **cell):
                found = measured.capped(partial(measure, name, training, cell), given.cap)
                measured.append("same_cell", asked | cell | found)
                print(asked, cell, found, flush=True)


if __name__ == "__main__":
    main()
