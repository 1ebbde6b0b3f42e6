"""Spill trees: random projections, with rows near a border on both of its sides."""

import attrs
import numpy as np

from dcsvm import Decomposer, Division, Problem, Router, Routing, component, part, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step, axes, split_with_overlap
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
        nodes, later = sizes["nodes"], np.arange(sizes["nodes"])[:, None]
        inner = self.children >= 0
        if (inner & ((self.children <= later) | (self.children >= nodes))).any() or (
            ~self.children[~inner] >= sizes.get("members", nodes + 1)
        ).any():
            raise ValueError("SpillRouter.children must be later nodes, or leaves of the tree")
        return sizes

    def lower(self, plan: Plan, n_features: int) -> Step | None:
        return plan.spill(self.directions, self.borders, self.widths, self.children)

    def route(self, X: Matrix) -> Routing:
        nodes, n = len(self.borders), X.shape[0]
        weights, depth, at = np.zeros((n, nodes + 1)), np.zeros(n), np.zeros((n, max(nodes, 1)))
        at[:, 0], weights[:, 0] = 1.0, float(nodes == 0)
        for node in range(nodes):
            here = np.flatnonzero(at[:, node])
            right = self.lean(X[here], node)
            depth[here] += 1.0
            for child, share in zip(self.children[node].tolist(), (1 - right, right), strict=True):
                target = at[:, child] if child >= 0 else weights[:, ~child]
                target[here] += share * at[here, node]
        row, member = np.nonzero(weights)
        return Routing(row, member, weights[row, member], hyperplanes=depth)

    def lean(self, X: Matrix, node: int) -> FloatArray:
        """How far rows X are to the right of a border: 0 to 1, between them within its width."""
        away = np.asarray(X @ self.directions[node]) - self.borders[node]
        if self.widths[node] == 0.0:
            return np.asarray(away > 0, dtype=float)
        return np.asarray(np.clip(0.5 + away / (2.0 * self.widths[node]), 0, 1))


@component
class SpillForest(Decomposer):
    """Random projection trees whose parts overlap, and are asked together near a border.

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
        generator, X = problem.seed.generator(), problem.X
        nodes: list[tuple[FloatArray, float, float]] = []
        children: list[list[int]] = []
        leaves: list[IntArray] = []
        queue: list[tuple[IntArray, int, int]] = [(np.arange(problem.n_rows), -1, 0)]
        for rows, parent, side in queue:
            direction = generator.normal(size=problem.n_features)
            found = split_with_overlap(np.asarray(X[rows] @ direction), self.overlap)
            number = len(nodes)
            if len(rows) <= self.ceiling or found is None:
                number = ~len(leaves)
                leaves.append(rows)
            else:
                border, width, left, right = found
                nodes.append((direction, border, width))
                children.append([0, 0])
                queue += [(rows[left], number, 0), (rows[right], number, 1)]
            if parent >= 0:
                children[parent][side] = number
        directions, borders, widths = (np.array([each[i] for each in nodes]) for i in range(3))
        directions, links = directions.reshape(-1, problem.n_features), np.array(children, int)
        return SpillRouter(directions, borders, widths, links.reshape(-1, 2)), leaves
