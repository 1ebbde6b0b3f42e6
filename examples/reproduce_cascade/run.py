"""Measures rows of the page on cascades anew.

    python examples/reproduce_cascade/run.py --again table1 problem=A1 method=standard

Without rows, all cheap ones are measured; see examples/remeasure.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import dc_svm_early
import large
import levels
import measured
import multiclass
import pieces
import table1
import tables4to6
import text
from data import covertype_binary, covertype_pair, covertype_two, ijcnn
from remeasure import Measure, Record, run_again

from dcsvm import build


def measure_table1(row: Record) -> Record:
    return table1.measure(int(row["problem"][1:]), row["method"], row["solver"], row["cores"])


def measure_tables4to6(row: Record) -> Record:
    return tables4to6.measure(
        *(row["problem"], row["method"], row["scale"], row["gamma"], row["cores"])
    )


def measure_reading(row: Record) -> Record:
    rows = covertype_pair(*tables4to6.PROBLEMS[row["problem"]][0])
    X, _ = tables4to6.scaled(rows, row["scale"])
    svm = measured.machine(tables4to6.C, tables4to6.GAMMAS[row["gamma"]])
    return measured.learn(build("decomposer", "whole"), svm, X, rows.y)[1]


def measure_text(row: Record) -> Record:
    return text.measure(text.SETS[row["data"]](), row["method"])


def measure_multiclass(row: Record) -> Record:
    return multiclass.measure(row["data"], row["method"], row["C"], row["gamma"])


def measure_large(row: Record) -> Record:
    split = ijcnn(row["rows"])
    return large.measure(split, row["method"], row["C"], row["gamma"], row["cores"])


def measure_pieces(row: Record) -> Record:
    split = covertype_two(row["rows"], row["against"])
    return pieces.measure(split, row["C"], row["gamma"], row["pieces"], row["cores"])


def measure_levels(row: Record) -> Record:
    return levels.measure(covertype_binary(row["rows"]), row["method"])


def measure_svc(row: Record) -> Record:
    split = covertype_binary(row["rows"])
    return measured.learn_svc(split.X, split.y, 32.0, 32.0)[1]


def measure_early(row: Record) -> Record:
    level = {key: row[key] for key in ("depth", "early", "sample")}
    return dc_svm_early.measure(row["rows"], row["width"], level)


MEASURES: Mapping[str, Measure] = {
    "table1": measure_table1,
    "tables4to6": measure_tables4to6,
    "readings": measure_reading,
    "text": measure_text,
    "multiclass": measure_multiclass,
    "large": measure_large,
    "pieces": measure_pieces,
    "levels": measure_levels,
    "svc_scaling": measure_svc,
    "dc_svm_early": measure_early,
}


if __name__ == "__main__":
    run_again(measured, MEASURES, sys.argv[1:])
