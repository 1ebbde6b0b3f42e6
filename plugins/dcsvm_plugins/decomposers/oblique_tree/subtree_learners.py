"""The learners that grow an oblique tree and optimize it."""

from typing import Any

import attrs
import numpy as np

from dcsvm import LocalLearner, LocalModel, Member, Problem, component, setting
from dcsvm.numeric import Float32Rows, FloatArray, Hyperplane, IntArray, Matrix, PlaneTree, axes
from dcsvm.toolbox import Cost, leaf_masses, require_hyperplanes
from dcsvm_plugins.decomposers.oblique_tree.alternating_optimization import optimize_oblique
from dcsvm_plugins.decomposers.oblique_tree.dual_coordinate_descent import DualSettings
from dcsvm_plugins.decomposers.oblique_tree.oblique_growth import grow_oblique


@attrs.frozen(eq=False)
class Subtree(LocalModel):
    """A tree grown from one part, with the class frequencies at each leaf."""

    tree: PlaneTree
    frequencies: FloatArray = attrs.field(metadata=axes("leaves", "columns"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        return super().check_stored(**sizes | self.tree.check_stored(**sizes))

    @classmethod
    def of(cls, tree: PlaneTree, problem: Problem) -> "Subtree":
        masses = weigh_leaves(tree, problem)
        frequencies = masses / masses.sum(axis=1, keepdims=True)
        return cls(
            tree,
            frequencies[:, 1:] - frequencies[:, :1] if frequencies.shape[1] == 2 else frequencies,
        )

    def scores(self, X: Matrix) -> FloatArray:
        return self.frequencies[self.tree.route(X)[0]]

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        leaf, passed = self.tree.route(X)
        return self.frequencies[leaf], Cost(hyperplanes=passed.astype(float))


@component
class SubtreeGrower(LocalLearner):
    """Grows a piece of an oblique tree: a single split of many rows, or a whole subtree."""

    name = "oblique_piece"

    settings: Any = setting(help="GrowthSettings")
    splitter: Any = setting(
        None, kind="learner", help="learner of the hyperplanes; none for Pegasos"
    )
    seed: Any = setting(None, help="Seed of the piece")
    taught: Any = setting(None, help="labels (n,) to learn instead of the rows' own")

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return self.splitter is None or bool(self.splitter.releases_gil)

    def fit(self, problem: Problem) -> LocalModel:
        problem = _relabel(problem, self.taught)
        generator = self.seed.generator()
        order, settings = generator.permutation(problem.n_rows), self.settings
        if settings.pegasos.random:
            seeded = attrs.evolve(settings.pegasos, random=int(generator.integers(1, 2**62)))
            settings = attrs.evolve(settings, pegasos=seeded)
        tree = grow_oblique(
            *(Float32Rows.of(problem.X), problem.y, problem.n_classes, problem.weights),
            *(order, settings),
            None if self.splitter is None else self._build_splitter(problem),
        )
        return Subtree.of(tree, problem)

    def _build_splitter(self, problem: Problem) -> Any:
        numbers = iter(range(problem.n_rows))

        def fit_plane(here: IntArray, signs: FloatArray, weights: FloatArray) -> Hyperplane:
            sides = (signs > 0).astype(np.intp)
            seed = self.seed.child(next(numbers))
            model = self.splitter.fit(
                Problem(*(problem.X[here], sides, 2, seed, weights), total_rows=problem.total_rows)
            )
            model = require_hyperplanes(model, "oblique_tree")
            return Hyperplane(model.weights[:, 0], float(model.biases[0]), 0)

        return fit_plane


@component
class TreeOptimizer(LocalLearner):
    """Trains all hyperplanes of a tree again by alternating optimization."""

    name = "oblique_rounds"
    releases_gil = True

    tree: Any = setting(help="the PlaneTree to start from")
    rounds: Any = setting(help="maximum number of rounds")
    regularization: Any = setting(help="lambda")
    seed: Any = setting(help="Seed of the order of the rows")
    taught: Any = setting(None, help="labels (n,) to learn instead of the rows' own")

    def fit(self, problem: Problem) -> LocalModel:
        problem = _relabel(problem, self.taught)
        tree = optimize_oblique(
            *(self.tree, Float32Rows.of(problem.X), problem.y, problem.n_classes, problem.weights),
            *(self.seed.generator().permutation(problem.n_rows), self.rounds),
            DualSettings(self.regularization),
        )
        return Subtree.of(tree.simplify(weigh_leaves(tree, problem)), problem)


def _relabel(problem: Problem, labels: IntArray | None) -> Problem:
    if labels is None:
        return problem
    present, y = np.unique(labels, return_inverse=True)
    return attrs.evolve(problem, y=y, n_classes=len(present))


def take_tree(member: Member) -> PlaneTree:
    """Return the tree that a member has grown or settled."""
    assert isinstance(member.model, Subtree)
    return member.model.tree


def weigh_leaves(tree: PlaneTree, problem: Problem) -> FloatArray:
    """Return the weight of each class at each leaf."""
    return leaf_masses(tree, problem.X, problem.y, problem.weights, problem.n_classes)
