"""Growth of trees by scikit-learn's search of all thresholds: the reference for histograms."""

from typing import Any

import numpy as np
from scipy import sparse

from dcsvm import Problem
from dcsvm.numeric import BoolArray, FloatArray, IntArray, merge_duplicates
from dcsvm_plugins.decomposers.tree.axis_tree import (
    NO_GAIN,
    GrowingTree,
    SplitSettings,
    round_thresholds,
)


def grow_exactly(problem: Problem, settings: SplitSettings) -> GrowingTree:
    """Grow with scikit-learn, and halve impure leaves that are above the ceiling."""
    grown = GrowingTree()
    waiting: list[tuple[IntArray, int]] = [(np.arange(problem.n_rows), -1)]
    while waiting:
        rows, stem = waiting.pop()
        here = problem if stem < 0 else problem.subset(rows).with_child_seed(len(grown.left))
        fitted, counts = _fit_tree(here, settings)
        tree = fitted.tree_
        first = grown.graft(
            stem,
            left=tree.children_left,
            right=tree.children_right,
            feature=np.maximum(tree.feature, 0),
            threshold=round_thresholds(tree.threshold),
            rows=counts,
            gain=_compute_gains(tree),
        )
        for leaf in np.flatnonzero(_is_too_large(tree, counts, settings.ceiling)).tolist():
            mine = np.flatnonzero(fitted.apply(here.X) == leaf)
            sides = grown.halve(first + leaf, here.X[mine])
            waiting += [(rows[mine[side]], first + leaf) for side in reversed(sides)]
    return grown.cut(settings.smallest)


def _fit_tree(here: Problem, settings: SplitSettings) -> tuple[Any, IntArray]:
    """Fit a scikit-learn tree; return it with the number of rows of each node."""
    from sklearn.tree import DecisionTreeClassifier  # slow, and needed here only

    few, fewest = merge_duplicates(here.X, here.y, here.weights), settings.smallest + 1
    source, fewest = (here, fewest) if few is None else (few, few.at_least(fewest))
    # scikit-learn reads one feature at a time, so contiguous features are faster.
    X = here.X if sparse.issparse(here.X) else np.asarray(source.X, np.float32, order="F")
    fitted = DecisionTreeClassifier(
        criterion=settings.criterion,
        splitter=settings.splitter,
        max_features=settings.max_features,
        min_samples_split=max(2, fewest),
        min_impurity_decrease=NO_GAIN,
        random_state=here.seed.integer(),
    ).fit(X, source.y, sample_weight=source.weights)
    grown = fitted.tree_
    if few is None:
        return fitted, grown.n_node_samples
    counts = np.bincount(grown.apply(X), few.counts, grown.node_count).astype(np.intp)
    return fitted, sum_up(counts, grown.children_left, grown.children_right)


def _compute_gains(tree: Any) -> FloatArray:
    """Return how much each split of a scikit-learn tree lowers the total impurity."""
    impurity = tree.impurity * tree.weighted_n_node_samples
    below = impurity[tree.children_left] + impurity[tree.children_right]
    return np.asarray(np.where(tree.children_left < 0, 0.0, impurity - below))


def sum_up(counts: IntArray, left: IntArray, right: IntArray) -> IntArray:
    """Fill in the counts of inner nodes from those of the leaves."""
    for node in range(len(counts) - 1, -1, -1):
        if left[node] >= 0:
            counts[node] = counts[left[node]] + counts[right[node]]
    return counts


def _is_too_large(tree: Any, counts: IntArray, ceiling: int) -> BoolArray:
    """Return which nodes are impure leaves above the ceiling."""
    mixed = np.count_nonzero(tree.value[:, 0, :], axis=1) > 1
    return np.asarray((tree.children_left < 0) & (counts > ceiling) & mixed)
