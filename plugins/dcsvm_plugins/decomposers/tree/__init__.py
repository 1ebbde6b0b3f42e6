"""A binary tree with axis-parallel splits whose leaves are the parts."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import attrs
import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from dcsvm import Decomposer, Part, Problem, Router, Routing, SettingError, component, setting
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric import (
    AxisTree,
    BoolArray,
    BoxNeighbors,
    FloatArray,
    IntArray,
    Matrix,
    merge_duplicates,
    round_thresholds,
)
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
from dcsvm_plugins.decomposers.tree.region_bound import tree_facts

#: A split must gain more than a rounding error; otherwise the node is halved.
NO_GAIN = 1e-12
#: For `relevance`, splits go on below the leaves down to FEW_ROWS, and a feature that none of them
#: uses gets the share UNSEEN of the most relevant one.
FEW_ROWS, UNSEEN = 10, 0.02
# The place below the problem's seed whose random numbers choose the held-out rows.
HOLDING = 2**20


@attrs.frozen(eq=False)
class TreeRouter(Router):
    """A tree with axis-parallel splits; a row asks the member of its leaf."""

    tree: AxisTree
    member: IntArray

    def route(self, X: Matrix) -> Routing:
        return Routing(np.arange(X.shape[0]), self.member[self.tree.leaves(X)])

    def trace(self, x: Matrix) -> list[str]:
        sentences = []
        for node, value in self.tree.path(x):
            feature, threshold = self.tree.feature[node], self.tree.threshold[node]
            sign = "<=" if value <= threshold else ">"
            sentences.append(f"feature {feature}: {value:g} {sign} {threshold:g}")
        return [*sentences, f"leaf {self.member[self.tree.leaves(x)[0]]}"]

    def overview(self, scene: Scene) -> str:
        questions = [""] * len(self.tree.left)
        for node in np.flatnonzero(self.tree.left >= 0):
            feature, threshold = int(self.tree.feature[node]), float(self.tree.threshold[node])
            questions[node] = scene.is_at_most(feature, threshold)
        pairs = np.column_stack([self.tree.left, self.tree.right]).tolist()
        children = [tuple(pair) if pair[0] >= 0 else () for pair in pairs]
        return draw_division(scene, children, questions, self.tree.leaves)


@component
class Tree(Decomposer):
    """A decision tree whose leaves are the parts; no leaf holds more rows than the ceiling.

    A row asks only the leaf it falls into, and pure leaves need no model, so training costs about
    rows times ceiling instead of rows squared. Routing costs a few comparisons.

    A node without a useful split is halved at the feature that halves it best. Identical rows stay
    together whatever the ceiling; the ledger marks such leaves.

    Hard boundaries hurt kernel models, which know nothing of the rows on the other side. With
    `border=1.0` a leaf also trains on the rows closest to its box, as many as it has; it still
    predicts for its own region only.

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
    stored_types = (TreeRouter, AxisTree)

    ceiling: int = setting(1500, at_least=1, help="maximum number of rows in a leaf")
    criterion: Literal["entropy", "gini"] = setting(
        "entropy", help="impurity that splits minimize"
    )
    splitter: Literal["best", "random"] = setting(
        "best", help="use the best threshold of a feature, or a random one"
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

    def _grow(self, problem: Problem) -> "_GrowingTree":
        """Grow with scikit-learn, and halve impure leaves that are above the ceiling."""
        grown = _GrowingTree()
        smallest = min(self.ceiling, FEW_ROWS) if self.relevance else self.ceiling
        waiting: list[tuple[IntArray, int]] = [(np.arange(problem.n_rows), -1)]
        while waiting:
            rows, stem = waiting.pop()
            here = problem if stem < 0 else problem.subset(rows).with_child_seed(len(grown.left))
            fitted, counts = self._fit_tree(here, smallest)
            first = grown.graft(fitted.tree_, counts, stem)
            for leaf in np.flatnonzero(_is_too_large(fitted.tree_, counts, self.ceiling)).tolist():
                mine = np.flatnonzero(fitted.apply(here.X) == leaf)
                sides = grown.halve(first + leaf, here.X[mine])
                waiting += [(rows[mine[side]], first + leaf) for side in reversed(sides)]
        return grown.cut(smallest)

    def _fit_tree(self, here: Problem, smallest: int) -> tuple[DecisionTreeClassifier, IntArray]:
        """Fit a scikit-learn tree; return it with the number of rows of each node."""
        few = merge_duplicates(here.X, here.y, here.weights)
        source, fewest = (here, smallest + 1) if few is None else (few, few.at_least(smallest + 1))
        # scikit-learn reads one feature at a time, so contiguous features are faster.
        X = here.X if sparse.issparse(here.X) else np.asarray(source.X, np.float32, order="F")
        fitted = DecisionTreeClassifier(
            criterion=self.criterion,
            splitter=self.splitter,
            max_features=self.max_features,
            min_samples_split=max(2, fewest),
            min_impurity_decrease=NO_GAIN,
            random_state=here.seed.integer(),
        ).fit(X, source.y, sample_weight=source.weights)
        grown = fitted.tree_
        if few is None:
            return fitted, grown.n_node_samples
        counts = np.bincount(grown.apply(X), few.counts, grown.node_count).astype(np.intp)
        return fitted, _sum_up(counts, grown.children_left, grown.children_right)

    def _grow_and_prune(self, problem: Problem) -> "_GrowingTree":
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
        return attrs.evolve(grown, rows=_sum_up(counts, grown.left, grown.right))

    def _build_level(self, problem: Problem, whole: "_GrowingTree", ceiling: int) -> Level:
        grown = whole.cut(ceiling)
        tree = grown.tree()
        is_leaf = tree.left < 0
        member = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        home = member[tree.leaves(problem.X)]
        view = None if self.local_scaling == "none" else Scaling(self.local_scaling)
        parts = parts_by(home, member.max() + 1, view=view)
        if self.relevance:
            gains = whole.sum_gains_below(ceiling, problem.n_features)
            parts = [
                attrs.evolve(part, view=Scaling(self.local_scaling, weights=weights))
                for part, weights in zip(parts, _scale_gains(gains) ** self.relevance, strict=True)
            ]
        for number in member[is_leaf & grown.alike]:
            parts[number] = attrs.evolve(parts[number], about={"rows": "alike"})
        if self.border:
            parts = self._add_borders(problem, tree, parts)
        return Level({"ceiling": ceiling}, parts, TreeRouter(tree, member))

    def _add_borders(self, problem: Problem, tree: AxisTree, parts: list[Part]) -> list[Part]:
        """Add the closest outside rows to each leaf that is not pure."""
        labels = [problem.y[part.rows] for part in parts]
        mixed = np.array([(each != each[0]).any() for each in labels])
        sizes = np.array([len(part.rows) for part in parts])
        borders = BoxNeighbors(
            problem.X, [part.rows for part in parts], *tree.boxes(problem.n_features)
        )
        wanted = np.minimum(np.round(self.border * sizes), problem.n_rows)
        around = borders.nearest(np.where(mixed, wanted, 0).astype(np.intp))
        return [
            attrs.evolve(part, rows=np.concatenate([part.rows, near]))
            for part, near in zip(parts, around, strict=True)
        ]


@attrs.define(eq=False)
class _GrowingTree:
    """A growing tree as arrays over its nodes, parents before their children."""

    left: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    right: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    feature: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    threshold: FloatArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.float32))
    rows: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    gain: FloatArray = attrs.field(factory=lambda: np.zeros(0))
    alike: BoolArray = attrs.field(factory=lambda: np.zeros(0, dtype=bool))

    def graft(self, tree: Any, counts: IntArray, stem: int) -> int:
        """Add a scikit-learn tree below a node; return the number of its root."""
        first = len(self.left)
        if stem >= 0:
            (self.left if self.left[stem] < 0 else self.right)[stem] = first
        for name, values in (
            ("left", np.where(tree.children_left < 0, -1, tree.children_left + first)),
            ("right", np.where(tree.children_right < 0, -1, tree.children_right + first)),
            ("feature", np.maximum(tree.feature, 0)),
            ("threshold", round_thresholds(tree.threshold)),
            ("rows", counts),
            ("gain", _compute_gains(tree)),
            ("alike", np.zeros(tree.node_count, dtype=bool)),
        ):
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, values.astype(before.dtype)]))
        return first

    def halve(self, node: int, X: Matrix) -> list[IntArray]:
        """Split a leaf with rows X as evenly as possible; return the rows of both sides."""
        found = _find_halving(X)
        if found is None:
            self.alike[node] = True
            return []
        feature, threshold = found
        goes_left = _take_column(X, feature) <= threshold
        self.feature[node], self.threshold[node] = feature, threshold
        return [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]

    def cut(self, ceiling: int) -> "_GrowingTree":
        """Return the tree with all nodes of at most `ceiling` rows as leaves."""
        return self._keep((self.left >= 0) & (self.rows > ceiling))

    def sum_gains_below(self, ceiling: int, n_features: int) -> FloatArray:
        """Sum the gain of each feature in the splits that `cut(ceiling)` removes.

        There is one row for each leaf of the cut tree, in order.
        """
        inner = self.left >= 0
        kept = inner & (self.rows > ceiling)
        leaf, leaves = np.full(len(inner), -1), 0
        for node in range(len(inner)):
            if not kept[node] and leaf[node] < 0:
                leaf[node], leaves = leaves, leaves + 1
            if inner[node] and not kept[node]:
                leaf[self.left[node]] = leaf[self.right[node]] = leaf[node]
        gains = np.zeros((leaves, n_features))
        below = inner & ~kept
        np.add.at(gains, (leaf[below], self.feature[below]), self.gain[below])
        return gains

    def collapse(self, nodes: IntArray) -> "_GrowingTree":
        """Return the tree with these nodes as leaves."""
        inner = self.left >= 0
        inner[nodes] = False
        for node in range(len(inner)):
            # Parents come before their children, so this reaches all nodes below.
            if not inner[node] and self.left[node] >= 0:
                inner[self.left[node]] = inner[self.right[node]] = False
        return self._keep(inner)

    def _keep(self, inner: BoolArray) -> "_GrowingTree":
        kept = np.zeros(len(self.left), dtype=bool)
        kept[0] = kept[self.left[inner]] = kept[self.right[inner]] = True
        number = np.cumsum(kept) - 1
        return _GrowingTree(
            np.where(inner, number[self.left], -1)[kept],
            np.where(inner, number[self.right], -1)[kept],
            self.feature[kept],
            self.threshold[kept],
            self.rows[kept],
            self.gain[kept],
            self.alike[kept],
        )

    def tree(self) -> AxisTree:
        return AxisTree(self.left, self.right, self.feature, self.threshold)


