"""Measures tree decomposition and its rivals by the TD paper's protocol, and writes the tables.

    python examples/reproduce_td/run.py --data-set letter           # all that is left to measure
    python examples/reproduce_td/run.py --data-set covertype --what td --training 1A1
    python examples/reproduce_td/run.py --again td data_set=shuttle seed=0
    python examples/reproduce_td/run.py --tables                    # docs/reproduction/...

Everything measured is appended to measured/*.jsonl and not measured again without --again.
The global SVM's search takes hours and has a command of its own, global_svm.py.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import bounds
import global_svm
import measured as measurements
import rivals
import tables
import td
from data import NAMES


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(NAMES), action="append")
    reader.add_argument("--training", choices=list(td.SCHEMES), action="append")
    reader.add_argument(
        "--what",
        choices=["td", "splits", "beyond", "rivals", "global", "bounds"],
        action="append",
        help="td: the paper's search, with one job and two; splits: the same with seeds 1 to 4; "
        "beyond: settings it does not have",
    )
    reader.add_argument(
        "--variant",
        choices=list(td.VARIANTS),
        action="append",
        help="of splits: the paper's unless given; of beyond: all unless given",
    )
    reader.add_argument("--jobs", type=int, action="append", help="of td: 1 and 2 unless given")
    reader.add_argument("--cap", type=int, default=rivals.CAP, help="seconds for a rival")
    reader.add_argument(
        "--sample", action="store_true", help="of rivals: every seventh cell for CBD"
    )
    reader.add_argument("--tables", action="store_true", help="write the page and end")
    given = reader.parse_args()
    if given.tables:
        tables.write()
        return
    for name in given.data_set or list(NAMES):
        for training in given.training or list(td.SCHEMES):
            measure(
                name,
                training,
                given.what or ["td", "beyond", "rivals"],
                given.cap,
                given.jobs or [1, 2],
                given.variant or [],
                given.sample,
            )


def measure(
    name: str,
    training: str,
    what: list[str],
    cap: int,
    jobs: list[int],
    variants: list[str],
    sample: bool,
) -> None:
    if "td" in what:
        variant = "local scaling" if name == "covertype" else "paper"
        for number in jobs:
            td.run(name, training, variant, number)
    if "splits" in what:
        for seed, variant in itertools.product(range(1, 5), variants or ["paper"]):
            td.run(name, training, variant, 1, seed=seed)
    if "beyond" in what:
        for variant in variants or list(td.VARIANTS):
            td.run(name, training, variant, 2 if name == "covertype" else 1)
    if "rivals" in what and name != "covertype":
        for rival in ("bagging", "cbd"):
            rivals.run(name, training, rival, cap, sample)
    if "global" in what:
        global_svm.ask_test_rows(name, training)
    if "bounds" in what:
        bounds.run(name, training)


if __name__ == "__main__":
    if "--again" in sys.argv:
        from again import MEASURES
        from remeasure import run_again

        run_again(measurements, MEASURES, sys.argv[1:])
    main()
