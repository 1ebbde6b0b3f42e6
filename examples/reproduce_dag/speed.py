"""What learning and answering take beside scikit-learn's SVC and Max Wins, in turns.

    python examples/reproduce_dag/speed.py --data-set letter

Each side has one thread and the cell chosen for DAGSVM. Medians of three go to
measured/speed.jsonl; test rows are only timed here, no label is looked at.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import measured
import numpy as np
from choose import chosen
from data import SPLITS, split
from final import classifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

BATCH, SINGLE, REPEATS = 10_000, 200, 3


def in_turns(*sides: Callable[[], Any]) -> list[dict[str, float]]:
    """The median seconds of each side, on the wall and of the processor."""
    taken: list[list[tuple[float, float]]] = [[] for _ in sides]
    for _ in range(REPEATS):
        for side, times in zip(sides, taken, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            side()
            times.append((time.perf_counter() - wall, time.process_time() - processor))
    return [
        {
            "wall": statistics.median(wall for wall, _ in times),
            "processor": statistics.median(processor for _, processor in times),
        }
        for times in taken
    ]


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    if measured.find("speed", data_set=name):
        return
    rows, cell = split(name), chosen(name, "dagsvm")["cell"]
    X, y = rows.training
    X_test = rows.test()[0][:BATCH]
    graph, votes = classifier("dagsvm", cell), classifier("max_wins", cell)
    svc = SVC(**cell, cache_size=1000)
    record: dict[str, Any] = {"data_set": name, "cell": cell, "batch": len(X_test)}
    with threadpool_limits(1):
        record["fit"], record["svc_fit"] = in_turns(lambda: graph.fit(X, y), lambda: svc.fit(X, y))
        votes.fit(X, y)
        for model in (graph, votes):
            model.predict(X_test[:300])
        asked = graph.cost(X_test).unique_kernel_evaluations.mean()
        record["share_asked"] = float(asked / len(votes.model_.support))
        record["dag_batch"], record["votes_batch"], record["svc_batch"] = in_turns(
            lambda: graph.predict(X_test),
            lambda: votes.predict(X_test),
            lambda: svc.predict(X_test),
        )
        singles = [np.array(row)[None] for row in X_test[:SINGLE]]
        record["dag_single"], record["svc_single"] = in_turns(
            lambda: [graph.predict(x) for x in singles], lambda: [svc.predict(x) for x in singles]
        )
    print(measured.write("speed", record), flush=True)


if __name__ == "__main__":
    main()
