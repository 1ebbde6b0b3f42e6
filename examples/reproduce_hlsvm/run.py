"""The H-LSVM and its rivals on the paper's tasks: settings by cross-validation, then one test.

    python examples/reproduce_hlsvm/run.py --data-set ijcnn1 --method h_lsvm
    python examples/reproduce_hlsvm/run.py --again tests data_set=ijcnn1 method=linear

Every fold of every cell is appended to measured/folds.jsonl and every test to tests.jsonl there;
what is found is not done again. As in the paper, cells are chosen by 5-fold cross-validation on
the training rows, and the random splits of a data set share the cell chosen on the first. On
large sets fewer folds serve: see FOLDS.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import measured
import numpy as np
from data import TASKS, Rows, split
from grids import FIRST_FOLD, FOLDS, GREEDY, GRIDS, PAIRED, RANDOM_SPLITS, SMALLER
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler

from dcsvm import DivideAndConquerClassifier, TablePreparation, build, load, save
from dcsvm.inspection import compile_tree
from dcsvm_plugins.decomposers.oblique_tree.leaf_complexity import plane_terms

#: The settings of a kernel's feature map.
NYSTROEM = ("gamma", "n_components")


def classifier(name: str, method: str, cell: Mapping[str, Any], seed: int) -> Any:
    """The strategy of a method, without its scaling."""
    method = method.removesuffix("_first_fold")
    settings = {key: value for key, value in cell.items() if key != "scale"}
    if "functions" in cell:
        tree = build("decomposer", "piecewise_tree", **settings)
        model = DivideAndConquerClassifier(tree, "majority", random_state=seed)
    elif method in ("h_lsvm_published", "h_lsvm_nystroem"):
        tree = build("decomposer", "oblique_tree", merge="majority", **settings)
        model = DivideAndConquerClassifier(tree, "majority", random_state=seed)
    elif method.startswith("h_lsvm"):
        # Where a machine's own threshold stays, it must be learned more carefully.
        passes = 100.0 if cell.get("threshold") == "machine" else 20.0
        more = {**GREEDY, "merge": "majority", "relearn": True, "passes": passes}
        more |= {"iterations": 1_000_000} if "passes" in cell else {}
        if "gamma" in settings:
            svm = {key: settings.pop(key) for key in ("C", "gamma")}
            more["teacher"] = build("learner", "kernel_svm", **svm)
        elif "C" in settings:
            more["splitter"] = build("learner", "linear_svm", loss="hinge", C=settings.pop("C"))
        tree = build("decomposer", "oblique_tree", **(more | settings))
        model = DivideAndConquerClassifier(tree, "majority", random_state=seed)
    elif method == "svm_tree":
        splitter = build("learner", "linear_svm", C=settings["C"])
        tree = build("decomposer", "svm_tree", splitter=splitter, nodes=settings["nodes"])
        model = DivideAndConquerClassifier(tree, splitter, random_state=seed)
    elif method == "dc_svm_early":
        width = settings.pop("clusters")
        clusters = build("decomposer", "dc_svm", depth=3, early=3, gamma=width, sample=2000)
        svm = build("learner", "kernel_svm", **settings)
        model = DivideAndConquerClassifier(clusters, svm, random_state=seed)
    elif method == "adaboost":
        stumps = build(
            "learner",
            "sklearn",
            classifier="AdaBoostClassifier",
            settings=settings | {"random_state": seed},
        )
        return DivideAndConquerClassifier("whole", stumps, random_state=seed)
    else:
        learner = "linear_svm" if method == "linear" else "kernel_svm"
        svm = build("learner", learner, **settings)
        model = DivideAndConquerClassifier("whole", svm, random_state=seed)
    if name == "usps" and method in PAIRED:
        return DivideAndConquerClassifier("class_pairs", model, PAIRED[method], random_state=seed)
    return model


def scaled(name: str, method: str, cell: Mapping[str, Any], seed: int = 0) -> Any:
    """The pipeline of a method, which learns its scaling from the rows it learns from."""
    steps = [] if cell["scale"] == "none" else [scaler(cell["scale"])]
    if method == "h_lsvm_nystroem":
        words = {key: cell[key] for key in NYSTROEM}
        steps.append(Nystroem(random_state=seed, **words))
        cell = {key: cell[key] for key in cell if key not in words}
    model = classifier(name, method, cell, seed)
    return make_pipeline(*steps, model) if steps else model


def scaler(name: str) -> Any:
    return MinMaxScaler((-1, 1)) if name == "symmetric" else TablePreparation(name)


def count_cost(model: Any, X: Any) -> Any:
    """What answering rows X costs, behind a preparation too."""
    if isinstance(model, Pipeline):
        return model[-1].cost(model[:-1].transform(X))
    return model.cost(X)


def cells(name: str, method: str) -> list[dict[str, Any]]:
    grid = SMALLER.get((name, method), GRIDS[method])
    cells = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    if method in ("adaboost", "h_lsvm_votes"):
        (tree,) = measured.find("tests", data_set=name, method="h_lsvm", seed=0)
    if method == "h_lsvm_votes":
        cells = [tree["cell"]]
    if method == "adaboost":
        rounds = max(1, round(tree["hyperplanes_mean"] * tree["features"]))
        cells = [cell | {"n_estimators": rounds} for cell in cells]
    return cells


def chosen(name: str, method: str, rows: Rows) -> dict[str, Any]:
    """The cell with the fewest errors over the folds, of equals the one that costs least."""
    wanted = cells(name, method)
    if len(wanted) == 1:
        return wanted[0]
    scores = []
    for cell in wanted:
        folds = list(cross_validated(name, method, cell, rows))
        scores.append([np.mean([fold[key] for fold in folds]) for key in ("error", "cost")])
    return wanted[min(range(len(wanted)), key=lambda number: tuple(scores[number]))]


def cross_validated(name: str, method: str, cell: dict[str, Any], rows: Rows) -> Any:
    n_folds, most = FOLDS.get((name, method)) or FOLDS.get(name, (5, 10**9))
    drawn = np.random.default_rng(1).permutation(len(rows[1]))[:most]
    X, y = rows[0][drawn], rows[1][drawn]
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)
    most_folds = 1 if (name, method) in FIRST_FOLD else n_folds
    for number, (learned, judged) in enumerate(itertools.islice(folds, most_folds)):
        key = {"data_set": name, "method": method, "cell": cell, "fold": number}
        found = measured.find("folds", **key)
        if found:
            yield found[0]
            continue
        started = time.process_time()
        model = scaled(name, method, cell).fit(X[learned], y[learned])
        seconds = time.process_time() - started
        error = float((model.predict(X[judged]) != y[judged]).mean())
        cost = count_cost(model, X[judged][:2000])
        total = float((cost.hyperplanes + cost.unique_kernel_evaluations).mean())
        total = total if np.isfinite(total) else 0.0
        print(name, method, cell, number, f"{error:.4%}", f"{seconds:.1f} s", flush=True)
        yield measured.write(
            "folds", {**key, "error": error, "cost": total, "seconds": round(seconds, 3)}
        )


def tested(name: str, method: str, seed: int, cell: dict[str, Any], kept: Path | None) -> None:
    """Learn all training rows with the chosen cell, and ask for the test rows.

    With a file `kept`, the model is stored there before rows are asked for, or read from there.
    """
    key = {"data_set": name, "method": method, "seed": seed}
    if measured.find("tests", **key):
        return
    rows = split(name, seed)
    X, y = rows.training
    model, seconds, wall = learned(scaled(name, method, cell, seed), X, y, kept)
    X_test, y_test = rows.test()
    asked = time.process_time()
    answers = model.predict(X_test)
    asking = time.process_time() - asked
    cost = count_cost(model, X_test)
    # A quarter of a million support vectors take an hour for all training rows.
    judged = 20_000 if kept else len(y)
    record = {
        **key,
        "cell": cell,
        "error": float((answers != y_test).mean()),
        "training_error": float((model.predict(X[:judged]) != y[:judged]).mean()),
        "rows": len(y),
        "features": X.shape[1],
        "tested": len(y_test),
        "fit_seconds": round(seconds, 3),
        "fit_wall_seconds": round(wall, 3),
        "predict_seconds_per_row": asking / len(y_test),
        "support_vectors": float(np.mean(cost.unique_kernel_evaluations)),
        "hyperplanes_mean": float(np.mean(cost.hyperplanes)),
        "hyperplanes_max": float(np.max(cost.hyperplanes)),
        **tree_facts(model, X, y, X_test),
    }
    known = {key: value for key, value in record.items() if value == value}
    print(measured.write("tests", known), flush=True)


def learned(model: Any, X: Any, y: Any, kept: Path | None) -> tuple[Any, float, float]:
    """The fitted model, and the seconds that it took: of the processor, and on the wall."""
    times = kept.with_suffix(".json") if kept else None
    if times and times.exists():
        return (load(kept), *json.loads(times.read_text()))
    wall, started = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, wall = time.process_time() - started, time.perf_counter() - wall
    if times:
        save(model, kept)
        times.write_text(json.dumps([seconds, wall]))
    return model, seconds, wall


def tree_facts(model: Any, X: Any, y: Any, X_test: Any) -> dict[str, Any]:
    """What only a tree of hyperplanes has: its complexity, and its answers when compiled."""
    try:
        fast = compile_tree(model)
    except ValueError:
        return {}
    alone = attrs.evolve(fast)
    asked = time.process_time()
    answers = alone.predict(X_test)
    batch = (time.process_time() - asked) / len(X_test)
    some = np.ascontiguousarray(X_test[:2000])
    asked = time.process_time()
    for row in some:
        alone.one(row)
    single = (time.process_time() - asked) / len(some)
    assert (answers == model.predict(X_test)).all()
    terms = plane_terms(model, X, y)
    return {
        "batch_seconds_per_row": batch,
        "single_seconds_per_row": single,
        "nodes": len(fast.tree.thresholds),
        **attrs.asdict(terms),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(TASKS), required=True)
    reader.add_argument("--method", choices=list(GRIDS), required=True)
    reader.add_argument("--splits", type=int, help="of the random splits, only the first so many")
    reader.add_argument("--model", type=Path, help="keep the fitted model here, or go on from it")
    given = reader.parse_args()
    cell = chosen(given.data_set, given.method, split(given.data_set).training)
    for seed in range(given.splits or RANDOM_SPLITS.get(given.data_set, 1)):
        tested(given.data_set, given.method, seed, cell, given.model)


if __name__ == "__main__":
    if "--again" in sys.argv:
        from again import MEASURES
        from remeasure import run_again

        run_again(measured, MEASURES, sys.argv[1:])
    main()
