"""Measurements as lines of JSON, and what one training took: processor time, wall time, steps."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, LocalLearner, LocalModel, Problem, build, component

sys.path.append(str(Path(__file__).resolve().parents[1]))
from births import certify

FOLDER = Path(__file__).parent / "measured"
#: Megabytes for kernel rows, for every solver alike.
CACHE = 1000.0


def append(name: str, record: Mapping[str, Any]) -> None:
    """Add one record to a file of measurements."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        born = certify(Path(__file__).parent.name, record.get("seed", 0))
        file.write(json.dumps({**record, "born": born}) + "\n")


def read(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a file that have these values, in the order they were made."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [one for one in records if all(one.get(key) == wanted[key] for key in wanted)]


def once(name: str, key: Mapping[str, Any], measure: Any) -> dict[str, Any]:
    """The record with this key: read where it was made before, otherwise measured and kept."""
    found = read(name, **key)
    if found:
        return found[-1]
    print(name, json.dumps(dict(key)), flush=True)
    record = {**key, **measure()}
    append(name, record)
    return record


@component
class Clocked(LocalLearner):
    """A kernel machine that tells the ledger how much processor time a part took."""

    machine: Any

    def fit(self, problem: Problem) -> LocalModel:
        started = time.thread_time()
        model = self.machine.fit(problem)
        model.effort["cpu"] = time.thread_time() - started
        return model


def machine(C: float, gamma: float, **others: Any) -> Any:
    """The kernel machine of all measurements."""
    return build("learner", "kernel_svm", C=C, gamma=gamma, cache_size=CACHE, **others)


def learn(
    decomposer: Any, learner: Any, X: Any, y: Any, *, jobs: int = 1, seed: int = 0
) -> tuple[DivideAndConquerClassifier, dict[str, Any]]:
    """Train a pipeline on `jobs` cores; return it with what it took.

    On one core, `cpu` is the processor time of all and `ideal` that of the slowest part of each
    step, as if every part of a step had a processor of its own.
    """
    pipeline = DivideAndConquerClassifier(
        decomposer, Clocked(learner), "route", n_jobs=jobs, random_state=seed
    )
    load = os.getloadavg()[0]
    wall, cpu = time.perf_counter(), time.process_time()
    pipeline.fit(X, y)
    took = {
        "cpu": round(time.process_time() - cpu, 3),
        "wall": round(time.perf_counter() - wall, 3),
        "load": round(load, 1),
        "cores": jobs,
    }
    steps = steps_of(pipeline)
    ideal = sum(max(part["cpu"] for part in step) for step in steps)
    last = pipeline.ledger_[-1]
    return pipeline, {
        **took,
        "ideal": round(ideal, 3),
        "support_vectors": last.support_vectors,
        "objective": last.about.get("objective"),
        "iterations": int(sum(part["iterations"] for step in steps for part in step)),
        "steps": steps if sum(map(len, steps)) <= 60 else summed(steps),
    }


def steps_of(pipeline: DivideAndConquerClassifier) -> list[list[dict[str, Any]]]:
    """Rows, rows kept, processor seconds and iterations of every part, step by step."""
    steps: dict[int, list[dict[str, Any]]] = {}
    for record in pipeline.ledger_:
        steps.setdefault(record.path[0], []).append(
            {
                "rows": record.rows,
                "kept": record.kept,
                "cpu": round(record.about.get("cpu", 0.0), 3),
                "iterations": record.about.get("iterations", 0),
            }
        )
    return list(steps.values())


def summed(steps: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Each step as one line: sums, for a division into very many parts."""
    words = ("rows", "kept", "cpu", "iterations")
    return [
        [
            {"parts": len(step)}
            | {word: round(sum(part[word] for part in step), 3) for word in words}
        ]
        for step in steps
    ]


def learn_svc(X: Any, y: Any, C: float, gamma: float) -> tuple[SVC, dict[str, Any]]:
    """Train scikit-learn's SVC; return it with what it took."""
    svc = SVC(C=C, gamma=gamma, cache_size=CACHE)
    load = os.getloadavg()[0]
    wall, cpu = time.perf_counter(), time.process_time()
    svc.fit(X, y)
    took = {
        "cpu": round(time.process_time() - cpu, 3),
        "wall": round(time.perf_counter() - wall, 3),
        "load": round(load, 1),
        "cores": 1,
    }
    return svc, {
        **took,
        "support_vectors": len(svc.support_),
        "objective": svc_objective(svc),
        "iterations": int(np.sum(svc.n_iter_)),
    }


def svc_objective(svc: SVC, block: int = 2000) -> float:
    """The dual objective that an SVC with an RBF kernel came to."""
    from dcsvm.numeric import Kernel

    duals = svc.dual_coef_[0]
    duals = duals.toarray().ravel() if hasattr(duals, "toarray") else np.asarray(duals)
    points, kernel = svc.support_vectors_, Kernel("rbf", gamma=svc._gamma)
    quadratic = sum(
        float(duals[start : start + block] @ kernel(points[start : start + block], points) @ duals)
        for start in range(0, len(duals), block)
    )
    return 0.5 * quadratic - float(np.abs(duals).sum())


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Right answers in percent."""
    return round(100.0 * float(np.mean(model.predict(X) == y)), 4)
