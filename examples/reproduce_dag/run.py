"""Measures rows of the page on DAGSVM anew.

    python examples/reproduce_dag/run.py --again tests data_set=usps method=dagsvm

Without rows, all cheap ones are measured; see examples/remeasure.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import and_gate
import bounds
import lists
import measured
import order_search
from data import split
from final import tested
from remeasure import Measure, Record, run_again


def measure_test(row: Record) -> Record:
    return tested(split(row["data_set"]), row["method"], row["cell"])[0]


def measure_again(row: Record) -> Record:
    settings = {} if row["order"] is None else {"combiner__order": row["order"]}
    return tested(split(row["data_set"]), row["method"], row["cell"], **settings)[0]


def measure_bounds(row: Record) -> Record:
    return bounds.found(row["data_set"], row["cell"])


def measure_lists(row: Record) -> Record:
    return lists.tried(split(row["data_set"]), row["cell"])


def measure_gate(row: Record) -> Record:
    return and_gate.measure(row["data_set"])


def measure_search(row: Record) -> Record:
    return order_search.measure(row["data_set"])


MEASURES: Mapping[str, Measure] = {
    "tests": measure_test,
    "again": measure_again,
    "bounds": measure_bounds,
    "lists": measure_lists,
    "and_gate": measure_gate,
    "order_search": measure_search,
}


if __name__ == "__main__":
    run_again(measured, MEASURES, sys.argv[1:])
