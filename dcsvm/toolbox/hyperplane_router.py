"""Routers made of hyperplanes: a tree of them, and which of its leaves asks which member."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dcsvm.base.routing import Router, Routing
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree


def find_hyperplane_tree(committee: Any) -> tuple[PlaneTree, IntArray] | None:
    """The tree of hyperplanes that a committee routes by, and the member of each leaf; or None."""
    groups = committee.groups
    router: Router | None = groups[0].router if len(groups) == 1 else None
    return None if router is None else router.hyperplane_tree()


@attrs.frozen(eq=False)
class PlaneRouter(Router):
    """A tree of hyperplanes; a row asks the one member of its leaf, `member[leaf]`."""

    tree: PlaneTree
    member: IntArray

    def route(self, X: Matrix) -> Routing:
        leaf, passed = self.tree.route(X)
        return Routing.to_one(self.member[leaf], passed.astype(float))

    def hyperplane_tree(self) -> tuple[PlaneTree, IntArray]:
        return self.tree, self.member

    def trace(self, x: Matrix) -> list[str]:
        sentences = [
            f"hyperplane {node}: {abs(away):.4g} to the {'right' if away > 0 else 'left'}"
            for node, away in self.tree.path(x)
        ]
        return [*sentences, f"leaf {self.tree.route(x)[0][0]}"]

    def overview(self, scene: Scene) -> str:
        inner = len(self.tree.thresholds)
        pairs = all_nodes(self.tree)[:inner].tolist()
        return draw_division(
            scene,
            [*map(tuple, pairs), *[()] * self.tree.n_leaves],
            [self._question(scene, node) for node in range(inner)] + [""] * self.tree.n_leaves,
            lambda X: inner + self.tree.route(X)[0],
        )

    def _question(self, scene: Scene, node: int) -> str:
        """The two features that weigh most, and a sign that there are more."""
        weights = self.tree.weights[node, : self.tree.n_features]
        heaviest = np.argsort(-np.abs(weights), kind="stable")[:2]
        words = [f"{weights[j]:+.3g} {scene.features[j]}" for j in heaviest if weights[j]]
        more = " ..." if np.count_nonzero(weights) > len(words) else ""
        return f"{' '.join(words)}{more} ≤ {self.tree.thresholds[node]:.3g}"


def all_nodes(tree: PlaneTree) -> IntArray:
    """The children of all nodes, (nodes, 2): inner ones first, then the leaves with -1, -1."""
    inner = len(tree.thresholds)
    children = np.where(tree.children < 0, inner + ~tree.children, tree.children)
    return np.concatenate([children, np.full((tree.n_leaves, 2), -1)])


def leaf_masses(
    tree: PlaneTree, X: Matrix, y: IntArray, weights: FloatArray | None, n_classes: int
) -> FloatArray:
    """The weight of the rows of each class at each leaf, (leaves, classes)."""
    masses = np.zeros((tree.n_leaves, n_classes))
    np.add.at(masses, (tree.route(X)[0], y), 1.0 if weights is None else weights)
    return masses
