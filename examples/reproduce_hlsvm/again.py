"""How the rows behind the page on the H-LSVM are measured anew."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import bound
import run
import scaling
from data import split
from remeasure import Measure, NotAloneError, Record


def measure_test(row: Record) -> None:
    if row["method"].endswith("first_grid"):
        raise NotAloneError("its settings are no longer defaults")
    run.tested(row["data_set"], row["method"], row["seed"], row["cell"], None)


def measure_bound(row: Record) -> Record:
    return bound.gap(split(row["data_set"]), row["delta"])


def measure_scaling(row: Record) -> Record:
    if row["method"] == "h_lsvm_before":
        raise NotAloneError("its code is gone")
    if row["method"] == "lightgbm" and not find_spec("lightgbm"):
        raise NotAloneError("lightgbm is not installed")
    rows = split("covertype")
    if row["method"] == "h_lsvm":
        return scaling.grown(rows, row["rows"], row["repeat"])
    return scaling.rival(rows, row["method"])


MEASURES: Mapping[str, Measure] = {
    "tests": measure_test,
    "bound": measure_bound,
    "scaling": measure_scaling,
}
