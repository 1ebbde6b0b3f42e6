"""Theorems 1 and 2 of the DAGSVM paper on the training rows; no test row is read.

    python examples/reproduce_dag/bounds.py --data-set letter

The machines are those of table 1, and once more with a C so large that no row is left inside the
margin where the kernel can help it: the theorems speak of nodes without errors only. One record
each goes to measured/bounds.jsonl; what is there is not done again.
"""

from __future__ import annotations

import argparse
from typing import Any

import measured
from choose import chosen
from data import SPLITS, split
from final import classifier

from dcsvm_plugins.combiners.dag.margin_bounds import graph_bounds

HARD = 1e6


def found(name: str, cell: dict[str, Any]) -> dict[str, Any]:
    """What the theorems say of the decision graph of a cell."""
    X, y = split(name).training
    bounds = graph_bounds(classifier("dagsvm", cell).fit(X, y), X, y)
    margins = [node.margin for node in bounds.nodes if node.margin is not None]
    classes = [bound.value for bound in bounds.classes.values() if bound.value is not None]
    return {
        "data_set": name,
        "cell": cell,
        "radius": bounds.radius.value,
        "margins": bounds.margins.value,
        "graph": bounds.graph.value,
        "reason": bounds.graph.reason,
        "classes": len(classes),
        "of": len(bounds.classes),
        "least_of_classes": min(classes, default=None),
        "least_margin": min(margins, default=None),
        "largest_margin": max(margins, default=None),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    cell = chosen(name, "dagsvm")["cell"]
    for each in (cell, {**cell, "C": HARD}):
        if not measured.find("bounds", data_set=name, cell=each):
            print(measured.write("bounds", found(name, each)), flush=True)


if __name__ == "__main__":
    main()
