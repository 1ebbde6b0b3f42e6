"""Table 1 of the DAGSVM paper: the chosen cells learn all training rows and answer the test rows.

    python examples/reproduce_dag/final.py --data-set letter

Nothing is chosen here: cells come from what choose.py measured. One record for each method goes to
measured/tests.jsonl, one for each two methods to measured/pairs.jsonl; what is there is not done
again.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any

import attrs
import measured
import numpy as np
from choose import METHODS, chosen
from data import SPLITS, Split, split

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.inspection.parameter_count import size_of
from dcsvm.model_selection import mcnemar, paired_interval
from dcsvm_plugins.combiners.dag.margin_bounds import graph_bounds

STRATEGIES = {
    "one_v_rest": ("class_rest", "argmax"),
    "max_wins": ("class_pairs", "vote"),
    "dagsvm": ("class_pairs", "dag"),
}


def classifier(method: str, cell: dict[str, Any]) -> DivideAndConquerClassifier:
    """The strategy of a method with a cell of the search."""
    decomposer, combiner = STRATEGIES[method]
    learner = build("learner", "kernel_svm", **cell)
    return DivideAndConquerClassifier(decomposer, learner, combiner, n_jobs=1, random_state=0)


def tested(
    rows: Split, method: str, cell: dict[str, Any], **settings: Any
) -> tuple[dict[str, Any], np.ndarray]:
    """Learn the training rows, answer the test rows, and say what both took."""
    X, y = rows.training
    model = classifier(method, cell).set_params(**settings)
    started = time.process_time()
    model.fit(X, y)
    training = time.process_time() - started
    X_test, y_test = rows.test()
    started = time.process_time()
    answers = model.predict(X_test)
    answering = time.process_time() - started
    # Votes and one against the rest ask everyone, whatever the row is.
    cost = model.cost(X_test if method == "dagsvm" else X_test[:1])
    size = size_of(model)
    record = {
        "data_set": rows.name,
        "method": method,
        "cell": cell,
        "rows": len(y),
        "tested": len(y_test),
        "error": float((answers != y_test).mean()),
        "training_error": float((model.predict(X) != y).mean()),
        "kernel_evaluations": float(np.mean(cost.unique_kernel_evaluations)),
        "kernel_evaluations_by_member": float(np.mean(cost.kernel_evaluations)),
        "training_seconds": round(training, 3),
        "answering_seconds": round(answering, 3),
        "support_vectors": size.support_vectors,
        "parameters": size.parameters,
    }
    if method == "dagsvm":
        record["bounds"] = bounds(model, X, y)
    return record, answers


def bounds(model: DivideAndConquerClassifier, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Theorem 1 on the graph, and for how many classes theorem 2 says something."""
    found = graph_bounds(model, X, y)
    return {
        "graph": attrs.asdict(found.graph),
        "radius": found.radius.value,
        "classes": sum(bound.value is not None for bound in found.classes.values()),
        "least_margin": min((n.margin for n in found.nodes if n.margin is not None), default=None),
        "nodes_that_err": sum(node.errors > 0 for node in found.nodes),
        "nodes": len(found.nodes),
    }


def compared(rows: Split, answers: dict[str, np.ndarray]) -> None:
    """McNemar's test and the interval of the difference, for each two methods."""
    y = rows.test()[1]
    for first, second in itertools.combinations(METHODS, 2):
        test = mcnemar(y, answers[first], answers[second])
        interval = paired_interval(y, answers[first], answers[second])
        record = {
            "data_set": rows.name,
            "first": first,
            "second": second,
            "only_first": test.only_first,
            "only_second": test.only_second,
            "p_value": test.p_value,
            "significant": test.significant,
            "difference": interval.difference,
            "low": interval.low,
            "high": interval.high,
        }
        print(measured.write("pairs", record), flush=True)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    if measured.find("pairs", data_set=name):
        return
    rows, answers = split(name), {}
    for method in METHODS:
        record, answers[method] = tested(rows, method, chosen(name, method)["cell"])
        print(measured.write("tests", record), flush=True)
    compared(rows, answers)


if __name__ == "__main__":
    main()
