"""Soft routing between the leaves of a tree beside hard routing, with `td_svm`'s choices.

    python tests/benchmarks/soft_routing.py

A row goes to both sides of a split, to the right with the weight 1 / (1 + exp(-d / (T s))): d is
its distance from the threshold, s the deviation of the node's rows, T the temperature. Each leaf
answers with its own probabilities, and these are blended by the products of the weights. One half
of the rows that judge chooses the temperature for the other one, by log-loss; 0 is hard routing.
"""

from __future__ import annotations

import argparse
from typing import Any

import attrs
import numpy as np
from power_kernels import prepare, read_chosen
from scipy import sparse
from suite import LEAST, draw

from dcsvm import DivideAndConquerClassifier, Router, Routing, build

TEMPERATURES = (0.0, 0.01, 0.03, 0.1, 0.3)
#: Ceilings and borders of the tree; None is the ceiling that the search chose.
TREES = ((None, 0.0), (1500, 0.0), (1500, 0.5), (500, 0.0), (500, 0.5))


@attrs.frozen(eq=False)
class OneLeaf(Router):
    """Routes all rows to one leaf."""

    leaf: int

    def route(self, X: Any) -> Routing:
        return Routing.to_one(np.full(X.shape[0], self.leaf))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000, help="to learn from")
    options = parser.parse_args()
    print(f"{'set':16}{'ceiling':>8}{'border':>7}{'leaves':>7}{'hard':>8}{'soft':>8}{'loss':>8}")
    rows: dict[Any, list[Any]] = {each: [] for each in TREES}
    for name, chosen in read_chosen("td_svm").items():
        cell = draw(name, 0, options.rows, "validation")
        for ceiling, border in [] if sparse.issparse(cell.X) else TREES:
            found = compare(cell, chosen, ceiling or chosen["decomposer.ceiling"], border)
            rows[ceiling, border].append(found)
            print_row(name, ceiling, border, found)
    for tree, found in rows.items():
        print_row("mean", *tree, np.mean(found, axis=0))


def print_row(name: str, ceiling: int | None, border: float, found: Any) -> None:
    leaves, hard, soft, loss = found
    print(
        f"{name:16}{ceiling or 'chosen':>8}{border:7}{leaves:7.1f}{100 * hard:8.2f}"
        f"{100 * soft:8.2f}{100 * loss:+7.2f}%",
        flush=True,
    )


def compare(
    cell: Any, chosen: dict[str, Any], ceiling: int, border: float
) -> tuple[int, float, float, float]:
    """The leaves, the accuracies of hard and soft routing, and what log-loss changes, relative."""
    X, judged = prepare(cell, chosen["data.scale"])
    settings = {key.removeprefix("learner."): chosen[key] for key in chosen if "learner" in key}
    model = DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=ceiling, border=border),
        build("learner", "kernel_svm", **settings),
        probability="auto",
        random_state=0,
    ).fit(X, cell.y)
    router = model.model_.committee.groups[0].router
    shares = ask_all_leaves(model, judged)
    spreads = measure_spreads(router.tree, X)
    tried = [
        judge(np.einsum("nm,mnc->nc", weigh(router, spreads, judged, each), shares), cell.y_test)
        for each in TEMPERATURES
    ]
    right, lost = tried[0][0].astype(float), tried[0][1].copy()
    half = np.random.default_rng(0).random(len(judged)) < 0.5
    for mine in (half, ~half):
        best = min(tried, key=lambda each: each[1][~mine].mean())
        right[mine], lost[mine] = best[0][mine], best[1][mine]
    hard = tried[0]
    return len(shares), hard[0].mean(), right.mean(), lost.mean() / hard[1].mean() - 1


def ask_all_leaves(model: Any, X: Any) -> Any:
    """The probabilities (leaves, n, classes) of every leaf for all rows."""
    fitted, answers = model.model_, []
    (group,) = fitted.committee.groups
    for leaf in range(len(fitted.committee.members)):
        forced = attrs.evolve(
            fitted.committee,
            groups=(attrs.evolve(group, router=OneLeaf(leaf)),),
            blocks_by_members={},
        )
        model.model_ = attrs.evolve(fitted, committee=forced)
        answers.append(model.predict_proba(X))
    model.model_ = fitted
    return np.array(answers)


def measure_spreads(tree: Any, X: Any) -> Any:
    """The deviation of the feature of each inner node among the rows of the node."""
    spreads, rows = np.ones(len(tree.left)), {0: np.arange(len(X))}
    for node in np.flatnonzero(tree.left >= 0):
        values = X[rows[node], tree.feature[node]].astype(np.float32)
        spreads[node] = max(values.std(), 1e-9)
        left = values <= tree.threshold[node]
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][left], rows[node][~left]
    return spreads


def weigh(router: Any, spreads: Any, X: Any, temperature: float) -> Any:
    """The weights (n, leaves) of the leaves."""
    tree = router.tree
    shares = np.zeros((len(X), len(tree.left)))
    shares[:, 0] = 1.0
    for node in np.flatnonzero(tree.left >= 0):
        away = X[:, tree.feature[node]].astype(np.float32) - np.float32(tree.threshold[node])
        right = (away > 0).astype(float)
        if temperature:
            right = 1 / (1 + np.exp(-np.clip(away / (temperature * spreads[node]), -50, 50)))
        shares[:, tree.left[node]] = shares[:, node] * (1 - right)
        shares[:, tree.right[node]] = shares[:, node] * right
    return shares[:, tree.left < 0]  # members are numbered in the order of the leaves


def judge(shares: Any, y: Any) -> tuple[Any, Any]:
    """Whether rows are answered right, and their log-losses."""
    shares = np.clip(shares, LEAST, None)
    own = shares[np.arange(len(y)), y] / shares.sum(axis=1)
    return shares.argmax(axis=1) == y, -np.log(own)


if __name__ == "__main__":
    main()
