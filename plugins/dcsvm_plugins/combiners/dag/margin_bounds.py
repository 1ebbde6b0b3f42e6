"""The margins of a decision graph, and theorems 1 and 2 of the DAGSVM paper."""

from collections.abc import Iterator, Sequence
from math import e, log, sqrt
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm import Committee, DataError, DivideAndConquerClassifier, LocalModel, Member
from dcsvm.numeric import FloatArray, IntArray, Kernel, Matrix
from dcsvm.toolbox import (
    Bound,
    Hyperplanes,
    KernelExpansion,
    ModelFact,
    check_training_rows,
    squared_norms,
)

__all__ = ["GraphBounds", "GraphMargin", "enclosing_radius", "graph_bounds"]

#: Relative tolerance of the radius of the smallest ball.
CLOSE = 1e-3
#: The maximum number of steps towards the smallest ball; the result is a ball in any case.
STEPS = 10_000
#: `graph_facts` gives up if the training rows have more kernel values than this.
MOST_VALUES = 100_000_000


@attrs.frozen
class GraphMargin:
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

    `radius`, R, is that of a ball in feature space that holds the training rows, at most 0.1%
    larger than the smallest one; the theorems want one that holds every row there could be.
    `margins`, D' of theorem 1, is the sum over all nodes of 1 / margin^2. `graph` bounds the share
    of rows that the graph gets wrong (theorem 1), `classes` the share of rows that are of a class
    and got wrong (theorem 2). `confidence`, 1 - delta, is the share of samples for which a bound
    holds.
    """

    nodes: tuple[GraphMargin, ...]
    radius: Bound
    margins: Bound
    graph: Bound
    classes: dict[Any, Bound]
    confidence: float


def graph_bounds(classifier: Any, X: Any, y: Any, confidence: float = 0.95) -> GraphBounds:
    """Theorems 1 and 2 of the DAGSVM paper for a classifier over class pairs.

    Each member of the fitted classifier, or of that of a search or pipeline, separates one pair of
    classes. X (n, d) and y (n,) are the training rows and labels, without rows of weight zero.

    Notes
    -----
    Logarithms are natural: the paper names no base. The theorems hold where every node separates
    its two classes; elsewhere there is a reason instead of a number.

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """
    classifier, X, labels = check_training_rows(classifier, X, y, "graph_bounds")
    committee, X = classifier.model_.find_division(X)
    pairs = [_pair(member, number) for number, member in enumerate(committee.members)]
    nodes = tuple(
        _node(member, pair, X, labels, classifier.classes_.tolist())
        for member, pair in zip(committee.members, pairs, strict=True)
    )
    radius = _common_radius(committee, X)
    n_classes, m = len(classifier.classes_), len(labels)

    def bound(chosen: Sequence[GraphMargin], exponent: int) -> Bound:
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


def graph_facts(classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterator[ModelFact]:
    """The radius, the margins and theorem 1 of a graph whose nodes all separate their classes."""
    committee, _ = classifier.model_.find_division(X)
    is_graph = all(np.count_nonzero(member.code) == 2 for member in committee.members)
    if not is_graph or classifier.n_rows_**2 > MOST_VALUES:
        return
    found = graph_bounds(classifier, X, y)
    if found.radius.value is None or found.margins.value is None or found.graph.value is None:
        return
    yield ModelFact("R", found.radius.value, "radius of a ball in feature space around the rows")
    yield ModelFact("D'", found.margins.value, "sum over the nodes of 1 / margin²")
    yield ModelFact("theorem 1", found.graph.value, "bound on the error with 95% confidence")


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
) -> GraphMargin:
    rows = np.flatnonzero(np.isin(labels, pair))
    values = member.answer(X[rows])[0][:, 0]
    signed = np.where(labels[rows] == pair[0], values, -values)
    errors = int(np.count_nonzero(signed <= 0))
    squared = _squared_norm(member.model)
    margin = None
    if squared and not errors and len(rows):
        margin = float(signed.min()) / sqrt(squared)
    return GraphMargin(names[pair[0]], names[pair[1]], margin, errors)


def _total(nodes: Sequence[GraphMargin]) -> Bound:
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
    spaces = {(_find_kernel(member.model), id(member.view)) for member in committee.members}
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


def enclosing_radius(kernel: Kernel, X: Matrix, tolerance: float = CLOSE) -> float:
    """The radius of a ball in feature space that holds all rows X (n, d).

    It is larger than the smallest one by a factor of at most 1 + `tolerance`. The center is a
    convex combination of rows; weight is moved from the nearest row with weight to the farthest
    row until the dual value shows that no ball is much smaller.
    """
    squares = kernel.diagonal(X)
    share = np.zeros(X.shape[0])
    share[0] = 1.0
    columns: dict[int, FloatArray] = {}

    def column(row: int) -> FloatArray:
        if row not in columns:
            columns[row] = kernel(X, X[[row]])[:, 0]
        return columns[row]

    inner = column(0).copy()
    best = np.inf
    for _ in range(STEPS):
        distances = squares - 2.0 * inner + share @ inner
        far = int(distances.argmax())
        best = min(best, float(distances[far]))
        if best <= (1.0 + tolerance) ** 2 * max(float(share @ distances), 0.0):
            break
        near = int(np.where(share > 0, distances, np.inf).argmin())
        apart = squares[far] + squares[near] - 2.0 * column(near)[far]
        if apart <= 0:
            break
        step = min((distances[far] - distances[near]) / (2.0 * apart), share[near])
        share[far] += step
        share[near] = share[near] - step if step < share[near] else 0.0
        inner += step * (column(far) - column(near))
    # All rows lie in the ball around the origin too: for an RBF kernel, of radius 1.
    return sqrt(max(min(best, float(squares.max())), 0.0))


def _find_kernel(model: LocalModel) -> Kernel | None:
    """The kernel of the space in which a model is a hyperplane, or None."""
    if isinstance(model, Hyperplanes):
        return Kernel("linear")
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        return model.kernel
    return None


def _squared_norm(model: LocalModel) -> float | None:
    """The squared norm of a binary model's normal in feature space, or None."""
    if isinstance(model, Hyperplanes):
        return float((model.weights**2).sum())
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        return float(squared_norms(model, sparse.csr_array(model.coefficients))[0])
    return None
