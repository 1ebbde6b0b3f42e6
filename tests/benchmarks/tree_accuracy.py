"""The accuracy of trees grown by histograms beside those of the exact search, over a suite.

For each data set of the suite (`DCSVM_SUITE` names its folder) and each seed, rows are split into
training, validation and test rows. C and gamma are chosen on the validation rows with exact
growth; both kinds of growth then learn with these, so that only the trees differ. `tree` is the
pipeline of the recipe td_svm, `forest` that of svm_forest, `leaves` a tree of majority leaves.
With `--keep`, a run that was interrupted goes on where it stopped, and more seeds or sets join.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from dcsvm import DivideAndConquerClassifier, build

SETS = (
    *("avila", "bank_marketing", "codrna_train_std", "credit_card", "diamonds"),
    *("eeg_eye_state", "electricity", "job_change", "kropt", "magic"),
    *("mammography", "phishing", "satimage", "skin", "w8a_train"),
)
KINDS = ("leaves", "tree", "forest")
Cs, GAMMAS = (1.0, 10.0, 100.0), {"tree": (0.1, 1.0, 10.0), "forest": (1.0, 10.0)}
CHOOSING_ROWS = 6000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="training rows at most")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", type=Path, help="a file for one line of JSON per comparison")
    options = parser.parse_args()
    options.done = read_kept(options.keep, options.rows)
    print(f"{'set':18} {'kind':7} {'exact %':>8} {'histogram %':>12} {'difference':>22}")
    everything: dict[str, list[list[float]]] = {}
    for name, kind in product(options.sets.split(","), options.kinds.split(",")):
        pairs = list(compare(name, kind, options))
        everything.setdefault(kind, []).append([b - a for a, b in pairs])
        say(name, kind, *np.mean(pairs, axis=0), everything[kind][-1])
    for kind, differences in everything.items():
        means = [float(np.mean(each)) for each in differences]
        say(f"mean of {len(means)} sets", kind, np.nan, np.nan, means)


def say(name: str, kind: str, exact: float, histogram: float, differences: list[float]) -> None:
    mean = 100 * np.mean(differences)
    error = 100 * np.std(differences, ddof=1) / len(differences) ** 0.5 if differences[1:] else 0.0
    shown = f"{mean:+.3f} +- {error:.3f}"
    print(f"{name:18} {kind:7} {100 * exact:8.2f} {100 * histogram:12.2f} {shown:>22}", flush=True)


def compare(name: str, kind: str, options: Any) -> Iterator[tuple[float, float]]:
    """The test accuracy with exact growth and with histograms, for each seed."""
    for seed in range(options.seeds):
        if (name, kind, seed) in options.done:
            yield options.done[name, kind, seed]
            continue
        began = time.process_time()
        train, validation, test = split(name, seed, options.rows)
        chosen = choose(kind, train, validation, seed)
        exact, histogram = (score(kind, each, chosen, train, test, seed) for each in GROWTHS)
        if options.keep:
            line = {"set": name, "kind": kind, "seed": seed, "rows": options.rows}
            seconds = round(time.process_time() - began, 1)
            line |= {"chosen": chosen, "scores": (exact, histogram), "seconds": seconds}
            with options.keep.open("a") as file:
                file.write(json.dumps(line) + "\n")
        yield exact, histogram


def read_kept(path: Path | None, rows: int) -> dict[tuple[str, str, int], tuple[float, float]]:
    """The scores of comparisons with so many rows that were made before, by set, kind and seed."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    kept = [json.loads(line) for line in lines]
    return {
        (line["set"], line["kind"], line["seed"]): tuple(line["scores"])
        for line in kept
        if line["rows"] == rows
    }


GROWTHS = ("exact", "histogram")


def choose(kind: str, train: Any, validation: Any, seed: int) -> dict[str, float]:
    """The best C and gamma on the validation rows, from some of the training rows."""
    if kind == "leaves":
        return {}
    few = train[0][:CHOOSING_ROWS], train[1][:CHOOSING_ROWS]
    cells = [{"C": C, "gamma": gamma} for C, gamma in product(Cs, GAMMAS[kind])]
    return max(cells, key=lambda cell: score(kind, "exact", cell, few, validation, seed))


def score(
    kind: str, growth: str, cell: dict[str, float], train: Any, test: Any, seed: int
) -> float:
    classifier = make(kind, growth, cell, seed).fit(*train)
    return float(classifier.score(*test))


def make(kind: str, growth: str, cell: dict[str, float], seed: int) -> Any:
    if kind == "leaves":
        tree = build("decomposer", "tree", ceiling=20, growth=growth)
        return DivideAndConquerClassifier(tree, "majority", "route", random_state=seed)
    if kind == "tree":
        tree = build("decomposer", "tree", ceiling=1500, growth=growth)
        learner = build("learner", "kernel_svm", **cell)
        return DivideAndConquerClassifier(tree, learner, "route", random_state=seed, n_jobs=2)
    settings = {"max_features": 0.5, "local_scaling": "minmax", "border": 0.5, "relevance": 1.0}
    tree = 5 * build("decomposer", "tree", growth=growth, **settings)
    learner = build("learner", "kernel_svm", multiclass="rest", **cell)
    return DivideAndConquerClassifier(tree, learner, "mean", random_state=seed, n_jobs=2)


def split(name: str, seed: int, most: int) -> tuple[Any, Any, Any]:
    """Training, validation and test rows, prepared by the training rows."""
    X, y, categories = load(name)
    order = np.random.default_rng(seed).permutation(len(y))
    rows = min(most, len(y) // 2)
    held = min(most, (len(y) - rows) // 2)
    parts = np.split(order[: rows + 2 * held], [rows, rows + held])
    if not sparse.issparse(X):
        prepare = preparation(X.shape[1], categories).fit(X[parts[0]])
        return tuple((prepare.transform(X[part]), y[part]) for part in parts)
    return tuple((X[part], y[part]) for part in parts)


def preparation(columns: int, categories: list[int]) -> Any:
    """Categories one-hot, gaps filled, columns scaled to [0, 1]."""
    numbers = [column for column in range(columns) if column not in categories]
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()), numbers),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), categories),
        sparse_threshold=0,
    )


def load(name: str) -> tuple[Any, Any, list[int]]:
    beside = Path(__file__).resolve().parents[3] / "shared" / "suite"
    with np.load(Path(os.environ.get("DCSVM_SUITE", beside)) / f"{name}.npz") as data:
        categories = data["categorical"].tolist() if "categorical" in data else []
        if "data" in data:
            parts = data["data"].astype(float), data["indices"], data["indptr"]
            return sparse.csr_array(parts, shape=tuple(data["shape"])), data["y"], categories
        if "X" in data:
            return data["X"].astype(float), data["y"], categories
        X = np.concatenate([data["X_train"], data["X_test"]]).astype(float)
        return X, np.concatenate([data["y_train"], data["y_test"]]), categories


if __name__ == "__main__":
    main()
