"""The global SVM, as a user would search it: scikit-learn's SVC over the paper's 63 cells.

    python examples/reproduce_td/global_svm.py                  # everything, for hours
    python examples/reproduce_td/global_svm.py --data-set letter --training 1AO

Every cell is one process of one thread, killed after 20 minutes of processor time (or --cap
seconds, where a lower bound will do). What it took is appended at once to
measured/global_svm.jsonl, and cells found there are not run again. Every seventh cell comes first:
these meet each gamma once and every C, so that seven times their sum stands for the sum of all
where there is no time for the rest.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from typing import Any

import measured
import numpy as np
from data import NAMES, Split, split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build

#: How the paper's kinds of training are called in dcsvm.
SCHEMES = {"1A1": "pairs", "1AO": "rest"}
CAP = 20 * 60
CELLS = [
    {"C": 10.0**c, "gamma": 10.0**gamma}
    for c, gamma in itertools.product(range(-1, 6), range(-4, 5))
]
SAMPLE = CELLS[::7]
ALL = SAMPLE + [cell for cell in CELLS if cell not in SAMPLE]
#: What is measured, most wanted first: a data set, a kind of training, and its cells.
PLAN = [
    ("pendigits", "1A1", ALL),
    ("letter", "1A1", SAMPLE),
    ("shuttle", "1A1", SAMPLE),
    ("pendigits", "1AO", SAMPLE),
    ("letter", "1AO", SAMPLE),
    ("shuttle", "1AO", SAMPLE),
    ("letter", "1A1", ALL),
    ("adult", "1A1", SAMPLE),
    ("poker", "1A1", SAMPLE),
    ("kdd", "1A1", SAMPLE),
    ("pendigits", "1AO", ALL),
    ("shuttle", "1A1", ALL),
    ("poker", "1AO", SAMPLE),
    ("kdd", "1AO", SAMPLE),
    ("shuttle", "1AO", ALL),
    ("letter", "1AO", ALL),
    ("adult", "1A1", ALL),
    ("poker", "1A1", ALL),
    ("kdd", "1A1", ALL),
    ("poker", "1AO", ALL),
    ("kdd", "1AO", ALL),
]


def classifier(training: str, cell: dict[str, float]) -> Any:
    """One cell's classifier: one against one as SVC does it, or one against the others."""
    svc = SVC(cache_size=1000, **cell)
    return svc if training == "1A1" else OneVsRestClassifier(svc)


def undivided(training: str, cell: dict[str, float]) -> DivideAndConquerClassifier:
    """The same machine by dcsvm's own solver."""
    learner = build("learner", "kernel_svm", multiclass=SCHEMES[training], **cell)
    return DivideAndConquerClassifier("whole", learner, "route", random_state=0)


def nsv(fitted: Any) -> int:
    """Support vectors summed over the binary classifiers: all of them are asked for a row."""
    if isinstance(fitted, OneVsRestClassifier):
        return sum(nsv(each) for each in fitted.estimators_)
    return int(np.count_nonzero(fitted.dual_coef_))


def measure(rows: Split, training: str, cell: dict[str, float], cap: int = CAP) -> dict[str, Any]:
    """What one cell takes and is worth, in a process of its own that dies at the cap."""

    def work() -> dict[str, Any]:
        started = time.process_time()
        fitted = classifier(training, cell).fit(*rows.training)
        learned = time.process_time()
        accuracy = float(fitted.score(*rows.validation))
        ended = time.process_time()
        return {
            "seconds": round(ended - started, 3),
            "fit_seconds": round(learned - started, 3),
            "validation_accuracy": accuracy,
            "nsv": nsv(fitted),
        }

    return measured.capped(work, cap)


def chosen(name: str, training: str) -> dict[str, Any] | None:
    """The cell with the best validation accuracy of those measured; of equals, the smallest.

    A cell that took longer than 20 minutes is no choice, though some were let run to their end.
    """
    training = "1A1" if name == "adult" else training
    done = measured.read("global_svm", data_set=name, training=training, capped=False)
    done = [one for one in done if one["seconds"] <= CAP]
    return min(done, key=lambda one: (-one["validation_accuracy"], one["nsv"]), default=None)


def search_seconds(name: str, training: str) -> dict[str, Any] | None:
    """The seconds of the whole search, how many cells that stands on, and how many were cut."""
    training = "1A1" if name == "adult" else training
    records = measured.read("global_svm", data_set=name, training=training)
    sample = [one for one in records if {"C": one["C"], "gamma": one["gamma"]} in SAMPLE]
    if len(sample) < len(SAMPLE):
        return None
    whole = len(records) == len(CELLS)
    used = records if whole else sample
    return {
        "seconds": sum(one["seconds"] for one in used)
        * (1 if whole else len(CELLS) / len(SAMPLE)),
        "cells": len(used),
        "capped": sum(one["capped"] for one in used),
    }


def ask_test_rows(name: str, training: str, cap: int = CAP) -> None:
    """Learn the chosen cell once more and ask it about the test rows: after every choice."""
    best = chosen(name, training)
    if best is None:
        return
    cell = {"C": best["C"], "gamma": best["gamma"]}
    if measured.read("global_test", data_set=name, training=training, **cell):
        return
    rows = split(name)

    def work() -> dict[str, Any]:
        fitted = classifier("1A1" if name == "adult" else training, cell).fit(*rows.training)
        return {"test_accuracy": float(fitted.score(*rows.test())), "nsv": nsv(fitted)}

    found = measured.capped(work, cap)
    measured.append("global_test", {"data_set": name, "training": training} | cell | found)


def left(name: str, training: str, cells: list[dict[str, float]]) -> Iterator[dict[str, float]]:
    """The cells that were not measured yet."""
    for cell in cells:
        if not measured.read("global_svm", data_set=name, training=training, **cell):
            yield cell


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(NAMES))
    reader.add_argument("--training", choices=["1A1", "1AO"])
    reader.add_argument("--sample", action="store_true", help="only every seventh cell")
    reader.add_argument("--cap", type=int, default=CAP, help="seconds after which a cell is cut")
    given = reader.parse_args()
    for name, training, cells in PLAN:
        if given.data_set not in (None, name) or given.training not in (None, training):
            continue
        rows = None
        cells = SAMPLE if given.sample else cells
        for cell in left(name, training, cells):
            rows = rows or split(name)
            print(name, training, cell, flush=True)
            found = measure(rows, training, cell, given.cap)
            measured.append("global_svm", {"data_set": name, "training": training} | cell | found)


if __name__ == "__main__":
    main()
