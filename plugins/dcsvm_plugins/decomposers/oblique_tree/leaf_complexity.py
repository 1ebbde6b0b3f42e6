"""Measures of the H-LSVM paper: effective leaves, complexity, relative error and cost."""

from collections.abc import Iterator
from math import log
from typing import Any

import attrs
import numpy as np

from dcsvm import DivideAndConquerClassifier
from dcsvm.toolbox import CompositionError, ModelFact, check_training_rows, find_hyperplane_tree

__all__ = ["PlaneTerms", "plane_terms", "relative_complexity", "relative_error"]


@attrs.frozen
class PlaneTerms:
    """The terms of the H-LSVM paper's bound (11), for a tree of hyperplanes.

    `leaves` are L, and `depth` is D, the most hyperplanes on the way to a leaf.
    `effective_leaves`, L'_eff, are those that rows are spread over: L less L times the squared
    distance between the shares of the rightly answered rows at the leaves and equal shares.
    `complexity`, T, is what the difference between the errors of new and of learned rows grows
    with.
    """

    leaves: int
    effective_leaves: float
    depth: int
    complexity: float
    training_error: float


def plane_terms(classifier: Any, X: Any, y: Any) -> PlaneTerms:
    """L, L'_eff, D and T of the H-LSVM paper's lemma 3.

    The classifier, or the last step of a search or pipeline, has a tree of hyperplanes and any
    learner in its leaves; d counts the features that the tree sees. X (n, d) and y (n,) are the
    training rows and labels, without rows of weight zero.

    References
    ----------
    Rodriguez-Lujan, Santa Cruz, Huerta: Hierarchical linear support vector machine (2012).
    """
    classifier, X, labels = check_training_rows(classifier, X, y, "plane_terms")
    found = find_hyperplane_tree(classifier.model_.committee)
    if found is None:
        raise CompositionError("plane_terms: the classifier is not a tree of hyperplanes")
    tree = found[0]
    right = classifier.model_.labels(X) == labels
    n, d = X.shape
    hits = np.bincount(tree.route(X)[0][right], minlength=tree.n_leaves)
    shares = hits / max(int(hits.sum()), 1)
    effective = tree.n_leaves * (1.0 - float(((shares - 1.0 / tree.n_leaves) ** 2).sum()))
    # log D is nothing for one hyperplane and less for none; the bound speaks of deeper trees.
    product = effective * (d + 1) * log(n) ** 2 * log(max(tree.depth, 1)) / n
    return PlaneTerms(
        tree.n_leaves, effective, tree.depth, product ** (1 / 3), float(1.0 - right.mean())
    )


def plane_facts(classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterator[ModelFact]:
    """The terms of the bound for a classifier that routes by a tree of hyperplanes."""
    if find_hyperplane_tree(classifier.model_.committee) is None:
        return
    terms = plane_terms(classifier, X, y)
    yield ModelFact("L", terms.leaves, "leaves of the tree of hyperplanes")
    yield ModelFact("L'_eff", terms.effective_leaves, "leaves that the rows are spread over")
    yield ModelFact("D", terms.depth, "depth of the tree")
    yield ModelFact("T", terms.complexity, "complexity that the generalization gap grows with")
    yield ModelFact("training error", terms.training_error, "share of the training rows")


def relative_error(error: float, linear: float, kernel: float) -> float:
    """RE (12): 0 for as many errors as a linear SVM makes, 1 for as few as a kernel SVM.

    Examples
    --------
    >>> round(relative_error(2.36, linear=7.82, kernel=1.01), 2)
    0.8
    """
    return (linear - error) / (linear - kernel) if linear != kernel else np.nan


def relative_complexity(hyperplanes: float, support_vectors: float) -> float:
    """RC (13): 0 for the cost of one hyperplane, 1 for that of a kernel SVM.

    Examples
    --------
    >>> round(relative_complexity(7.28, support_vectors=3154), 4)
    0.002
    """
    return (hyperplanes - 1) / (support_vectors - 1) if support_vectors != 1 else np.nan
