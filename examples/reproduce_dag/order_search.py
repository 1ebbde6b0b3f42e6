"""Lists of classes for the decision graph, searched for few kernel evaluations.

    python examples/reproduce_dag/order_search.py --data-set covertype

Beyond the paper. The pairs of table 1 are trained on the training rows (without those to choose
by); exchanges of two classes in the list are tried until none lowers the kernel evaluations on the
validation rows without more errors there. Then all training rows are learned and the test rows are
asked once. Whether they were read before, table 1 and "Second choices" say. Appended to
measured/order_search.jsonl.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import attrs
import measured
import numpy as np
from again import walked
from choose import chosen
from data import SPLITS, split
from final import classifier, tested


@attrs.frozen(eq=False)
class Pairs:
    """What the pairs of classes decide on some rows, and which support vectors they ask.

    Parameters
    ----------
    scores : (n, pairs) array
        Positive where the first class wins.
    asked : (pairs, support vectors) bool array
    truth : (n,) int array
    n_classes : int
    """

    scores: np.ndarray
    asked: np.ndarray
    truth: np.ndarray
    n_classes: int

    def judge(self, order: np.ndarray) -> tuple[int, float]:
        """Errors with a list of classes, and the mean of the support vectors on a path."""
        paths = self.find_paths(order)
        nodes, number = np.unique(paths, axis=0, return_counts=True)
        counts = [self.asked[path].any(axis=0).sum() for path in nodes]
        wrong = int((walked(self.scores, order) != self.truth).sum())
        return wrong, float(np.average(counts, weights=number))

    def find_paths(self, order: np.ndarray) -> np.ndarray:
        """The pairs (n, k - 1) that each row visits."""
        k, n = len(order), len(self.truth)
        place = np.zeros((k, k), dtype=np.intp)
        place[np.triu_indices(k, 1)] = np.arange(k * (k - 1) // 2)
        place += place.T
        first, rows = np.zeros(n, dtype=np.intp), np.arange(n)
        paths = np.empty((n, k - 1), dtype=np.intp)
        for step in range(k - 1):
            one, other = order[first], order[first + k - 1 - step]
            paths[:, step] = place[one, other]
            first += (self.scores[rows, paths[:, step]] > 0) != (one < other)
        return paths


def train_pairs(name: str, cell: dict[str, Any]) -> Pairs:
    """The pairs of the rows to learn from, asked about the rows to judge by."""
    (X, y), (X_judged, truth) = split(name).validations(0)
    committee = classifier("max_wins", cell).fit(X, y).model_.committee
    asked = np.zeros((len(committee.members), len(y)), dtype=bool)
    for member, row in zip(committee.members, asked, strict=True):
        row[member.support] = True
    return Pairs(
        committee.table(X_judged), asked[:, asked.any(axis=0)], truth, committee.n_classes
    )


def search(pairs: Pairs, order: np.ndarray) -> np.ndarray:
    """Exchange two classes as long as that saves evaluations and makes no more errors."""
    wrong, cost = pairs.judge(order)
    while True:
        best = order
        for one, other in itertools.combinations(range(len(order)), 2):
            tried = order.copy()
            tried[[one, other]] = tried[[other, one]]
            errors, evaluations = pairs.judge(tried)
            if errors <= wrong and evaluations < cost:
                best, cost = tried, evaluations
        if best is order:
            return order
        order = best


def measure(name: str) -> dict[str, Any]:
    cell = chosen(name, "dagsvm")["cell"]
    pairs = train_pairs(name, cell)
    natural = np.arange(pairs.n_classes)
    order = search(pairs, natural)
    (wrong, cost), (wrong_before, cost_before) = (pairs.judge(each) for each in (order, natural))
    record, _ = tested(split(name), "dagsvm", cell, combiner__order=tuple(order.tolist()))
    return {
        **record,
        "order": order.tolist(),
        "validation": {"errors": wrong / len(pairs.truth), "kernel_evaluations": cost},
        "natural": {"errors": wrong_before / len(pairs.truth), "kernel_evaluations": cost_before},
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(SPLITS), required=True)
    name = reader.parse_args().data_set
    if not measured.find("order_search", data_set=name):
        print(measured.write("order_search", measure(name)))


if __name__ == "__main__":
    main()
