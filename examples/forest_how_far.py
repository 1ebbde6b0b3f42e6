"""How far a forest of SVM trees goes: ways to combine its trees, and to choose its parameters.

    python examples/forest_how_far.py --data-set covertype      # ten trees, for some minutes
    python examples/forest_how_far.py --page                    # the table, for svm_forest.md

Ten trees with random splits are learned from the training part. Then they vote, or the mean of
their scores answers, or a mean whose weights fit the validation rows. Two more tens choose the
parameters of each leaf by itself: by the validation rows that fall into it, or by the rows that
its tree did not see. Nothing is chosen by the test rows; they are read for the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

sys.path.insert(0, str(Path(__file__).parent / "reproduce_td"))

import measured
from data import NAMES, Rows, Split, split
from tables import shown, table

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build

TREES = 10
CELL = {"C": 100.0, "gamma": 30.0}
#: What a leaf may choose from by itself.
GRID = {"learner__C": [10.0, 100.0], "learner__gamma": [10.0, 30.0, 100.0]}
#: A class that a leaf never saw is sure to lose there, as in the combiner `mean`.
UNSEEN = -1.0


def tree(seed: int) -> DivideAndConquerClassifier:
    """One tree with random splits and an SVM in each of its leaves."""
    decomposer = build(
        "decomposer",
        "tree",
        max_features=0.8,
        local_scaling="minmax",
        relevance=1.0,
        border=0.5,
    )
    learner = build("learner", "kernel_svm", multiclass="rest", **CELL)
    return DivideAndConquerClassifier(decomposer, learner, "route", random_state=seed)


def same_for_all(cut: Split, seed: int, jobs: int) -> Any:
    """A tree whose leaves share one C and gamma."""
    return tree(seed).set_params(n_jobs=jobs).fit(*cut.training)


def by_leaf(cut: Split, seed: int, jobs: int) -> Any:
    """A tree whose leaves choose by the validation rows that fall into them."""
    return _searched(seed, cut.training, cut.validation, jobs)


def out_of_bag(cut: Split, seed: int, jobs: int) -> Any:
    """A tree of a bootstrap's rows, whose leaves choose by the rows outside of it."""
    X, y = cut.training
    drawn = np.bincount(
        np.random.default_rng(seed).integers(len(y), size=len(y)), minlength=len(y)
    )
    inside = drawn > 0
    return _searched(seed, (X[inside], y[inside]), (X[~inside], y[~inside]), jobs)


def _searched(seed: int, rows: Rows, judged: Rows, jobs: int) -> GranularitySearch:
    search = GranularitySearch(
        tree(seed),
        GRID,
        per_part=True,
        refit="training",
        seconds=1e-3,  # the finest level only
        n_jobs=jobs,
        random_state=0,
    )
    return search.fit(*rows, X_val=judged[0], y_val=judged[1])


def run(name: str, rows: int | None, jobs: int) -> None:
    """Learn the trees in each way and keep what their combinations are worth."""
    cut = split(name, rows=rows)
    for learn in (same_for_all, by_leaf, out_of_bag):
        asked = {"data_set": name, "rows": rows, "learned": learn.__name__}
        if measured.read("forest_how_far", **asked):
            continue
        clock = measured.Clock()
        trees = [learn(cut, seed, jobs) for seed in range(TREES)]
        took = clock.seconds()["cpu_seconds"]
        judged, tested = (_scores(trees, part[0]) for part in (cut.validation, cut.test()))
        for way, answers in combinations(judged, cut.validation[1], tested):
            record = asked | {"combined": way, "cpu_seconds": took, "trees": TREES}
            for part, (labels, y) in zip(
                ("validation", "test"),
                zip(answers, (cut.validation[1], cut.test()[1]), strict=True),
                strict=True,
            ):
                record[part] = float(np.mean(np.mean(labels == y, axis=-1)))
            print(record, flush=True)
            measured.append("forest_how_far", record)


def _scores(trees: list[Any], X: np.ndarray) -> np.ndarray:
    """What each tree says of each row and class: (trees, n, classes)."""
    scores = np.stack([one.decision_function(X) for one in trees])
    if scores.ndim == 2:
        scores = np.stack([-scores, scores], axis=2)
    return np.where(np.isfinite(scores), scores, UNSEEN)


def combinations(
    judged: np.ndarray, y: np.ndarray, tested: np.ndarray
) -> Iterable[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Ways to combine the trees, with the labels of validation and test rows.

    Scores are (trees, n, classes); a tree alone has labels (trees, n), all others (n,).
    """
    classes = judged.shape[2]
    yield "one tree", (judged.argmax(axis=2), tested.argmax(axis=2))
    votes = [
        np.stack([(each.argmax(axis=2) == label).sum(axis=0) for label in range(classes)], axis=1)
        for each in (judged, tested)
    ]
    # Equal votes are decided by the mean of scores.
    pairs = zip(votes, (judged, tested), strict=True)
    first, second = (vote + 1e-3 * np.tanh(each.mean(axis=0)) for vote, each in pairs)
    yield "vote", (first.argmax(axis=1), second.argmax(axis=1))
    yield "mean", (judged.mean(axis=0).argmax(axis=1), tested.mean(axis=0).argmax(axis=1))
    weights = fitted_weights(judged, y)
    yield (
        "weights by validation",
        tuple(np.tensordot(weights, each, 1).argmax(axis=1) for each in (judged, tested)),
    )


def fitted_weights(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of the trees, none negative, whose sum of scores is nearest to 1 and -1."""
    wanted = np.where(np.arange(scores.shape[2]) == y[:, None], 1.0, -1.0)
    weights, _ = nnls(scores.reshape(len(scores), -1).T, wanted.ravel())
    return weights


def page() -> Iterable[str]:
    """The table of all that was measured."""
    rows = [
        [
            NAMES[one["data_set"]],
            {"same_for_all": "one for all", "by_leaf": "by leaf", "out_of_bag": "out of bag"}[
                one["learned"]
            ],
            one["combined"],
            f"{100 * one['validation']:.2f}",
            f"{100 * one['test']:.2f}",
            shown(one["cpu_seconds"]),
        ]
        for one in measured.read("forest_how_far", rows=None)
    ]
    yield from table(
        ["data", "C and gamma", "combined by", "validation", "test", "cpu seconds"], rows
    )


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(NAMES), default="covertype")
    reader.add_argument("--rows", type=int, help="only so many rows, chosen at random")
    reader.add_argument("--jobs", type=int, default=2)
    reader.add_argument("--page", action="store_true", help="print the table and end")
    given = reader.parse_args()
    if given.page:
        print("\n".join(page()))
    else:
        run(given.data_set, given.rows, given.jobs)


if __name__ == "__main__":
    main()
