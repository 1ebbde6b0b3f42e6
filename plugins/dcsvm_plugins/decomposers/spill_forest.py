"""Spill trees: random projections, with rows near a border on both of its sides."""

import attrs
import numpy as np

from dcsvm import Decomposer, Division, Problem, Router, Routing, component, part, setting
from dcsvm.numeric import (
    FloatArray,
    IntArray,
    Matrix,
    Plan,
    Step,
    axes,
    check_binary_tree,
    grow_overlapping,
)
from dcsvm.toolbox import Stages


@attrs.frozen(eq=False)
class SpillRouter(Router):
    """A tree of projections: a row within `widths` of a border goes to both sides, by weight.

    `children` (nodes, 2) are later nodes, or ~leaf.
    """

    directions: FloatArray = attrs.field(metadata=axes("nodes", "features"))
    borders: FloatArray = attrs.field(metadata=axes("nodes"))
    widths: FloatArray = attrs.field(metadata=axes("nodes", at_least=0))
    children: IntArray = attrs.field(metadata=axes("nodes", 2, dtype=np.integer))
    soft = True

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        check_binary_tree("SpillRouter", self.children, sizes.get("members"))
        return sizes

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.spill(self.directions, self.borders, self.widths, self.children)

    def route(self, X: Matrix) -> Routing:
        nodes = len(self.borders)
        shares = np.zeros((X.shape[0], 2 * nodes + 1))  # of nodes, and from the end of leaves
        shares[:, 0] = 1.0
        for node, (left, right) in enumerate(self.children.tolist()):
            here = np.flatnonzero(shares[:, node])
            lean = self.lean(X[here], node)
            shares[here, left] = (1 - lean) * shares[here, node]
            shares[here, right] = lean * shares[here, node]
        weights = shares[:, nodes:][:, ::-1]
        row, member = np.nonzero(weights)
        passed = np.count_nonzero(shares[:, :nodes], axis=1).astype(float)
        return Routing(row, member, weights[row, member], hyperplanes=passed)

    def lean(self, X: Matrix, node: int) -> FloatArray:
        """How far rows X are to the right of a border: 0 to 1, between them within its width."""
        away = np.asarray(X @ self.directions[node]) - self.borders[node]
        if self.widths[node] == 0.0:
            return np.asarray(away > 0, dtype=float)
        return np.asarray(np.clip(0.5 + away / (2.0 * self.widths[node]), 0, 1))


@component
class SpillForest(Decomposer):
    """Random projection trees with overlapping parts, combined near a border.

    Each node projects its rows on a random direction and divides at the median. The share
    `overlap` of rows nearest to the border is trained on both sides, and a new row there asks
    both, with weights that change evenly across the band. It needs no labels and works in high
    dimensions. With an overlap of 0 the trees are random projection trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = build("decomposer", "spill_forest", trees=3, ceiling=60)
    >>> clf = DivideAndConquerClassifier(forest, "kernel_svm", "mean", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Liu, Moore, Gray, Yang: An investigation of practical approximate nearest neighbor algorithms
    (2004). Dasgupta, Sinha: Randomized partition trees for exact nearest neighbor search (2013).
    """

    name = "spill_forest"
    yields = frozenset({"regions", "groups"})
    rows_held = 1.5
    sibling = "tree"
    stored_types = (SpillRouter,)

    trees: int = setting(5, at_least=1, help="number of trees")
    ceiling: int = setting(1000, at_least=1, help="largest part, unless rows cannot be told apart")
    overlap: float = setting(0.2, at_least=0, below=0.5, help="share of rows on both sides")

    def divide(self, problem: Problem) -> Stages:
        grown = [self._grow(problem.with_child_seed(number)) for number in range(self.trees)]
        members = yield [part(rows) for _, leaves in grown for rows in leaves]
        trained = iter(members)
        groups = [Division(router, [next(trained) for _ in leaves]) for router, leaves in grown]
        return Division(groups=groups)

    def _grow(self, problem: Problem) -> tuple[SpillRouter, list[IntArray]]:
        draw = problem.seed.generator()
        grown = grow_overlapping(problem.X, draw, self.ceiling, self.overlap)
        directions, borders, widths, children, leaves = grown
        return SpillRouter(directions, borders, widths, children), leaves
