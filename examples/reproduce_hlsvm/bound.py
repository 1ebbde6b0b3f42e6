"""Section 5.6: whether the gap between test and training error grows with the complexity T.

    python examples/reproduce_hlsvm/bound.py

Trees of falling delta on ijcnn1 and on CBCL's faces; appended to measured/bound.jsonl.
"""

from __future__ import annotations

import time
from typing import Any

import attrs
import measured
from data import split
from run import GREEDY

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.toolbox import Scaling
from dcsvm_plugins.decomposers.oblique_tree.leaf_complexity import plane_terms

#: The paper's grid of delta.
DELTAS = [0.05, 0.025, 0.01, 0.0075, 0.005, 0.0025, 0.001, 0.00075, 0.0005, 0.00025, 0.0001]


def main() -> None:
    for name in ("cbcl", "ijcnn1"):
        rows = split(name)
        for delta in DELTAS:
            if not measured.find("bound", data_set=name, delta=delta):
                record = {"data_set": name, "delta": delta, **gap(rows, delta)}
                print(measured.write("bound", record), flush=True)


def gap(rows: Any, delta: float) -> dict[str, float]:
    """The terms of one tree, and its errors on both kinds of rows."""
    X, y = rows.training
    scaling = Scaling("minmax").fit(X)
    tree = build("decomposer", "oblique_tree", **GREEDY, smallest=delta, merge="majority")
    model = DivideAndConquerClassifier(tree, "majority", random_state=0)
    started = time.process_time()
    model.fit(scaling.apply(X), y)
    seconds = round(time.process_time() - started, 3)
    X_test, y_test = rows.test()
    error = float((model.predict(scaling.apply(X_test)) != y_test).mean())
    terms = attrs.asdict(plane_terms(model, scaling.apply(X), y))
    return {"error": error, "fit_seconds": seconds, **terms}


if __name__ == "__main__":
    main()
