"""A binary tree with axis-parallel splits whose leaves are the parts."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import attrs
import numpy as np

from dcsvm import Decomposer, Part, Problem, Router, Routing, SettingError, component, setting
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step, axes
from dcsvm.toolbox import (
    Branches,
    Level,
    LocalScaling,
    ModelFact,
    Scaling,
    Stages,
    hold_out,
    parts_by,
)
from dcsvm.toolbox import prune as prune_branches
from dcsvm_plugins.decomposers.tree.axis_tree import (
    AxisTree,
    GrowingTree,
    SplitSettings,
    grow_by_histograms,
)
from dcsvm_plugins.decomposers.tree.box_neighbors import BoxNeighbors
from dcsvm_plugins.decomposers.tree.exact_growth import grow_exactly, sum_up
from dcsvm_plugins.decomposers.tree.region_bound import tree_facts

#: For `relevance`, splits go on below the leaves down to FEW_ROWS, and a feature that none of them
#: uses gets the share UNSEEN of the most relevant one.
FEW_ROWS, UNSEEN = 10, 0.02
#: Rows around a leaf are looked for in the largest node above it of up to NEARBY_ROWS rows, or of
#: NEARBY_LEAVES leaves if that is more: in all rows, the search would take quadratic time.
NEARBY_ROWS, NEARBY_LEAVES = 2**19, 8
# The place below the problem's seed whose random numbers choose the held-out rows.
HOLDING = 2**20


@attrs.frozen(eq=False)
class TreeRouter(Router):
    """A tree with axis-parallel splits; a row asks the member of its leaf."""

    tree: AxisTree
    member: IntArray = attrs.field(
        metadata=axes("nodes", dtype=np.integer, at_least=-1, below="members")
    )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes | self.tree.check_stored(**sizes))
        if (self.member[self.tree.left < 0] < 0).any():
            raise ValueError("TreeRouter.member must name a member for every leaf")
        return sizes

    def route(self, X: Matrix) -> Routing:
        return Routing(np.arange(X.shape[0]), self.member[self.tree.leaves(X)])

    def add_to_plan(self, plan: Plan, n_features: int) -> Step:
        return self.tree.add_to_plan(plan, self.member, n_features)

    def trace(self, x: Matrix) -> list[str]:
        sentences = []
        for node, value in self.tree.path(x):
            feature, limit = self.tree.feature[node], self.tree.threshold[node]
            way = f"{value:g} {'<=' if value <= limit else '>'} {limit:g}"
            sentences.append(f"feature {feature}: {way}")
        return [*sentences, f"leaf {self.member[self.tree.leaves(x)[0]]}"]

    def overview(self, scene: Scene) -> str:
        questions = [""] * len(self.tree.left)
        for node in np.flatnonzero(self.tree.left >= 0):
            threshold = float(self.tree.threshold[node])
            questions[node] = scene.is_at_most(int(self.tree.feature[node]), threshold)
        return draw_division(scene, self.tree.children(), questions, self.tree.leaves)


@component
class Tree(Decomposer):
    """A decision tree whose leaves are the parts; no leaf holds more rows than the ceiling.

    A row asks only the leaf it falls into, and pure leaves need no model, so training costs about
    rows times ceiling instead of rows squared. Routing costs a few comparisons.

    A node without a useful split is halved at the feature that halves it best. Identical rows stay
    together whatever the ceiling; the ledger marks such leaves.

    Hard boundaries hurt kernel models, which know nothing of the rows on the other side. With
    `border=1.0` a leaf also trains on the rows closest to its box, as many as it has; it still
    predicts for its own region only. Above half a million rows, they come from the same large
    branch of the tree.

    With `relevance=1.0` the tree goes on below its leaves, and in each leaf features are scaled by
    their gain in these splits. This changes distances, as `local_scaling` does: tune gamma again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = build("decomposer", "tree", ceiling=60)
    >>> clf = DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> max(record.rows for record in clf.ledger_) <= 60
    True

    References
    ----------
    Chang, Guo, Lin, Lu: Tree decomposition for large-scale SVM problems (2010).
    """

    name = "tree"
    yields = frozenset({"regions"})
    sibling = "tree"
    stored_types = (TreeRouter, AxisTree)

    ceiling: int = setting(1500, at_least=1, help="maximum number of rows in a leaf")
    criterion: Literal["entropy", "gini"] = setting(
        "entropy", help="impurity that splits minimize"
    )
    splitter: Literal["best", "random"] = setting(
        "best", help="use the best threshold of a feature, or a random one"
    )
    growth: Literal["histogram", "exact"] = setting(
        "histogram",
        help="search thresholds by histograms of binned features, or all of them by scikit-learn",
    )
    max_features: float = setting(
        1.0, above=0, at_most=1, help="share of the features tried at each split"
    )
    local_scaling: LocalScaling = setting(
        "none",
        help="rescale the features by the rows of each leaf; tune gamma again",
    )
    border: float = setting(
        0.0,
        at_least=0,
        help="closest rows from outside that a leaf also trains on, as a share of its size",
    )
    relevance: float = setting(
        0.0,
        at_least=0,
        help="scale the features of a leaf by their share of the gain in splits below it, to this "
        "power; tune gamma again",
    )
    prune: float = setting(
        0.0,
        at_least=0,
        below=1,
        help="share of the rows held out to prune the tree, as a tree of majority leaves; the "
        "leaves train on these rows too",
    )
    standard_errors: float = setting(
        0.0,
        at_least=0,
        help="choose the smallest tree within this many standard errors of the best",
    )

    def check(self) -> None:
        if self.prune and self.relevance:
            raise SettingError(
                "tree: relevance needs the splits below the leaves, which prune removes; set one "
                "of the two to 0"
            )

    def memory(self, n_rows: int, n_features: int) -> float:
        """All rows, twice, for exact growth or pruning; none for histograms."""
        return 16.0 * n_rows * n_features * (self.growth == "exact" or self.prune > 0)

    def facts(self, classifier: Any, X: Any, y: Any) -> Iterable[ModelFact]:
        return tree_facts(classifier, X, y)

    def divide(self, problem: Problem) -> Stages:
        level = next(self.levels(problem))
        yield list(level.parts)
        return level.router

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        grown = self._grow_and_prune(problem) if self.prune else self._grow(problem)
        ceiling, n_parts = self.ceiling, 0
        while n_parts != 1:
            level = self._build_level(problem, grown, ceiling)
            yield level
            ceiling, n_parts = ceiling * factor, len(level.parts)

    def _grow(self, problem: Problem) -> GrowingTree:
        smallest = min(self.ceiling, FEW_ROWS) if self.relevance else self.ceiling
        settings = SplitSettings(
            self.criterion, self.splitter, self.max_features, self.ceiling, smallest
        )
        grow = grow_by_histograms if self.growth == "histogram" else grow_exactly
        return grow(problem, settings)

    def _grow_and_prune(self, problem: Problem) -> GrowingTree:
        """Grow the tree on some of the rows, and prune it by the others."""
        held = hold_out(problem.y, self.prune, problem.seed.child(HOLDING).generator())
        learned = np.setdiff1d(np.arange(problem.n_rows), held)
        grown = self._grow(problem.subset(learned))
        masses = []
        for rows in (learned, held):
            weights = 1.0 if problem.weights is None else problem.weights[rows]
            at = np.zeros((len(grown.left), problem.n_classes))
            np.add.at(at, (grown.tree().leaves(problem.X[rows]), problem.y[rows]), weights)
            masses.append(at)
        branches = Branches.of(
            np.column_stack([grown.left, grown.right]), masses[0], masses[1], len(held)
        )
        grown = grown.collapse(prune_branches(branches, self.standard_errors))
        # Levels go by the number of all rows.
        counts = np.bincount(grown.tree().leaves(problem.X), minlength=len(grown.left))
        return attrs.evolve(grown, rows=sum_up(counts, grown.left, grown.right))

    def _build_level(self, problem: Problem, whole: GrowingTree, ceiling: int) -> Level:
        grown = whole.cut(ceiling)
        tree = grown.tree()
        is_leaf = tree.left < 0
        member = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        region = member[tree.leaves(problem.X)]
        view = None if self.local_scaling == "none" else Scaling(self.local_scaling)
        parts = parts_by(region, member.max() + 1, view=view)
        if self.relevance:
            gains = whole.sum_gains_below(ceiling, problem.n_features)
            parts = [
                attrs.evolve(part, view=Scaling(self.local_scaling, weights=weights))
                for part, weights in zip(parts, _scale_gains(gains) ** self.relevance, strict=True)
            ]
        for number in member[is_leaf & grown.alike]:
            parts[number] = attrs.evolve(parts[number], about={"rows": "alike"})
        if self.border:
            parts = self._add_borders(problem, grown, parts)
        return Level({"ceiling": ceiling}, parts, TreeRouter(tree, member))

    def _add_borders(self, problem: Problem, grown: GrowingTree, parts: list[Part]) -> list[Part]:
        """Add the closest outside rows to each leaf that is not pure, group by group."""
        low, high = grown.tree().boxes(problem.n_features)
        found = list(parts)
        for leaves in grown.group_leaves(max(NEARBY_ROWS, NEARBY_LEAVES * self.ceiling)):
            inside = [parts[leaf].rows for leaf in leaves]
            mixed = np.array([np.ptp(problem.y[rows]) > 0 for rows in inside])
            wanted = np.round(self.border * np.array([len(rows) for rows in inside]))
            borders = BoxNeighbors(problem.X, inside, low[leaves], high[leaves])
            around = borders.nearest(np.where(mixed, wanted, 0).astype(np.intp))
            for leaf, near in zip(leaves.tolist(), around, strict=True):
                rows = np.concatenate([parts[leaf].rows, near])
                found[leaf] = attrs.evolve(parts[leaf], rows=rows)
        return found


def _scale_gains(gains: FloatArray) -> FloatArray:
    """Scale the gains of each leaf by its largest; ones if nothing was gained."""
    largest = gains.max(axis=1, keepdims=True)
    return np.where(largest > 0, UNSEEN + (1 - UNSEEN) * gains / np.maximum(largest, 1e-300), 1.0)
