"""Approximations at equal budget: components grown until they cost what our method costs.

    python examples/reproduce_fsd/budget.py

Components of Nystroem, random features and the RBF network are doubled until training takes as
long as DC-DCSVM-TRBF2KRR did on as many rows, until the error on validation rows falls by less
than half a point, or until they need more memory than that method does. Test rows are asked by
every size; none is chosen by them. Appended to measured/budget.jsonl.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import measured
from covertype import fastfood, llsvm, random_features, rbf_network
from data import covertype

NAME = "budget"
RIVALS: Mapping[str, Callable[[int], Any]] = {
    "nystroem_svm (LLSVM)": llsvm,
    "random_features_svm (RBFSampler)": random_features,
    "rbf_network (LTPU)": rbf_network,
    "fastfood (FastFood)": fastfood,
}
#: With 50,000 rows, 4,000 components hold 1.6 GB, and LIBLINEAR a copy of them.
SIZES = (250, 500, 1000, 2000, 4000)
#: Points of validation error that a doubling must gain to go on.
GAIN = 0.5


def ours(rows: int) -> float:
    """Processor seconds of DC-DCSVM-TRBF2KRR in the table."""
    (record,) = measured.read("covertype", method="DC-DCSVM-TRBF2KRR", training_rows=rows)
    return float(record["training"]["cpu_seconds"])


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, default=50_000)
    reader.add_argument("--only", default="", help="methods whose name has this in it")
    given = reader.parse_args()
    rows = given.rows
    split, limit = covertype(rows), ours(rows)
    for method, make in RIVALS.items():
        if given.only not in method:
            continue
        before = 100.0
        for components in SIZES:
            key = {"method": method, "rows": rows, "components": components}
            found = measured.read(NAME, **key) or [
                measured.append(NAME, measure(key, make, split))
            ]
            gained, before = before - found[0]["validation"], found[0]["validation"]
            if found[0]["training"]["cpu_seconds"] > limit / 2 or gained < GAIN:
                break


def measure(key: dict[str, Any], make: Callable[[int], Any], split: Any) -> dict[str, Any]:
    model = make(key["components"])
    with measured.timed() as training:
        model.fit(*split.training)
    errors = {
        name: round(100.0 * (1.0 - model.score(*part)), 3)
        for name, part in (("validation", split.validation), ("error", split.test()))
    }
    return {**key, **errors, "training": training}


if __name__ == "__main__":
    main()
