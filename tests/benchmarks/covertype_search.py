"""The TD paper's search on all of covertype: python covertype_search.py [--growth exact].

One tree with local scaling, 63 cells of C and gamma, coarser levels while they gain, two jobs, as
in examples/reproduce_td. With the Python of another checkout the script measures that one; where
`tree` has no setting `growth` yet, leave it out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build
from dcsvm.drive.engine import Engine

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "reproduce_td"))
from data import split


class Rounds:
    """Counts the seconds in which parts were trained; the others went into dividing."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_round_begin(self, n_jobs: int) -> None:
        self.began = time.perf_counter()

    def on_part_done(self, job: Any, outcome: Any) -> None: ...

    def on_round_end(self) -> None:
        self.seconds.append(round(time.perf_counter() - self.began, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--growth", choices=["exact", "histogram"], help="default: the commit's")
    parser.add_argument("--rows", type=int, help="default: all 581,012")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cut, rounds = split("covertype", rows=options.rows), Rounds()
    growth = {"growth": options.growth} if options.growth else {}
    tree = build("decomposer", "tree", ceiling=1500, local_scaling="minmax", **growth)
    machine = build("learner", "kernel_svm", multiclass="pairs")
    model = DivideAndConquerClassifier(tree, machine, "route", random_state=0)
    search = GranularitySearch(model, random_state=0)
    began, busy = time.perf_counter(), time.process_time()
    engine = Engine(options.jobs, observers=(rounds,))
    X_val, y_val = cut.validation
    search.fit_with(engine, *cut.training, X_val=X_val, y_val=y_val)
    found = {
        "growth": options.growth or "default",
        "wall_seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - busy, 1),
        "seconds_of_rounds": rounds.seconds,
        "chosen": search.best_params_,
        "validation_accuracy": search.best_score_,
        "test_accuracy": float(search.best_estimator_.score(*cut.test())),
    }
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main()
