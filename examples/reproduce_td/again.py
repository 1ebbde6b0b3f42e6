"""How the rows behind the page on tree decomposition are measured anew."""

from __future__ import annotations

from collections.abc import Mapping

import bounds
import global_svm
import leaf_learners
import rivals
import td
from data import split
from remeasure import Measure, Record


def measure_td(row: Record) -> None:
    td.run(
        *(row["data_set"], row["training"], row["variant"], row["jobs"]),
        seed=row["seed"],
        rows=row["rows"],
    )


def measure_rival(row: Record) -> None:
    rivals.run(row["data_set"], row["training"], row["rival"], sample=row.get("cells") == 9)


def measure_cell(row: Record) -> Record:
    cell = {"C": row["C"], "gamma": row["gamma"]}
    return global_svm.measure(split(row["data_set"]), row["training"], cell)


def measure_global(row: Record) -> None:
    global_svm.ask_test_rows(row["data_set"], row["training"])


def measure_bounds(row: Record) -> None:
    bounds.run(row["data_set"], row["training"])


def measure_leaves(row: Record) -> Record:
    return leaf_learners.measure(row["data_set"], row["learner"])


MEASURES: Mapping[str, Measure] = {
    "td": measure_td,
    "rivals": measure_rival,
    "global_svm": measure_cell,
    "global_test": measure_global,
    "bounds": measure_bounds,
    "leaf_learners": measure_leaves,
}
