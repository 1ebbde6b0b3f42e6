"""DC-SVM stopped early on binary covertype: 464,810 rows, C = 32, gamma = 32, features in [0, 1].

    python examples/reproduce_cascade/dc_svm_early.py [--rows 50000]

The level is that of the DC-SVM paper, 64 clusters (three levels of four), and nothing is chosen on
any rows; `--rows` learns from fewer.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from data import covertype_binary
from measured import accuracy, learn, machine, once

from dcsvm import build

C = GAMMA = 32.0


def measure(rows: int | None, depth: int, early: int, sample: int) -> dict[str, Any]:
    """One training, and one look at the test rows."""
    split = covertype_binary(rows)
    levels = build(
        "decomposer", "dc_svm", depth=depth, early=early, gamma=GAMMA, sample=sample, balance=1.5
    )
    model, took = learn(levels, machine(C, GAMMA), split.X, split.y)
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
    given = reader.parse_args()
    key = {"rows": given.rows, "depth": 3, "early": 3, "sample": 2000}
    once("dc_svm_early", key, lambda: measure(**key))


if __name__ == "__main__":
    main()