def _compute_gains(tree: Any) -> FloatArray:
    """Return how much each split of a scikit-learn tree lowers the total impurity."""
    impurity = tree.impurity * tree.weighted_n_node_samples
    below = impurity[tree.children_left] + impurity[tree.children_right]
    return np.asarray(np.where(tree.children_left < 0, 0.0, impurity - below))


def _sum_up(counts: IntArray, left: IntArray, right: IntArray) -> IntArray:
    """Fill in the counts of inner nodes from those of the leaves."""
    for node in range(len(counts) - 1, -1, -1):
        if left[node] >= 0:
            counts[node] = counts[left[node]] + counts[right[node]]
    return counts


def _find_halving(X: Matrix) -> tuple[int, FloatArray] | None:
    """Find the most even split as (feature, threshold); None if all rows are identical."""
    best, least = None, np.inf
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    for feature in range(X.shape[1]):
        values, counts = np.unique(_take_column(X, feature), return_counts=True)
        if len(values) > 1:
            difference = np.abs(2 * np.cumsum(counts)[:-1] - X.shape[0])
            at = difference.argmin()
            if difference[at] < least:
                middle = values[at].astype(float) / 2 + values[at + 1].astype(float) / 2
                best, least = (feature, round_thresholds(middle)[()]), difference[at]
    return best


def _take_column(X: Matrix, feature: int) -> FloatArray:
    """Return one feature of all rows in float32, which scikit-learn's trees compare in."""
    values = X[:, [feature]].toarray().ravel() if sparse.issparse(X) else X[:, feature]
    return np.asarray(values, dtype=np.float32)


def _scale_gains(gains: FloatArray) -> FloatArray:
    """Scale the gains of each leaf by its largest; ones if nothing was gained."""
    largest = gains.max(axis=1, keepdims=True)
    return np.where(largest > 0, UNSEEN + (1 - UNSEEN) * gains / np.maximum(largest, 1e-300), 1.0)


def _is_too_large(tree: Any, counts: IntArray, ceiling: int) -> BoolArray:
    """Return which nodes are impure leaves above the ceiling."""
    mixed = np.count_nonzero(tree.value[:, 0, :], axis=1) > 1
    return np.asarray((tree.children_left < 0) & (counts > ceiling) & mixed)
