"""What AdaBoost's rounds cost where all of them take too long: seconds of a few.

    python examples/reproduce_hlsvm/stumps.py --data-set mnist

Only training rows are read. The record is appended to measured/stumps.jsonl.
"""

from __future__ import annotations

import argparse
import time

import measured
from data import TASKS, split
from run import cells, scaled

ROUNDS = 5


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(TASKS), required=True)
    name = reader.parse_args().data_set
    X, y = split(name).training
    (cell,) = cells(name, "adaboost")
    started = time.process_time()
    scaled(name, "adaboost", cell | {"n_estimators": ROUNDS}).fit(X, y)
    seconds = (time.process_time() - started) / ROUNDS
    record = {
        "data_set": name,
        "rows": len(y),
        "rounds": cell["n_estimators"],
        "seconds_per_round": round(seconds, 3),
    }
    print(measured.write("stumps", record))


if __name__ == "__main__":
    main()
