"""The margins of a decision graph, and what theorems 1 and 2 of the DAGSVM paper make of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import e, log, sqrt
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.base.member import Member
from dcsvm.drive.committee.committee import Committee
from dcsvm.inspection.bounds.machines import (
    Bound,
    divided,
    enclosing_radius,
    kernel_in,
    norm_squared,
    training_rows,
)
from dcsvm.numeric import IntArray, Matrix


@attrs.frozen
class Node:
    """One node of a decision graph: its two classes, its margin, and the rows it gets wrong.

    `margin` is the smallest distance of a training row of the two classes from the node's
    hyperplane in feature space; None where the node is no hyperplane, or errs.
    """

    first: Any
    second: Any
    margin: float | None
    errors: int


@attrs.frozen
class GraphBounds:
    """What theorems 1 and 2 of the DAGSVM paper say of a decision graph.

    Parameters
    ----------
    nodes : tuple of Node
    radius : Bound
        R: of a ball in feature space that holds the training rows, at most 0.1% larger than the
        smallest one. The theorems want one that holds every row there could be.
    margins : Bound
        D' of theorem 1: the sum over all nodes of 1 / margin^2.
    graph : Bound
        Theorem 1, on the share of rows that the graph gets wrong.
    classes : mapping from class label to Bound
        Theorem 2, on the share of rows that are of the class and got wrong.
    confidence : float
        The share of samples for which a bound holds, 1 - delta.
    """

    nodes: tuple[Node, ...]
    radius: Bound
    margins: Bound
    graph: Bound
    classes: dict[Any, Bound]
    confidence: float


def graph_bounds(classifier: Any, X: Any, y: Any, confidence: float = 0.95) -> GraphBounds:
    """Theorems 1 and 2 of the DAGSVM paper for a classifier over class pairs.

    Parameters
    ----------
    classifier : fitted DivideAndConquerClassifier, a search for one, or a pipeline that ends so
        Whose members know one pair of classes each, with or without a preparation of the rows.
    X, y : (n, d) and (n,)
        The rows that it learned from, those of weight zero left out; others are refused where
        their number differs.
    confidence : float

    Notes
    -----
    Logarithms are natural: the paper names no base. The theorems hold where every node separates
    its two classes; elsewhere there is a reason instead of a number.

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """
    classifier, X, labels = training_rows(classifier, X, y, "graph_bounds")
    committee, X = divided(classifier.model_, X)
    pairs = [_pair(member, number) for number, member in enumerate(committee.members)]
    nodes = tuple(
        _node(member, pair, X, labels, classifier.classes_.tolist())
        for member, pair in zip(committee.members, pairs, strict=True)
    )
    radius = _common_radius(committee, X)
    n_classes, m = len(classifier.classes_), len(labels)

    def bound(chosen: Sequence[Node], exponent: int) -> Bound:
        total = _total(chosen)
        if radius.value is None or total.value is None:
            return radius if radius.value is None else total
        growth = total.value * log(4 * e * m) * log(4 * m)
        chances = log(2) + exponent * log(2 * m) - log(1 - confidence)
        return Bound(130 * radius.value**2 / m * (growth + chances))

    return GraphBounds(
        nodes,
        radius,
        _total(nodes),
        bound(nodes, len(nodes)),
        {
            label: bound(
                [n for n, pair in zip(nodes, pairs, strict=True) if c in pair], n_classes - 1
            )
            for c, label in enumerate(classifier.classes_.tolist())
        },
        confidence,
    )


def _pair(member: Member, number: int) -> tuple[int, int]:
    """The class on the positive side of a member, and that on the negative side."""
    plus, minus = np.flatnonzero(member.code[0] > 0), np.flatnonzero(member.code[0] < 0)
    if member.code.shape[0] != 1 or len(plus) != 1 or len(minus) != 1:
        raise DataError(
            f"the theorems speak of class pairs, but member {number} does not know one pair only"
        )
    return int(plus[0]), int(minus[0])


def _node(
    member: Member, pair: tuple[int, int], X: Any, labels: IntArray, names: list[Any]
) -> Node:
    rows = np.flatnonzero(np.isin(labels, pair))
    values = member.answer(X[rows])[0][:, 0]
    signed = np.where(labels[rows] == pair[0], values, -values)
    errors = int(np.count_nonzero(signed <= 0))
    squared = norm_squared(member.model)
    margin = None
    if squared and not errors and len(rows):
        margin = float(signed.min()) / sqrt(squared)
    return Node(names[pair[0]], names[pair[1]], margin, errors)


def _total(nodes: Sequence[Node]) -> Bound:
    """The sum of 1 / margin^2, or which node has no margin."""
    errors = sum(node.errors for node in nodes)
    if errors:
        wrong = [node for node in nodes if node.errors]
        return Bound(
            None,
            f"{len(wrong)} of {len(nodes)} nodes do not separate their classes "
            f"({errors} training rows on the wrong side, the first at {wrong[0].first!r} against "
            f"{wrong[0].second!r}), and the theorem wants all separated",
        )
    for node in nodes:
        if node.margin is None:
            return Bound(
                None, f"the node of {node.first!r} against {node.second!r} is no hyperplane"
            )
    return Bound(float(sum(1.0 / node.margin**2 for node in nodes if node.margin)))


def _common_radius(committee: Committee, X: Matrix) -> Bound:
    spaces = {(kernel_in(member.model), id(member.view)) for member in committee.members}
    if len(spaces) > 1:
        return Bound(
            None,
            "the nodes live in different feature spaces (kernels or features differ), and the "
            "theorem speaks of one",
        )
    ((kernel, _),) = spaces
    if kernel is None:
        return Bound(None, "the nodes are no hyperplanes in a feature space")
    view = committee.members[0].view
    return Bound(enclosing_radius(kernel, X if view is None else view.apply(X)))
