"""Cascades on four workers, beside their ideal time as estimated on one core.

    python tests/benchmarks/cascade_scale.py OUT.jsonl --rows 100000 1000000

The board of the cascade's paper (2 x 2 fields, C = 1,000, gamma = 1 / 2,000), with more rows. One
core trains part after part: `processor_seconds` is the sum, and `ideal_seconds`, the papers' ideal
parallel time, that of the slowest part of each stage, summed over the stages. The same fit on a
cluster gives `elapsed_seconds`; its stages are timed by when their first part began and the last
one ended. With fewer cores than parts, a stage takes at least its parts divided by the cores:
`possible_seconds` sums the larger of both bounds. `speedup` is the undivided SVM's processor time
divided by the ideal one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from local_machines import run_machines, wait_for_workers

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer

STRATEGIES = ("whole", "cascade", "graf_cascade")
WARM, TESTED = 4000, 100_000


def draw(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Rows of the board, and their fields' classes."""
    X = np.random.default_rng(seed).uniform(-100.0, 100.0, size=(n_rows, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def make(name: str) -> Any:
    svm = build("learner", "kernel_svm", C=1000.0, gamma=1 / 2000)
    return DivideAndConquerClassifier(name, svm, "route", random_state=0, n_jobs=1)


class ProcessorClock(Observer):
    """The processor seconds of each part of each round, if parts are trained one by one."""

    def __init__(self) -> None:
        self.stages: list[list[float]] = []
        self.since = 0.0

    def on_round_begin(self, n_jobs: int) -> None:
        self.stages.append([])
        self.since = time.process_time()

    def on_part_done(self, job: Any, outcome: Any) -> None:
        now = time.process_time()
        self.stages[-1].append(now - self.since)
        self.since = now


def bound(stages: Sequence[Sequence[float]], cores: float) -> float:
    """The least time of stages on so many cores."""
    return sum(max(max(stage), sum(stage) / cores) for stage in stages)


def train_here(name: str, X: Any, y: Any, cores: int) -> tuple[Any, dict[str, Any]]:
    """A fit on one core, and its times."""
    clock = ProcessorClock()
    clf = make(name).fit_with(Engine(1, (clock,)), X, y)
    times = {
        "parts": sum(map(len, clock.stages)),
        "stages": len(clock.stages),
        "support_vectors": clf.ledger_[-1].support_vectors,
        "processor_seconds": round(bound(clock.stages, 1), 2),
        "ideal_seconds": round(bound(clock.stages, np.inf), 2),
        "possible_seconds": round(bound(clock.stages, cores), 2),
    }
    return clf, times


def train_there(name: str, X: Any, y: Any, client: Client) -> tuple[Any, dict[str, Any]]:
    """A fit on a cluster, and its times."""
    clf = make(name).set_params(n_jobs=None)
    with dcsvm.cluster(client):
        make(name).set_params(n_jobs=None).fit(X[:WARM], y[:WARM])  # workers import what they need
        began = time.perf_counter()
        clf.fit(X, y)
        elapsed = time.perf_counter() - began
    spans: dict[int, list[tuple[float, float]]] = {}
    for record in clf.ledger_:
        start = record.account["began"]
        spans.setdefault(record.path[0], []).append((start, start + record.seconds))
    stages = [
        max(end for _, end in each) - min(start for start, _ in each) for each in spans.values()
    ]
    accounts = [record.account for record in clf.ledger_]
    moved = sum(each["bytes_sent"] + each["bytes_returned"] for each in accounts)
    return clf, {
        "elapsed_seconds": round(elapsed, 2),
        "stage_seconds": [round(each, 2) for each in stages],
        "waited_seconds": round(sum(each["waited"] for each in accounts), 2),
        "moved_megabytes": round(moved / 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--what", nargs="+", default=STRATEGIES)
    given = parser.parse_args()
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    cores = len(os.sched_getaffinity(0))
    facts = {"workers": given.workers, "cores": cores, "commit": commit}
    facts |= {"date": time.strftime("%Y-%m-%d")}
    new, truth = draw(TESTED, 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        run_machines(given.workers, Path(folder)) as machines,
        Client(machines.address) as client,
    ):
        wait_for_workers(client, given.workers)
        for n_rows in given.rows:
            X, y = draw(n_rows, 0)
            whole = 0.0
            for name in given.what:
                here, found = train_here(name, X, y, cores)
                whole = found["processor_seconds"] if name == "whole" else whole
                if name != "whole":
                    there, times = train_there(name, X, y, client)
                    same = here.decision_function(new) == there.decision_function(new)
                    found |= times | {"same_bits": bool(same.all())}
                found |= {"speedup": round(whole / found["ideal_seconds"], 2)} if whole else {}
                found |= {"accuracy": float(here.score(new, truth))}
                line = json.dumps({"what": name, "rows": n_rows} | facts | found)
                print(line, flush=True)
                with given.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
