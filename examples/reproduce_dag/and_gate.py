"""Knerr's AND gate beside Max Wins: a class is the answer if it wins all of its pairs.

    python examples/reproduce_dag/and_gate.py --data-set letter

The SVMs are those of Max Wins in table 1; nothing is chosen here. Rows that no class wins
outright get no answer from the gate. Appended to measured/and_gate.jsonl.
"""

from __future__ import annotations

import argparse
from typing import Any

import measured
import numpy as np
from choose import chosen
from data import SPLITS, split
from final import classifier


def measure(name: str) -> dict[str, Any]:
    """How often all pairs of a class agree, and how often they are right then."""
    rows = split(name)
    cell = chosen(name, "max_wins")["cell"]
    model = classifier("max_wins", cell).fit(*rows.training)
    X, y = rows.test()
    wins = np.concatenate(
        [count_wins(model, block) for block in np.array_split(X, 1 + len(X) // 20_000)]
    )
    winner, agreed = wins.argmax(axis=1), wins.max(axis=1) == wins.shape[1] - 1
    wrong, missed = model.classes_[winner] != y, model.predict(X) != y
    return {
        "cell": cell,
        "tested": len(y),
        "unanswered": float(1.0 - agreed.mean()),
        "error_of_answered": float(wrong[agreed].mean()),
        "error_of_max_wins": float(missed.mean()),
        "error_of_max_wins_elsewhere": float(missed[~agreed].mean()),
    }


def count_wins(model: Any, X: np.ndarray) -> np.ndarray:
    """How many of its pairs each class wins, by row."""
    classes = len(model.classes_)
    wins = np.zeros((len(X), classes), dtype=np.intp)
    table = model.model_.committee.table(X)
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    for (first, second), scores in zip(pairs, table.T, strict=True):
        wins[:, first] += scores > 0
        wins[:, second] += scores <= 0
    return wins


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    if not measured.find("and_gate", data_set=name):
        print(measured.write("and_gate", {"data_set": name, **measure(name)}))


if __name__ == "__main__":
    main()
