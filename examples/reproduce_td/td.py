"""Tree decomposition as the paper searches it, and what dcsvm adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import measured
import numpy as np
from data import SEED, Rows, Split, split
from global_svm import SCHEMES

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build
from dcsvm.drive.engine import Engine

#: The paper's method, and settings beyond it: of the tree and of the search.
VARIANTS: Mapping[str, dict[str, dict[str, Any]]] = {
    "paper": {},
    "local scaling": {"tree": {"local_scaling": "minmax"}},
    "soft borders": {"tree": {"border": 1.0}},
    "both": {"tree": {"local_scaling": "minmax", "border": 1.0}},
    "per part": {"search": {"per_part": True}},
    "relevance": {"tree": {"local_scaling": "minmax", "relevance": 1.0}},
    "relevance, borders": {"tree": {"local_scaling": "minmax", "relevance": 1.0, "border": 0.5}},
    # Ten random trees, searched at the finest level only.
    "forest": {
        "tree": {"times": 10, "local_scaling": "minmax", "max_features": 0.5},
        "search": {"levels": 1},
    },
}


class Rounds:
    """Watches a search: what every level took, the last entry being the final training."""

    def __init__(self) -> None:
        self.seconds: list[dict[str, float]] = []

    def on_round_begin(self, n_jobs: int) -> None:
        self.clock = measured.Clock()

    def on_part_done(self, job: Any, outcome: Any) -> None: ...

    def on_round_end(self) -> None:
        self.seconds.append(self.clock.seconds())


def classifier(
    training: str, ceiling: int = 1500, times: int = 1, **tree: Any
) -> DivideAndConquerClassifier:
    """A TD classifier: a tree, and in its leaves machines one against one or against others.

    As in the paper, a split is the best of all thresholds, not of a histogram's. Several trees
    answer by the mean of their scores.
    """
    one = build("decomposer", "tree", ceiling=ceiling, growth="exact", **tree)
    return DivideAndConquerClassifier(
        one if times == 1 else times * one,
        build("learner", "kernel_svm", multiclass=SCHEMES[training]),
        build("combiner", "route" if times == 1 else "mean"),
        random_state=0,
    )


def run(
    name: str,
    training: str,
    variant: str,
    jobs: int,
    *,
    seed: int = SEED,
    rows: int | None = None,
) -> None:
    """Search, then ask the chosen classifier about the test rows, and keep what was found."""
    asked = {"data_set": name, "training": training, "variant": variant, "jobs": jobs}
    asked |= {"seed": seed, "rows": rows}
    if measured.read("td", **asked):
        return
    cut = split(name, seed, rows)
    settings = VARIANTS[variant]
    model = classifier(training, **settings.get("tree", {}))
    search = GranularitySearch(model, random_state=0, **settings.get("search", {}))
    rounds = Rounds()
    clock = measured.Clock()
    search.fit_with(
        Engine(jobs, observers=(rounds,)),
        *cut.training,
        X_val=cut.validation[0],
        y_val=cut.validation[1],
    )
    took = clock.seconds()
    busy = took["cpu_seconds"] / took["wall_seconds"] / jobs
    print(name, training, variant, f"jobs {jobs}: {took}, cores busy {busy:.0%}", flush=True)
    measured.append("td", asked | took | _found(search, rounds, cut) | {"peak_mb": _peak()})


def _found(search: GranularitySearch, rounds: Rounds, cut: Split) -> dict[str, Any]:
    """The choices first; the test rows are read after them, in the last lines."""
    best = search.best_estimator_
    homes = [record for record in best.ledger_ if record.classes == 1]
    found: dict[str, Any] = {
        "levels": _levels(search, rounds),
        "chosen": search.best_params_,
        "stopped": search.stopped_,
        "leaves": len(best.ledger_),
        "validation_accuracy": search.best_score_,
        "homogeneous": sum(record.rows for record in homes) / len(cut.training[1]),
    }
    X, y = cut.test()
    cost = best.cost(X)
    found["test_accuracy"] = float((best.predict(X) == y).mean())
    found["nsv"] = float(np.mean(cost.kernel_evaluations))
    found["unique_nsv"] = float(np.mean(cost.unique_kernel_evaluations))
    if not search.per_part:
        for level in found["levels"]:
            level["test_accuracy"] = _tested(search, level["params"], cut)
        both = tuple(map(np.concatenate, zip(cut.training, cut.validation, strict=True)))
        again = _learned(search, search.best_params_, both)
        found["test_accuracy_with_validation_rows"] = float(again.score(X, y))
    return found


def _levels(search: GranularitySearch, rounds: Rounds) -> list[dict[str, Any]]:
    results = search.results_
    levels = []
    for number, took in zip(np.unique(results["level"]), rounds.seconds, strict=False):
        here = np.flatnonzero(results["level"] == number)
        best = here[results["mean_test_score"][here].argmax()]
        params = results["params"][best]
        levels.append(
            {
                "ceiling": ceiling_of(params),
                "parts": int(results["parts"][best]),
                "cells": len(here),
                "params": params,
                "validation_accuracy": float(results["mean_test_score"][best]),
            }
            | took
        )
    return levels


def ceiling_of(params: Mapping[str, Any]) -> int:
    """The ceiling among the settings of a tree or of several."""
    return next(int(params[name]) for name in params if name.endswith("__ceiling"))


def _tested(search: GranularitySearch, params: dict[str, Any], cut: Split) -> float:
    """The test accuracy if the search had ended at a level: for table 14, not for any choice."""
    if params == search.best_params_:
        return float(search.best_estimator_.score(*cut.test()))
    return float(_learned(search, params, cut.training).score(*cut.test()))


def _learned(
    search: GranularitySearch, params: dict[str, Any], rows: Rows
) -> DivideAndConquerClassifier:
    other = DivideAndConquerClassifier(**search.estimator.get_params(deep=False))
    return other.set_params(**params).fit(*rows)


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def found(**wanted: Any) -> list[dict[str, Any]]:
    """What was measured on the whole of a data set, in the order that all methods share."""
    return measured.read("td", **{"seed": SEED, "rows": None} | wanted)
