"""Fits on four workers against the local engine: bits, traffic, seconds.

    python tests/benchmarks/cluster.py OUT.jsonl --rows 100000

Workers are processes of this machine with one thread each, and reach their scheduler through a
proxy that counts. `moved` is what the ledger counts: parcels to workers and models back. The local
engine has as many jobs as there are workers; where the machine has fewer cores, both share them.
Processor seconds on the cluster are those of client, scheduler, nannies and workers.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from local_machines import Machines, run_machines, wait_for_workers
from mixture_rows import Mixture

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.datasets.mapped_tables import map_rows

SVM = build("learner", "kernel_svm", C=10.0, gamma=0.1)
TREE = build("decomposer", "tree", ceiling=1500)


def make(decomposer: Any, learner: Any, combiner: Any, **settings: Any) -> Any:
    return DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0, **settings)


def make_forest() -> Any:
    splitter = build("decomposer", "tree", ceiling=1500, splitter="random")
    return make(splitter * 3, SVM, "mean")


#: Rows of a first fit, which is not measured.
WARM = 4000
STRATEGIES: dict[str, tuple[float, Callable[[], Any]]] = {
    "tree": (1.0, lambda: make(TREE, SVM, "route")),
    "tree, rows in a file": (1.0, lambda: make(TREE, SVM, "route")),
    "tree, with probabilities": (0.3, lambda: make(TREE, SVM, "route", probability="auto")),
    "forest of 3": (0.3, make_forest),
    "30 chunks": (0.3, lambda: make(build("decomposer", "chunks", parts=30), SVM, "mean")),
    "kmeans, 50 regions": (
        0.3,
        lambda: make(build("decomposer", "kmeans", clusters=50), SVM, "route"),
    ),
    "tree, hard leaves": (
        0.5,
        lambda: make(TREE, build("learner", "kernel_svm", C=1000.0, gamma=10.0), "route"),
    ),
    "oblique tree": (1.0, lambda: make("oblique_tree", "majority", "route")),
    "feature subspaces, fusion": (0.1, lambda: make("rd_subspaces", "linear_svm", "fusion")),
    "cascade of 8": (
        0.1,
        lambda: make(build("decomposer", "cascade", ceiling=1500), SVM, "route"),
    ),
    "Graf's cascade": (0.1, lambda: make("graf_cascade", SVM, "route")),
    "nested: pairs in leaves": (
        0.3,
        lambda: make(TREE, make("class_pairs", SVM, "vote"), "route"),
    ),
}


def measure(name: str, n_rows: int, client: Client, machines: Machines) -> dict[str, Any]:
    """Fit here and there, and compare."""
    share, build_one = STRATEGIES[name]
    X, y = Mixture().draw(int(n_rows * share), 9)
    new, _ = Mixture().draw(2000, 10)
    n_jobs = machines.n_workers
    before = time.process_time()
    here, seconds_here = fit(build_one().set_params(n_jobs=n_jobs), X, y)
    processor_here = time.process_time() - before
    with tempfile.TemporaryDirectory() as folder, dcsvm.cluster(client):
        given: Any = X
        if "file" in name:
            np.save(Path(folder) / "X.npy", X)
            given = map_rows(Path(folder) / "X.npy")
        fit(build_one(), X[:WARM], y[:WARM])  # workers import what they need
        moved_before = machines.bytes_through_scheduler
        before = time.process_time() + machines.processor_seconds()
        there, seconds_there = fit(build_one(), given, y)
        processor_there = time.process_time() + machines.processor_seconds() - before
    accounts = [record.account for record in there.ledger_]
    sent = sum(each.get("bytes_sent", 0) for each in accounts)
    returned = sum(each.get("bytes_returned", 0) for each in accounts)
    scheduled = machines.bytes_through_scheduler - moved_before
    return {
        "what": name,
        "rows": len(X),
        "parts": len(there.ledger_),
        "same_bits": bool((here.decision_function(new) == there.decision_function(new)).all()),
        "local_seconds": round(seconds_here, 2),
        "cluster_seconds": round(seconds_there, 2),
        "local_processor_seconds": round(processor_here, 2),
        "cluster_processor_seconds": round(processor_there, 2),
        "data_megabytes": round(X.nbytes / 1e6, 1),
        "sent_megabytes": round(sent / 1e6, 1),
        "returned_megabytes": round(returned / 1e6, 1),
        "read_megabytes": round(sum(each.get("bytes_read", 0) for each in accounts) / 1e6, 1),
        "model_megabytes": round(len(pickle.dumps(there.model_.committee)) / 1e6, 1),
        "moved_share": round((sent + returned) / X.nbytes, 3),
        "scheduler_megabytes": round(scheduled / 1e6, 2),
        "parts_by_worker": sorted(
            sum(each.get("worker") == worker for each in accounts)
            for worker in {each.get("worker") for each in accounts}
        ),
    }


def fit(clf: Any, X: Any, y: Any) -> tuple[Any, float]:
    """The fitted classifier, and the seconds that it took."""
    began = time.perf_counter()
    clf.fit(X, y)
    return clf, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rate", help="of each worker's link, such as 200mbit; root only")
    parser.add_argument("--what", nargs="+", default=[""], help="words of the names, or =NAME")
    given = parser.parse_args()
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    facts = {"workers": given.workers, "cores": len(os.sched_getaffinity(0))}
    facts |= {"rate": given.rate} if given.rate else {}
    facts |= {"commit": commit, "date": time.strftime("%Y-%m-%d")}
    names = [
        name
        for name in STRATEGIES
        if any(word in name or word == f"={name}" for word in given.what)
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        run_machines(given.workers, Path(folder), given.rate) as machines,
        Client(machines.address) as client,
    ):
        wait_for_workers(client, given.workers)
        ratios = []
        for name in names:
            line = facts | measure(name, given.rows, client, machines)
            ratios.append(line["cluster_seconds"] / line["local_seconds"])
            print(json.dumps(line), flush=True)
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
        print(f"median of cluster to local seconds: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
