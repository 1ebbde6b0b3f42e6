"""The fit of equations (1) and (2): training times of one machine, of N and of N (N - 1) / 2.

    python examples/reproduce_dag/training_times.py --data-set letter

One machine against the rest is trained from growing shares of the rows (SVC, which is a
decomposition method, and ours); c and gamma of T = c m^gamma are fitted to the larger half. The
equations then say what all machines take; all of them are trained, too. Processor seconds of one
thread; only training rows are read. Appended to measured/training_times.jsonl.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import measured
import numpy as np
from choose import chosen
from data import SPLITS, split
from final import classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from dcsvm import DivideAndConquerClassifier, build

SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)
#: Classes whose machines against the rest are timed, the mean being taken.
CLASSES = 3


def seconds(fit: Callable[[], Any]) -> float:
    started = time.process_time()
    fit()
    return time.process_time() - started


def measure(name: str, solver: str) -> dict[str, Any]:
    """The fit, and what the equations make of it."""
    X, y = split(name).training
    cell = chosen(name, "one_v_rest")["cell"]
    one, rest, pairs = machines(solver, cell)
    order = np.random.default_rng(0).permutation(len(y))
    sizes = [round(share * len(y)) for share in SHARES]
    times = [
        float(
            np.mean([seconds(partial(one().fit, X[rows], y[rows] == c)) for c in range(CLASSES)])
        )
        for rows in (order[:size] for size in sizes)
    ]
    half = len(sizes) // 2
    gamma, offset = np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)
    N, m, c = len(np.unique(y)), len(y), float(np.exp(offset))
    return {
        "cell": cell,
        "sizes": sizes,
        "seconds": times,
        "gamma": float(gamma),
        "c": c,
        "rest_expected": c * N * m**gamma,
        "pairs_expected": c * N * (N - 1) / 2 * (2 * m / N) ** gamma,
        "rest_seconds": seconds(lambda: rest().fit(X, y)),
        "pairs_seconds": seconds(lambda: pairs().fit(X, y)),
    }


def machines(solver: str, cell: dict[str, Any]) -> tuple[Callable[[], Any], ...]:
    """One machine for two classes, one against the rest, and all pairs."""
    if solver == "SVC":
        svc = partial(SVC, cache_size=1000, **cell)
        return svc, lambda: OneVsRestClassifier(svc()), svc
    learner = build("learner", "kernel_svm", **cell)
    return (
        lambda: DivideAndConquerClassifier("whole", learner, "route", n_jobs=1),
        lambda: classifier("one_v_rest", cell),
        lambda: classifier("max_wins", cell),
    )


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    for solver in ("SVC", "own"):
        key = {"data_set": name, "solver": solver}
        if not measured.find("training_times", **key):
            with threadpool_limits(1):
                print(measured.write("training_times", {**key, **measure(name, solver)}))


if __name__ == "__main__":
    main()
