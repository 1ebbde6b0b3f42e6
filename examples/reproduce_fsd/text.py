"""Table 4's question on other texts: DC-LibLinear with a fusion against LIBLINEAR.

    python examples/reproduce_fsd/text.py                      # Reuters, minutes
    python examples/reproduce_fsd/text.py --data-set generated # the shape of news20, minutes

C, class weights and (for the fusion) its width and folds are chosen without the test rows, from
as many cells for both methods: on Reuters by the mean F1 of five folds of the training rows, on
the generated set by the error on validation rows. What was chosen learns from all of them, and is
asked about the test rows once.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping
from typing import Any

import measured
import numpy as np
from data import Rows, Split, generated, reuters
from fsd_strategies import fused, subspaces
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from dcsvm import DivideAndConquerClassifier, build

NAME = "text"
#: Table 2's settings of RCV1 and of news20: subspaces, features in one, the order of the fusion.
SETTINGS: Mapping[str, tuple[dict[str, int], dict[str, float], int]] = {
    "reuters": ({"rd": 4, "abd": 4}, {"rd": 0.5, "abd": 0.5}, 3),
    "generated": ({"rd": 2, "abd": 10}, {"rd": 0.5, "abd": 0.1}, 2),
}
GRIDS: Mapping[str, dict[str, dict[str, list[Any]]]] = {
    "reuters": {
        "LIBLINEAR": {
            "C": [round(float(C), 3) for C in np.geomspace(0.1, 100.0, 18)],
            "balance": [False, True],
        },
        "DC-LibLinear": {
            "C": [1.0, 3.0, 10.0],
            "gamma": ["scale", 0.01, 0.001],
            "balance": [False, True],
            "folds": [0, 5],
        },
    },
    "generated": {
        "LIBLINEAR": {"C": [1.0, 10.0], "balance": [False]},
        "DC-LibLinear": {"C": [1.0, 10.0], "gamma": ["scale"], "balance": [False], "folds": [0]},
    },
}


def made(data_set: str, method: str, cell: Mapping[str, Any]) -> DivideAndConquerClassifier:
    """A method with the settings of one cell."""
    learner = build("learner", "linear_svm", C=cell["C"])
    if method == "LIBLINEAR":
        weights = "balanced" if cell["balance"] else None
        return DivideAndConquerClassifier(
            "whole", learner, "route", class_weight=weights, random_state=0
        )
    numbers, features, order = SETTINGS[data_set]
    second = build(
        "learner", "trbf_krr", order=order, gamma=cell["gamma"], balance=cell["balance"]
    )
    fusion = build("combiner", "fusion", learner=second, folds=cell["folds"], centre="rows")
    return fused(subspaces(numbers, features), learner, fusion)


def worth(data_set: str, truth: np.ndarray, labels: np.ndarray) -> float:
    """What is chosen by: F1 of the rare class, or accuracy."""
    if data_set == "reuters":
        return float(f1_score(truth, labels))
    return float((truth == labels).mean())


def choose(data_set: str, method: str, split: Split) -> dict[str, Any]:
    """The best cell; cells that were tried are not tried again."""
    grid = GRIDS[data_set][method]
    best: tuple[float, dict[str, Any]] | None = None
    for values in itertools.product(*grid.values()):
        cell = dict(zip(grid, values, strict=True))
        key = {"stage": "choice", "data_set": data_set, "method": method, "cell": cell}
        found = measured.read(NAME, **key)
        if not found:
            with measured.timed() as training:
                score = tried(data_set, method, cell, split)
            found = [measured.append(NAME, {**key, "validation": score, **training})]
        if best is None or found[0]["validation"] > best[0]:
            best = (found[0]["validation"], cell)
    assert best is not None
    return best[1]


def tried(data_set: str, method: str, cell: Mapping[str, Any], split: Split) -> float:
    """What a cell is worth: on the validation rows, or on average over folds of all that may be
    learned from."""
    if data_set == "generated":
        X, truth = split.validation
        return worth(data_set, truth, made(data_set, method, cell).fit(*split.training).predict(X))
    X, y = joined(split)
    scores = []
    for learned, judged in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = made(data_set, method, cell).fit(X[learned], y[learned])
        scores.append(worth(data_set, y[judged], model.predict(X[judged])))
    return float(np.mean(scores))


def joined(split: Split) -> Rows:
    """Training and validation rows together."""
    (X, y), (more, others) = split.training, split.validation
    return sparse.csr_matrix(sparse.vstack([X, more], "csr")), np.concatenate([y, others])


def randomised(truth: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> float:
    """The paired randomisation test of two F1 scores: how often chance gives such a difference.

    Where the two disagree, their answers are swapped at random, 10,000 times.
    """
    generator = np.random.default_rng(0)
    seen = abs(f1_score(truth, ours) - f1_score(truth, theirs))
    differ = np.flatnonzero(ours != theirs)
    larger = 0
    for _ in range(10_000):
        swapped = differ[generator.random(len(differ)) < 0.5]
        one, other = ours.copy(), theirs.copy()
        one[swapped], other[swapped] = theirs[swapped], ours[swapped]
        larger += abs(_f1(truth, one) - _f1(truth, other)) >= seen - 1e-12
    return (larger + 1) / 10_001


def _f1(truth: np.ndarray, labels: np.ndarray) -> float:
    hits = np.count_nonzero(truth & labels)
    return 2.0 * hits / max(1, np.count_nonzero(truth) + np.count_nonzero(labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-set", choices=sorted(SETTINGS), default="reuters")
    data_set = parser.parse_args().data_set
    split = {"reuters": reuters, "generated": generated}[data_set]()
    if measured.read(NAME, stage="test", data_set=data_set):
        return
    choices = {method: choose(data_set, method, split) for method in GRIDS[data_set]}
    rows, answers = joined(split), []
    X, truth = split.test()
    for method, cell in choices.items():
        with measured.timed() as training:
            model = made(data_set, method, cell).fit(*rows)
        with measured.timed() as answering:
            labels = model.predict(X)
        answers.append(labels.astype(np.intp))
        record = {
            "stage": "test",
            "data_set": data_set,
            "method": method,
            "cell": cell,
            "rows": rows[0].shape[0],
            "features": rows[0].shape[1],
            "values": int(rows[0].nnz),
            "test_rows": len(truth),
            "error": round(100.0 * float((labels != truth).mean()), 3),
            "f1": round(100.0 * float(f1_score(truth, labels)), 2),
            "training": training,
            "answering": answering,
        }
        if method != "LIBLINEAR":
            record["p"] = round(randomised(truth, answers[1], answers[0]), 4)
            record["disagree"] = int((answers[1] != answers[0]).sum())
        measured.append(NAME, record)


if __name__ == "__main__":
    main()
