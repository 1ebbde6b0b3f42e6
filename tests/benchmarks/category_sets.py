"""Trees that split categories by sets of levels beside trees of one level against the rest.

    python tests/benchmarks/category_sets.py

The levels of a category are put in order by the shares of the classes in them, for several classes
along the first principal direction of these shares; a cut of the order is a split by a set of
levels. The leaves learn the same one-hot features either way. Settings are the best of three for
each kind of split, on validation rows; the suite's sets with categories (`DCSVM_SUITE` names its
folder) are split three times.
"""

from __future__ import annotations

import argparse
from typing import Any

import attrs
import numpy as np
from tree_accuracy import load, preparation

from dcsvm import DivideAndConquerClassifier, Problem, Router, Routing, build, component
from dcsvm.toolbox import Stages
from dcsvm_plugins.decomposers.tree import Tree

SETS = ("bank_marketing", "diamonds", "job_change", "kropt")
KINDS = ("leaves", "tree", "forest")
CELLS = ({"C": 1.0, "gamma": 0.05}, {"C": 10.0, "gamma": 0.05}, {"C": 10.0, "gamma": 0.3})
#: Columns of one-hot features by category, of the set that is being learned.
GROUPS: list[list[int]] = []


@attrs.frozen(eq=False)
class OrderedRouter(Router):
    """Routes rows by a tree over their ordered categories."""

    order: Any
    tree: Router

    def route(self, X: Any) -> Routing:
        return self.tree.route(X @ self.order)


@component
class SetTree(Tree):
    """A tree whose splits of a category are sets of its levels."""

    name = "set_tree"

    def divide(self, problem: Problem) -> Stages:
        order = order_levels(problem)
        level = next(self.levels(attrs.evolve(problem, X=problem.X @ order, names=None)))
        yield list(level.parts)
        return OrderedRouter(order, level.router)


def order_levels(problem: Problem) -> Any:
    """The linear map (d, d') that replaces the features of a category by the rank of its level."""
    single = np.setdiff1d(np.arange(problem.n_features), np.concatenate(GROUPS))
    columns = list(np.eye(problem.n_features)[single])
    classes = np.eye(problem.n_classes)[problem.y]
    for group in GROUPS:
        counts = problem.X[:, group].sum(axis=0)
        shares = (problem.X[:, group].T @ classes + classes.mean(axis=0)) / (counts[:, None] + 1)
        weighted = (shares - classes.mean(axis=0)) * np.sqrt(counts)[:, None]
        direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
        ranks = np.argsort(np.argsort((shares - classes.mean(axis=0)) @ direction))
        column = np.zeros(problem.n_features)
        column[group] = (ranks + 1) / len(group)
        columns.append(column)
    return np.array(columns).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=6000, help="training rows at most")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'set':16} {'kind':7} {'one level %':>12} {'sets %':>8} {'difference':>11}")
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for name in SETS:
        for kind in KINDS:
            pairs = [compare(name, kind, seed, options.rows) for seed in range(options.seeds)]
            single, by_sets = 100 * np.mean(pairs, axis=0)
            found[kind].append(by_sets - single)
            print(f"{name:16} {kind:7} {single:12.2f} {by_sets:8.2f} {by_sets - single:+11.2f}")
    for kind, differences in found.items():
        print(f"{'mean':16} {kind:7} {np.mean(differences):+33.2f}")


def compare(name: str, kind: str, seed: int, most: int) -> tuple[float, float]:
    """Validation accuracies of the two kinds of splits."""
    X, y, categories = load(name)
    rows = min(most, len(y) // 3)
    drawn = np.random.default_rng(seed).permutation(len(y))[: 2 * rows]
    learned, judged = drawn[:rows], drawn[rows:]
    prepare = preparation(X.shape[1], categories).fit(X[learned])
    GROUPS[:] = find_groups(prepare, X.shape[1] - len(categories))
    train = prepare.transform(X[learned]), y[learned]
    test = prepare.transform(X[judged]), y[judged]
    cells = CELLS if kind != "leaves" else CELLS[:1]
    one, by_sets = (
        max(make(kind, tree, cell, seed).fit(*train).score(*test) for cell in cells)
        for tree in (Tree, SetTree)
    )
    return one, by_sets


def find_groups(prepare: Any, first: int) -> list[list[int]]:
    """The one-hot columns of each category; they come after `first` numbers."""
    encoder = prepare.transformers_[1][1][-1]
    widths = [
        len(levels) - (0 if rare is None else len(rare) - 1)
        for levels, rare in zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    ]
    ends = first + np.cumsum(widths)
    return [
        list(range(end - width, end)) for end, width in zip(ends, widths, strict=True) if width > 2
    ]


def make(kind: str, tree: type[Tree], cell: dict[str, float], seed: int) -> Any:
    if kind == "leaves":
        return DivideAndConquerClassifier(tree(ceiling=20), "majority", "route", random_state=seed)
    if kind == "tree":
        learner = build("learner", "kernel_svm", **cell)
        return DivideAndConquerClassifier(tree(ceiling=500), learner, "route", random_state=seed)
    learner = build("learner", "kernel_svm", multiclass="rest", **cell)
    trees = 5 * tree(ceiling=500, max_features=0.5)
    return DivideAndConquerClassifier(trees, learner, "mean", random_state=seed)


if __name__ == "__main__":
    main()
