"""Kernel and C by validation rows, as section 5 of the DAGSVM paper chooses them.

    python examples/reproduce_dag/choose.py --data-set letter

Every cell is learned by `fit_path`, which shares kernel values among the values of C, and is
judged on the 30% of the training rows that it did not learn (covertype: on the validation rows of
its source). One against one is learned once and judged twice, by votes and by the decision graph.
Cells are appended to measured/choices.jsonl and not tried again.

On the first cut of the rows every cell is tried. Kernels whose best cell makes there a fifth more
errors than the best of all are left out of the other cuts. The cell with the lowest mean error
over all cuts is taken.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Mapping
from typing import Any

import measured
import numpy as np
from data import SPLITS, Rows, Split, split

from dcsvm import Problem, build
from dcsvm.numeric import walk

METHODS = ("one_v_rest", "max_wins", "dagsvm")
SCHEMES = {"pairs": ("max_wins", "dagsvm"), "rest": ("one_v_rest",)}
ROOT = 2.0**0.5
#: By data set: the widths of the Gaussian kernel, and the values of C that go with it.
GAUSSIAN: Mapping[str, tuple[list[float], list[float]]] = {
    "usps": ([0.0025 * ROOT**k for k in range(11)], [1.0, 3.0, 10.0, 30.0, 100.0]),
    "letter": ([0.5 * ROOT**k for k in range(11)], [1.0, 3.0, 10.0, 30.0, 100.0]),
    "covertype": ([0.25 * ROOT**k for k in range(8)], [1.0, 3.0, 10.0, 30.0]),
}
#: Degrees and constants (homogeneous or not) of the polynomial kernels, and values of C.
POLYNOMIAL = (range(1, 7), (0.0, 1.0))
POLYNOMIAL_C = {"usps": [1.0, 10.0, 100.0], "letter": [1.0, 10.0], "covertype": [1.0, 10.0]}


#: How many times the fewest errors on the first cut a kernel may make to be tried on others.
PROMISING = 1.2


def batches(name: str) -> Iterator[list[dict[str, Any]]]:
    """Cells by what they share: one kernel each, every C."""
    gammas, Cs = GAUSSIAN[name]
    for gamma in gammas:
        yield [{"kernel": "rbf", "gamma": gamma, "C": C} for C in Cs]
    for degree, coef0 in itertools.product(*POLYNOMIAL):
        kernel = {"kernel": "poly", "gamma": "auto", "degree": degree, "coef0": coef0}
        yield [{**kernel, "C": C} for C in POLYNOMIAL_C[name]]


def promising(name: str, scheme: str, cells: list[dict[str, Any]]) -> bool:
    """Whether a kernel was good enough on the first cut, for a method of the scheme."""
    first = measured.find("choices", data_set=name, scheme=scheme, cut=0)
    return any(
        min(record["errors"][method] for record in first if record["cell"] in cells)
        <= PROMISING * min(record["errors"][method] for record in first)
        for method in SCHEMES[scheme]
    )


def tried(rows: Split, number: int, scheme: str, cells: list[dict[str, Any]]) -> None:
    """Learn and judge the cells of one kernel, unless that was done before."""
    key = {"data_set": rows.name, "cut": number, "scheme": scheme}
    if all(measured.find("choices", **key, cell=cell) for cell in cells):
        return
    (X, y), judged = rows.validations(number)
    learner = build("learner", "kernel_svm", multiclass=scheme)
    started = time.process_time()
    for cell, model in learner.fit_path(Problem(X, y, int(y.max()) + 1), cells):
        seconds = time.process_time() - started
        record = {
            **key,
            "cell": cell,
            "errors": errors(scheme, model, judged),
            "support_vectors": len(model.support),
            "seconds": round(seconds, 3),
        }
        print(measured.write("choices", record), flush=True)
        started = time.process_time()


def errors(scheme: str, model: Any, judged: Rows) -> dict[str, float]:
    """The share of rows that each method of a scheme gets wrong."""
    X, y = judged
    said = [model.labels(X)]
    if scheme == "pairs":
        said.append(walk(model.prepared, X))
    return {
        method: float((labels != y).mean())
        for method, labels in zip(SCHEMES[scheme], said, strict=True)
    }


def chosen(name: str, method: str) -> dict[str, Any]:
    """The cell for a method, its mean error over the cuts, and each kind's best on the first.

    Of cells with equal errors the one with fewest support vectors is taken.
    """
    found: dict[str, dict[int, dict[str, Any]]] = {}
    first: dict[str, float] = {}
    for record in measured.find("choices", data_set=name):
        if method in record["errors"]:
            found.setdefault(str(record["cell"]), {})[record["cut"]] = record
            if record["cut"] == 0:
                kind, error = record["cell"]["kernel"], record["errors"][method]
                first[kind] = min(error, first.get(kind, 1.0))
    means = {
        text: (
            float(np.mean([record["errors"][method] for record in cuts.values()])),
            np.mean([record["support_vectors"] for record in cuts.values()]),
        )
        for text, cuts in found.items()
        if len(cuts) == SPLITS[name]
    }
    best = min(means, key=lambda text: means[text])
    kinds = {
        kind: min(mean[0] for text, mean in means.items() if kind in text)
        for kind in first
        if any(kind in text for text in means)
    }
    return {
        "cell": found[best][0]["cell"],
        "error": means[best][0],
        "cuts": SPLITS[name],
        "first": first,
        "kinds": kinds,
        "tried": len(found),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    rows = split(name)
    for number in range(SPLITS[name]):
        for cells, scheme in itertools.product(batches(name), SCHEMES):
            if number == 0 or promising(name, scheme, cells):
                tried(rows, number, scheme, cells)
    for method in METHODS:
        print(method, chosen(name, method))


if __name__ == "__main__":
    main()
