"""The decision graph over class pairs: first against last, the loser leaves the list."""

import html
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from dcsvm import (
    Combiner,
    Committee,
    DcsvmError,
    Problem,
    RowQueries,
    SettingError,
    component,
    setting,
)
from dcsvm.drawing import GraphNode, Scene, draw_graph
from dcsvm.numeric import FloatArray, IntArray, Matrix, squared_distances
from dcsvm.toolbox import Combination

#: What a winner by a margin of zero is above the class it beat.
HAIR = 1e-300
#: Classes up to which the graph can be looked at.
DRAWN = 40
#: How the picture is drawn: the way of the row is dark.
STYLE = (
    "text{font:11px sans-serif;text-anchor:middle}line{stroke:#bbb}"
    "ellipse{fill:#fff;stroke:#bbb}line.way{stroke:#c30;stroke-width:3}"
    "ellipse.way{fill:#fe9;stroke:#c30}"
)


@attrs.frozen(eq=False)
class DecisionGraph(Combination):
    """The list of classes and who decides between any two of them.

    Parameters
    ----------
    order : (k,) int array
        The list: classes in the order in which they stand at the start.
    node : (n_classes, n_classes) int array
        The member that knows the two classes; -1 where there is none.
    sign : (n_classes, n_classes) int array
        +1 where that member's positive side is the first of the two, otherwise -1.
    """

    order: IntArray
    node: IntArray
    sign: IntArray

    _ready: list[tuple[RowQueries, Any]] = attrs.field(factory=list, metadata={"stored": False})

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        scores = np.full((X.shape[0], committee.n_classes), np.nan)
        for block in self._prepare(committee)[0].blocks(committee, X):
            left, beaten_by, margins = self._walk(block.values, len(block.rows))
            scores[block.rows] = _score_classes(left, beaten_by, margins, committee.n_classes)
        return scores

    def labels(self, committee: Committee, X: Matrix) -> IntArray:
        """The winners of rows X (n, d) alone, uncounted: a single row walks in microseconds."""
        walker = self._prepare(committee)[1]
        if walker is None:
            scores = self.combine(committee, X)
            return np.asarray(np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))
        return np.asarray(walker.labels(X))

    def _prepare(self, committee: Committee) -> tuple[RowQueries, Any]:
        if not self._ready or self._ready[0][0].members is not committee.members:
            each = RowQueries.of(committee)
            self._ready[:] = [(each, each.walker(self.order))]
        return self._ready[0]

    def _walk(
        self, ask: Callable[[IntArray], FloatArray], n: int
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Who leaves the list of each row at each step, who beat it, by how much: (n, k - 1)."""
        k = len(self.order)
        first = np.zeros(n, dtype=np.intp)
        left = np.empty((n, k - 1), dtype=np.intp)
        beaten_by = np.empty_like(left)
        margins = np.empty((n, k - 1))
        for step in range(k - 1):
            one = self.order[first]
            other = self.order[first + k - 1 - step]
            values = ask(self.node[one, other])
            one_wins = (values > 0) == (self.sign[one, other] > 0)
            left[:, step] = np.where(one_wins, other, one)
            beaten_by[:, step] = np.where(one_wins, one, other)
            margins[:, step] = np.abs(values)
            first += ~one_wins
        return left, beaten_by, margins

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        sentences = []
        for one, other, value, list_before in self.path(committee, x):
            winner, loser = (one, other) if value > 0 else (other, one)
            sentences.append(
                f"{len(list_before)} in the list: class {winner} beats class {loser} "
                f"by {abs(value):.4g}, member {self.node[one, other]}"
            )
        return [*sentences, f"class {winner} is left"]

    def path(self, committee: Committee, x: Matrix) -> Iterator[tuple[int, int, float, list[int]]]:
        """The nodes the single row x (1, d) passes: two classes, what the node said, the list.

        What the node said is positive for the first of the two.
        """
        remaining = self.order.tolist()
        while len(remaining) > 1:
            one, other = remaining[0], remaining[-1]
            said = committee.ask(x, np.arange(1), self.node[[one], [other]])
            one_wins = bool(said.values[0, 0] > 0) == bool(self.sign[one, other] > 0)
            margin = max(abs(float(said.values[0, 0])), HAIR)
            yield one, other, margin if one_wins else -margin, list(remaining)
            remaining.pop(-1 if one_wins else 0)

    def overview(self, scene: Scene) -> str:
        """Draw the graph with the number of held-out rows that passed each node."""
        k, n = len(self.order), scene.X.shape[0]
        if k > DRAWN or n == 0:
            return ""
        at = np.zeros((n, k), dtype=np.intp)
        for block in self._prepare(scene.committee)[0].blocks(scene.committee, scene.X):
            left, _, _ = self._walk(block.values, len(block.rows))
            for step in range(k - 1):
                first_left = left[:, step] == self.order[at[block.rows, step]]
                at[block.rows, step + 1] = at[block.rows, step] + first_left
        nodes: list[GraphNode] = []
        edges: dict[tuple[int, int], int] = {}
        for layer in range(k):
            came = np.bincount(at[:, layer], minlength=layer + 1)
            missed = np.bincount(at[scene.wrong, layer], minlength=layer + 1)
            for place in range(layer + 1):
                text = scene.classes[self.order[place]]
                if layer < k - 1:
                    text += f" v {scene.classes[self.order[place + k - 1 - layer]]}"
                number = len(nodes)
                nodes.append(GraphNode(layer, place, text, int(came[place]), int(missed[place])))
                if layer < k - 1:
                    on = at[at[:, layer] == place, layer + 1]
                    for child in (place, place + 1):
                        edges[number, number + layer + 1 + child - place] = int(
                            np.count_nonzero(on == child)
                        )
        return draw_graph(nodes, edges)

    def picture(self, committee: Committee, x: Matrix, names: Sequence[Any]) -> str:
        """The graph as SVG, with the way of the single row x (1, d): figure 1(a) of the paper.

        Nothing for more than 40 classes.
        """
        k = len(self.order)
        if k > DRAWN:
            return ""
        called = [html.escape(str(names[label])) for label in self.order]
        way, margins, first = [0], [], 0
        for _, _, value, _ in self.path(committee, x):
            margins.append(abs(value))
            first += value < 0
            way.append(first)
        shapes: list[str] = []
        for layer in range(k):
            for place in range(layer + 1):
                across, down = _place_node(k, layer, place)
                on_way = way[layer] == place
                style = 'class="way"' if on_way else ""
                if layer < k - 1:
                    for child in (place, place + 1):
                        end, bottom = _place_node(k, layer + 1, child)
                        taken = 'class="way"' if on_way and way[layer + 1] == child else ""
                        shapes.insert(
                            0,
                            f'<line {taken} x1="{across}" y1="{down}" x2="{end}" y2="{bottom}"/>',
                        )
                text = called[place]
                if layer < k - 1:
                    text += f" v {called[place + k - 1 - layer]}"
                shapes.append(f'<ellipse {style} cx="{across}" cy="{down}" rx="34" ry="15"/>')
                shapes.append(f'<text x="{across}" y="{down + 4}">{text}</text>')
                if on_way and layer < k - 1:
                    shapes.append(
                        f'<text x="{across}" y="{down + 28}">{margins[layer]:.3g}</text>'
                    )
        width, height = 80 * k, 60 * k
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}"><style>{STYLE}</style>{"".join(shapes)}</svg>'
        )


@component
class Dag(Combiner):
    """DAGSVM: the first class of a list against the last, the loser leaves, until one is left.

    A row asks K - 1 of the K (K - 1) / 2 members that know a pair of classes, whatever their
    learner is, and rows that stand at the same node ask it together. The class that is left gets
    as its score the smallest margin it won by; any other stands as far below the class that beat
    it as it lost by (below zero, where the winner did). Over two classes that is the decision
    value itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """

    name = "dag"
    accepts = frozenset({"class pairs"})
    stored_types = (DecisionGraph,)

    order: Literal["natural", "similarity"] | tuple[int, ...] = setting(
        "natural",
        help=(
            "the list of classes at the start: sorted, or so that neighbours are alike (from an "
            "end of the pair of class means farthest apart, always on to the nearest mean left) "
            "and what is easily confused meets late, or all class numbers in an order of one's own"
        ),
    )

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> DecisionGraph:
        node, sign = _find_nodes(committee)
        known = np.flatnonzero((node >= 0).any(axis=1))
        order = self._order_classes(problem, known)
        lacking = [(i, j) for i in order for j in order if i < j and node[i, j] < 0]
        if lacking:
            raise DcsvmError(
                f"dag: no member knows the classes {lacking[0][0]} and {lacking[0][1]}"
            )
        return DecisionGraph(order, node, sign)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        raise DcsvmError("dag must be fitted before it combines: call what its fit returns")

    def _order_classes(self, problem: Problem, known: IntArray) -> IntArray:
        if isinstance(self.order, str):
            return known if self.order == "natural" else _chain_classes(problem, known)
        if sorted(self.order) != list(range(problem.n_classes)):
            raise SettingError(
                f"dag: order must hold each class number from 0 to {problem.n_classes - 1} once, "
                f"got {list(self.order)}"
            )
        order = np.array(self.order, dtype=np.intp)
        return order[np.isin(order, known)]


def _place_node(k: int, layer: int, place: int) -> tuple[int, int]:
    """Where a node of the picture stands: the root at the top, the leaves in the last layer."""
    return 40 * k + 80 * place - 40 * layer, 30 + 60 * layer


def _score_classes(
    left: IntArray, beaten_by: IntArray, margins: FloatArray, n_classes: int
) -> FloatArray:
    rows, winner = np.arange(len(left)), beaten_by[:, -1]
    scores = np.full((len(left), n_classes), np.nan)
    scores[rows, winner] = 0.0
    # From the last to leave to the first: each stands below the class that beat it.
    for step in reversed(range(left.shape[1])):
        above = scores[rows, beaten_by[:, step]]
        scores[rows, left[:, step]] = above - margins[:, step]
    narrowest = np.where(beaten_by == winner[:, None], margins, np.inf).min(axis=1)
    scores[rows, winner] = np.maximum(narrowest, HAIR)
    return scores


def _find_nodes(committee: Committee) -> tuple[IntArray, IntArray]:
    """For any two classes the member that knows them, and the side of the first of the two."""
    code = committee.code
    code.sort_indices()
    widths = np.diff(code.indptr)
    if code.shape[0] != len(committee.members) or (widths != 2).any():
        strange = next(n for n, m in enumerate(committee.members) if np.count_nonzero(m.code) != 2)
        raise DcsvmError(f"dag: member {strange} does not speak of two classes")
    pairs, sides = code.indices.reshape(-1, 2), code.data.reshape(-1, 2)
    node = np.full((committee.n_classes, committee.n_classes), -1, dtype=np.intp)
    sign = np.zeros(node.shape, dtype=np.int8)
    low, high = pairs.T
    node[low, high] = node[high, low] = np.arange(len(pairs))
    sign[low, high], sign[high, low] = sides.T
    if np.count_nonzero(node >= 0) != 2 * len(pairs):
        raise DcsvmError("dag: two members know the same two classes")
    return node, sign


def _chain_classes(problem: Problem, known: IntArray) -> IntArray:
    """Classes in a chain of nearest means, from an end of the pair that is farthest apart."""
    means: Any = np.stack(
        [np.asarray(problem.X[problem.rows_of(label)].mean(axis=0)).ravel() for label in known]
    )
    distances = squared_distances(means, means)
    # Of the two ends the lower class: above the diagonal a pair stands once only.
    chain = [int(np.triu(distances).max(axis=1).argmax())]
    while len(chain) < len(known):
        distances[:, chain[-1]] = np.inf
        chain.append(int(distances[chain[-1]].argmin()))
    return known[chain]
