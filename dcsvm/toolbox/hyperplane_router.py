"""Trees of hyperplanes: the router, and learners for their nodes."""

from typing import Any, cast

import attrs
import numpy as np

from dcsvm.base.component import component, setting
from dcsvm.base.errors import SettingError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import Hyperplanes, LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Router, Routing
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import axes
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree


def find_hyperplane_tree(committee: Any) -> tuple[PlaneTree, IntArray] | None:
    """Return the hyperplane tree of a committee's router and the member of each leaf, or None."""
    groups = committee.groups
    router: Router | None = groups[0].router if len(groups) == 1 else None
    return None if router is None else router.hyperplane_tree()


@attrs.frozen(eq=False)
class PlaneRouter(Router):
    """A router by a tree of hyperplanes; a row is sent to `member[leaf]`."""

    tree: PlaneTree
    member: IntArray = attrs.field(
        metadata=axes("leaves", dtype=np.integer, at_least=0, below="members")
    )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        return super().check_stored(**sizes | self.tree.check_stored(**sizes))

    def route(self, X: Matrix) -> Routing:
        leaf, passed = self.tree.route(X)
        return Routing.to_one(self.member[leaf], passed.astype(float))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.plane_tree(self.tree, self.member)

    def hyperplane_tree(self) -> tuple[PlaneTree, IntArray]:
        return self.tree, self.member

    def trace(self, x: Matrix) -> list[str]:
        sentences = [
            f"hyperplane {node}: {abs(away):.4g} to the {'right' if away > 0 else 'left'}"
            for node, away in self.tree.path(x)
        ]
        return [*sentences, f"leaf {self.tree.route(x)[0][0]}"]

    def overview(self, scene: Scene) -> str:
        inner, n_leaves = len(self.tree.thresholds), self.tree.n_leaves
        pairs = all_nodes(self.tree)[:inner].tolist()
        return draw_division(
            scene,
            [*map(tuple, pairs), *[()] * n_leaves],
            [self._describe_node(scene, node) for node in range(inner)] + [""] * n_leaves,
            lambda X: inner + self.tree.route(X)[0],
        )

    def _describe_node(self, scene: Scene, node: int) -> str:
        """Name the two features with the largest weights, with dots if there are more."""
        weights = self.tree.weights[node, : self.tree.n_features]
        heaviest = np.argsort(-np.abs(weights), kind="stable")[:2]
        words = [f"{weights[j]:+.3g} {scene.features[j]}" for j in heaviest if weights[j]]
        more = " ..." if np.count_nonzero(weights) > len(words) else ""
        return f"{' '.join(words)}{more} ≤ {self.tree.thresholds[node]:.3g}"


def all_nodes(tree: PlaneTree) -> IntArray:
    """Return the children of all nodes, (nodes, 2): inner nodes first, -1, -1 for leaves."""
    inner = len(tree.thresholds)
    children = np.where(tree.children < 0, inner + ~tree.children, tree.children)
    return np.concatenate([children, np.full((tree.n_leaves, 2), -1)])


def leaf_masses(
    tree: PlaneTree, X: Matrix, y: IntArray, weights: FloatArray | None, n_classes: int
) -> FloatArray:
    """Return the weight of the rows of each class at each leaf, (leaves, classes)."""
    masses = np.zeros((tree.n_leaves, n_classes))
    np.add.at(masses, (tree.route(X)[0], y), 1.0 if weights is None else weights)
    return masses


@component
class NormalizedWeights(LocalLearner):
    """A learner whose row weights are scaled to mean 1, so that C keeps its meaning."""

    name = "normalized_weights"

    learner: Any = setting(kind="learner", help="the learner to fit")

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return bool(self.learner.releases_gil)

    @property
    def row_weights(self) -> Any:  # type: ignore[override]
        return self.learner.row_weights

    def fit(self, problem: Problem) -> LocalModel:
        weights = None if problem.weights is None else problem.weights / problem.weights.mean()
        return cast(LocalModel, self.learner.fit(attrs.evolve(problem, weights=weights)))


def require_hyperplanes(model: LocalModel, owner: str) -> Hyperplanes:
    """Return the model; raise if the splitter of `owner` did not learn hyperplanes."""
    if not isinstance(model, Hyperplanes):
        raise SettingError(
            f"{owner}: splitter must learn hyperplanes, as linear_svm and pegasos do, got a "
            f"{type(model).__name__}"
        )
    return model
