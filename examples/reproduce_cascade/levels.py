"""Levels and passes at 50,000 rows of binary covertype: Graf's cascade and full DC-SVM.

    python examples/reproduce_cascade/levels.py [--rows 50000] [--only dc_svm]

Iterations with and without warm starts, the objective against that of the whole machine solved
ten times more tightly, and the time against SVC's.
"""

from __future__ import annotations

import argparse
from typing import Any

from data import Split, covertype_binary
from measured import accuracy, learn, learn_svc, machine, once

from dcsvm import build

C = GAMMA = 32.0
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "dc_svm": ("dc_svm", {"gamma": GAMMA, "sample": 2000, "balance": 1.5}),
    "whole": ("whole", {}),
    "graf_cascade": ("graf_cascade", {"parts": 4}),
    "dc_svm, cold": ("dc_svm", {"gamma": GAMMA, "sample": 2000, "balance": 1.5, "warm": False}),
    "graf_cascade, cold": ("graf_cascade", {"parts": 4, "warm": False}),
}


def measure(split: Split, method: str) -> dict[str, Any]:
    """One training, and one look at the test rows."""
    if method == "SVC":
        model, took = learn_svc(split.X, split.y, C, GAMMA)
        return {**took, "test": accuracy(model, *split.test())}
    if method == "tight":
        return learn(build("decomposer", "whole"), machine(C, GAMMA, tol=1e-4), split.X, split.y)[
            1
        ]
    name, settings = METHODS[method]
    model, took = learn(build("decomposer", name, **settings), machine(C, GAMMA), split.X, split.y)
    passes = max(record.about.get("pass", 0) for record in model.ledger_)
    missing = [record.about["missing"] for record in model.ledger_ if "missing" in record.about]
    return {
        **took,
        "passes": passes,
        "missing": sorted(set(missing), reverse=True),
        "test": accuracy(model, *split.test()),
    }


def main() -> None:
    methods = [*METHODS, "tight", "SVC"]
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, default=50000)
    reader.add_argument("--only", choices=methods)
    given = reader.parse_args()
    for method in methods if given.only is None else [given.only]:
        once(
            "levels",
            {"rows": given.rows, "method": method},
            lambda method=method: measure(covertype_binary(given.rows), method),
        )


if __name__ == "__main__":
    main()
