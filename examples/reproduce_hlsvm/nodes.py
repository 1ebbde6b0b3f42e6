"""What a visited node costs in a batch: a hyperplane, and one comparison of scikit-learn's tree.

    python examples/reproduce_hlsvm/nodes.py

A small tree that stays in the nearest cache (ijcnn1, depth 6) and a large one that does not
(covertype, grown to its end); training rows only, one thread, the best of some repetitions.
Appended to measured/nodes.jsonl.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import measured
from data import split
from grids import GREEDY
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from dcsvm import DivideAndConquerClassifier, TablePreparation, build
from dcsvm.inspection import compile_tree

ROWS, ASKED, ALONE, REPEATS = 100_000, 40_000, 4_000, 9
DEPTHS = {"ijcnn1": 6, "covertype": None}


def main() -> None:
    for name, depth in DEPTHS.items():
        X, y = split(name).training
        asked, X, y = X[-ASKED:], X[:ROWS], y[:ROWS]
        for method, measure in (("oblique", oblique), ("axis_parallel", axis_parallel)):
            key = {"data_set": name, "method": method}
            if not measured.find("nodes", **key):
                print(measured.write("nodes", {**key, **measure(X, y, asked, depth)}), flush=True)


def oblique(X: Any, y: Any, asked: Any, depth: int | None) -> dict[str, float]:
    """Rows come as they are: what it costs to scale them is counted."""
    tree = build("decomposer", "oblique_tree", **GREEDY, deepest=depth, merge="majority")
    model = DivideAndConquerClassifier(tree, "majority", random_state=0)
    model = make_pipeline(TablePreparation("minmax"), model).fit(X, y)
    fast = compile_tree(model)
    return {
        "nodes": len(fast.tree.thresholds),
        "features": X.shape[1],
        "nodes_per_row": float(fast.tree.route(asked, fast.offset, fast.factor)[1].mean()),
        "seconds_per_row": best(lambda: fast.predict(asked)) / len(asked),
        "seconds_of_one": best(lambda: [fast.one(row) for row in asked[:ALONE]]) / ALONE,
    }


def axis_parallel(X: Any, y: Any, asked: Any, depth: int | None) -> dict[str, float]:
    model = DecisionTreeClassifier(random_state=0, max_depth=depth).fit(X, y)
    path = model.decision_path(asked)
    return {
        "nodes": int(model.tree_.node_count - model.get_n_leaves()),
        "features": X.shape[1],
        "nodes_per_row": float(path.sum() / path.shape[0] - 1),
        "seconds_per_row": best(lambda: model.predict(asked)) / len(asked),
    }


def best(work: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
