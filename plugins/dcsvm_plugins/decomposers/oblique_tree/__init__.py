"""A tree of hyperplanes whose leaves are the parts."""

from collections.abc import Generator, Iterable
from math import floor, log10
from typing import Any, Literal

import attrs
import numpy as np

from dcsvm import (
    Decomposer,
    DivideAndConquerClassifier,
    Division,
    Member,
    Part,
    Problem,
    component,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray, PegasosSettings, PlaneTree
from dcsvm.toolbox import (
    Branches,
    LocalScaling,
    ModelFact,
    NormalizedWeights,
    PlaneRouter,
    Stages,
    all_nodes,
    hold_out,
    local_view,
    parts_by,
    prune,
)
from dcsvm_plugins.decomposers.oblique_tree.leaf_complexity import plane_facts
from dcsvm_plugins.decomposers.oblique_tree.oblique_growth import GrowthSettings
from dcsvm_plugins.decomposers.oblique_tree.subtree_learners import (
    Subtree,
    SubtreeGrower,
    TreeOptimizer,
    take_tree,
)

DEEPEST = 2**31 - 1
#: Rows that are copied at a time while they are routed.
BLOCK_ROWS = 8192
# The places below the problem's seed, one stream of random numbers each.
HOLDING, GROWING, SETTLING = range(3)


@component
class ObliqueTree(Decomposer):
    """A tree with a linear SVM at each node; its leaves are the parts.

    As set by default, this is the H-LSVM as published: at a node the classes (with more than two,
    the two groups of classes that are farthest apart) are separated by Pegasos. Each side's
    weights add up to 1/2 and batches average over their rows once more, so that `regularization`
    acts like `regularization` x rows where weights have mean one: it is strong at the root and
    fades towards the leaves. Of row weights only the ratios count. A
    node becomes a leaf if it is pure, if it holds at most the share `smallest` of the rows, or if
    its split gains nothing. Choose `regularization` and `prune` by cross-validation, and scale the
    features: the bias moves a hundredth as far as the normal.

    What goes beyond the paper is chosen by name. `weights="mean_one"` regularizes all nodes alike.
    `threshold="impurity"` moves the hyperplane to where it lowers the entropy most. With `rounds`,
    all hyperplanes are trained again from the leaves up, each as a linear SVM on the rows that
    only one of its sides classifies correctly: small trees then make far fewer errors. Start from
    a tree that still has errors, by `deepest` or `prune`. If labels are noisy, use a kernel SVM as
    the `teacher`: the tree then learns its predictions, and predicts at a small part of its cost.
    The recipe `optimized_tree` sets all of them.

    Training takes one run of Pegasos per node, of up to about 1 / (regularization x tolerance)
    row visits; prediction one dot product per level. Nodes with more rows than `grain` are trained
    in parallel; below that, whole subtrees are. With the `majority` learner in the leaves this is
    the H-LSVM, and `merge="majority"` uses one member for all leaves with the same class. Any
    other learner can be used in the leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = build("decomposer", "oblique_tree", prune=0.2)
    >>> clf = DivideAndConquerClassifier(tree, "majority", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    >>> int(clf.cost(X).hyperplanes.max()) <= 5
    True

    References
    ----------
    Rodriguez-Lujan, Santa Cruz, Huerta: Hierarchical linear support vector machine (2012).
    Carreira-Perpinan, Tavallali: Alternating optimization of decision trees, with application to
    learning sparse oblique trees (2018).
    """

    name = "oblique_tree"
    yields = frozenset({"regions"})
    rows_held = 0.0
    separates_classes = True
    # The settings are part of the ledger.
    stored_types = (PlaneRouter, PlaneTree, Subtree, GrowthSettings, PegasosSettings)

    smallest: float | None = setting(
        None,
        at_least=0,
        at_most=1,
        help="delta, a node with at most this share of the rows is a leaf; none for 1 / N rounded "
        "up to a power of ten",
    )
    deepest: int | None = setting(
        None, at_least=1, help="maximum depth of the tree; none for no limit"
    )
    threshold: Literal["impurity", "machine"] = setting(
        "machine",
        help="keep the threshold of the SVM, or move it to where it lowers the entropy most",
    )
    prune: float = setting(
        0.0, at_least=0, below=1, help="rho, share of the rows held out to prune the tree"
    )
    standard_errors: float = setting(
        0.0,
        at_least=0,
        help="choose the smallest tree within this many standard errors of the best",
    )
    relearn: bool = setting(
        False, help="use the rows held out for pruning in the rounds and the leaves"
    )
    rounds: int = setting(
        0,
        at_least=0,
        help="maximum number of rounds that train all hyperplanes again",
    )
    merge: Literal["none", "pure", "majority"] = setting(
        "pure",
        help="merge no leaves, pure leaves of the same class, or all leaves with the same most "
        "frequent class",
    )
    teacher: Any = setting(
        None,
        kind="learner",
        help="a learner whose predictions the tree learns instead of the labels; none for labels",
    )
    splitter: Any = setting(
        None, kind="learner", help="learner of the hyperplanes; none for Pegasos as set here"
    )
    regularization: float = setting(
        1e-4, at_least=1e-15, help="lambda at every node, in the rounds too"
    )
    weights: Literal["sum_one", "mean_one"] = setting(
        "sum_one",
        help="weights of a node's rows: 1 / (2 N+) and 1 / (2 N-), in sum one; or in the mean",
    )
    batches: Literal["random", "in_turn"] = setting(
        "random", help="rows of a step of Pegasos: drawn anew, or in turn"
    )
    batch: int = setting(50_000, at_least=1, help="k, rows per step; at most those of the node")
    iterations: int = setting(
        100_000, at_least=1, help="T, maximum number of steps of Pegasos; 10^7 in the paper"
    )
    tolerance: float = setting(
        1e-4, at_least=0, help="stop Pegasos when a step moves the hyperplane's normal by less"
    )
    passes: float | None = setting(
        None, above=0, help="maximum number of passes over the rows of a node; none for no limit"
    )
    bias_rate: float = setting(0.01, at_least=0, help="tau, scale of the steps of the bias")
    average: bool = setting(
        False, help="use the mean of the later half of the steps, not the last one"
    )
    grain: int = setting(50_000, at_least=1, help="up to this many rows a subtree is one job")
    local_scaling: LocalScaling = setting(
        "none",
        help="rescale the features by the rows of each leaf; tune gamma again",
    )

    def facts(self, classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterable[ModelFact]:
        return plane_facts(classifier, X, y)

    def divide(self, problem: Problem) -> Stages:
        everyone = np.arange(problem.n_rows)
        generator = problem.seed.child(HOLDING).generator()
        held = hold_out(problem.y, self.prune, generator)
        learned = np.setdiff1d(everyone, held)
        taught = None
        if self.teacher is not None:
            (master,) = yield [
                Part(learned, learner=NormalizedWeights(self.teacher), about={"piece": "teacher"})
            ]
            taught = np.concatenate(
                [master.model.labels(problem.X[block]) for block in _cut(everyone)]
            )
        tree = yield from self._grow(problem, learned, taught)
        if len(held):
            tree = self._prune(problem, tree, learned, held)
        rows = everyone if self.relearn else learned
        if self.rounds and tree.n_leaves > 1:
            seed = problem.seed.child(SETTLING)
            labels = None if taught is None else taught[rows]
            rounds = TreeOptimizer(tree, self.rounds, self.regularization, seed, labels)
            (member,) = yield [Part(rows, learner=rounds, about={"piece": "rounds"})]
            tree = take_tree(member)
        parts, router = self._build_parts(problem, tree, rows)
        yield parts
        return Division(router, held_back=None if self.relearn else held)

    def _grow(
        self, problem: Problem, rows: IntArray, taught: IntArray | None
    ) -> Generator[list[Part], list[Member], PlaneTree]:
        """Grow the tree in stages: large nodes by one split, small ones as whole subtrees."""
        y = problem.y if taught is None else taught
        fewest = self._find_leaf_size(len(rows))
        tree, waiting, depth = PlaneTree.leaf(problem.n_features), {0: rows}, 0
        while True:
            growing = {
                leaf: here
                for leaf, here in waiting.items()
                if len(here) > fewest and _is_mixed(problem.y[here]) and _is_mixed(y[here])
            }
            if not growing or depth >= (self.deepest or DEEPEST):
                return tree
            members = yield [
                self._build_part(
                    *(here, fewest, depth, problem.seed.child(GROWING, depth, place)),
                    None if taught is None else taught[here],
                )
                for place, here in enumerate(growing.values())
            ]
            stumps = {leaf: take_tree(each) for leaf, each in zip(growing, members, strict=True)}
            tree, origin = tree.graft(stumps)
            waiting = {}
            for leaf, here in growing.items():
                if len(here) > self.grain and stumps[leaf].n_leaves > 1:
                    side = _route(stumps[leaf], problem, here)
                    for number, new in enumerate(np.flatnonzero(origin == leaf)):
                        waiting[int(new)] = here[side == number]
            depth += 1

    def _build_part(
        self, rows: IntArray, fewest: int, depth: int, seed: Any, taught: IntArray | None
    ) -> Part:
        left = (self.deepest or DEEPEST) - depth
        pegasos = PegasosSettings(
            *(self.regularization, self.batch, self.iterations, self.tolerance, self.bias_rate),
            average=self.average,
            random=int(self.batches == "random"),
        )
        settings = GrowthSettings(
            *(pegasos, self.passes or 0.0, fewest, 1 if len(rows) > self.grain else left),
            *(self.threshold == "impurity", self.weights == "sum_one"),
        )
        about = {"piece": "split" if len(rows) > self.grain else "subtree"}
        return Part(
            rows, learner=SubtreeGrower(settings, self.splitter, seed, taught), about=about
        )

    def _find_leaf_size(self, n_rows: int) -> int:
        share = self.smallest
        if share is None:
            share = 10.0 ** -max(1, floor(log10(n_rows)))
        # A rounding error must not cost a row: 1e-3 x 1000 is 1.
        return int(share * n_rows * (1 + 1e-12))

    def _prune(
        self, problem: Problem, tree: PlaneTree, learned: IntArray, held: IntArray
    ) -> PlaneTree:
        above = np.zeros((len(tree.thresholds), problem.n_classes))
        masses_learned, masses_held = (
            np.concatenate([above, _weigh(tree, problem, rows, _route(tree, problem, rows))])
            for rows in (learned, held)
        )
        branches = Branches.of(all_nodes(tree), masses_learned, masses_held, len(held))
        return tree.cut(prune(branches, self.standard_errors).tolist())[0]

    def _build_parts(
        self, problem: Problem, tree: PlaneTree, rows: IntArray
    ) -> tuple[list[Part], PlaneRouter]:
        leaf = _route(tree, problem, rows)
        masses = _weigh(tree, problem, rows, leaf)
        answer, own = masses.argmax(axis=1), problem.n_classes + np.arange(tree.n_leaves)
        if self.merge == "majority":
            own = answer
        elif self.merge == "pure":
            own = np.where(np.count_nonzero(masses, axis=1) == 1, answer, own)
        used, member = np.unique(own, return_inverse=True)
        view = local_view(self.local_scaling)
        parts = parts_by(member[leaf], len(used), view=view)
        parts = [attrs.evolve(part, rows=rows[part.rows]) for part in parts]
        return parts, PlaneRouter(tree, member)


def _cut(rows: IntArray) -> list[IntArray]:
    """Blocks of rows, so that rows on disk are not held all at a time."""
    return np.array_split(rows, 1 + len(rows) // BLOCK_ROWS)


def _route(tree: PlaneTree, problem: Problem, rows: IntArray) -> IntArray:
    """The leaf of each of these rows."""
    return np.concatenate([tree.route(problem.X[block])[0] for block in _cut(rows)])


def _weigh(tree: PlaneTree, problem: Problem, rows: IntArray, leaf: IntArray) -> FloatArray:
    """The weight of each class at each leaf, of rows that lie there."""
    masses = np.zeros((tree.n_leaves, problem.n_classes))
    weights = 1.0 if problem.weights is None else problem.weights[rows]
    np.add.at(masses, (leaf, problem.y[rows]), weights)
    return masses


def _is_mixed(y: IntArray) -> bool:
    return bool((y != y[0]).any())
