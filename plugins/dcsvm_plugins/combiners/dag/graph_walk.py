"""The walk of rows through a decision graph: which pair of classes is asked next, and who wins."""

import html
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm import Committee
from dcsvm.drawing import Scene
from dcsvm.numeric import Expansion, FloatArray, IntArray, Matrix, Plan, Step, axes, walk
from dcsvm.toolbox import Combination, PlainState, couple_pairs
from dcsvm_plugins.combiners.dag.layered_graph import GraphNode, draw_graph
from dcsvm_plugins.combiners.dag.row_queries import RowQueries

#: The smallest score of a winner, for a margin of zero.
HAIR = 1e-300
#: The largest number of classes that is drawn.
DRAWN = 40
#: The style of the picture: the path of the row is highlighted.
STYLE = (
    "text{font:11px sans-serif;text-anchor:middle}line{stroke:#bbb}"
    "ellipse{fill:#fff;stroke:#bbb}line.way{stroke:#c30;stroke-width:3}"
    "ellipse.way{fill:#fe9;stroke:#c30}"
)


@attrs.frozen(eq=False, slots=False)
class DecisionGraph(PlainState, Combination):
    """A fitted DAG: the initial list of classes, and the member that decides between any two.

    `node` (n_classes, n_classes) is the member for two classes, -1 if there is none; `sign` is +1
    if the first of the two is the positive side of that member, otherwise -1.
    """

    order: IntArray = attrs.field(
        metadata=axes("listed", dtype=np.integer, at_least=0, below="classes")
    )
    node: IntArray = attrs.field(
        metadata=axes("classes", "classes", dtype=np.integer, at_least=-1, below="members")
    )
    sign: IntArray = attrs.field(
        metadata=axes("classes", "classes", dtype=np.integer, at_least=-1, at_most=1)
    )

    _ready: list[tuple[RowQueries, Expansion | None]] = attrs.field(
        factory=list, metadata={"stored": False}
    )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        k = sizes["listed"]
        between = self.node[np.ix_(self.order, self.order)][~np.eye(k, dtype=bool)]
        if k < 2 or len(np.unique(self.order)) < k or (between < 0).any():
            raise ValueError(
                "DecisionGraph.order must list two classes or more once each, and "
                "DecisionGraph.node must name a member for any two of them"
            )
        return sizes

    def check_committee(self, committee: Committee) -> None:
        super().check_committee(committee)
        used = np.unique(self.node[self.node >= 0])
        if any(len(committee.members[number].code) != 1 for number in used):
            raise ValueError("DecisionGraph.node must name members with one column of scores")

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step | None:
        if not plan.votes:
            return plan.couple()
        return plan.walk(self.order, self.node, self.sign)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        scores = np.full((X.shape[0], committee.n_classes), np.nan)
        for block in self._prepare(committee)[0].blocks(committee, X):
            left, beaten_by, margins = self._walk(block.values, len(block.rows))
            scores[block.rows] = _score_classes(left, beaten_by, margins, committee.n_classes)
        return scores

    def margins(self, committee: Committee, X: Matrix) -> FloatArray:
        """Margins of all pairs: the walk of a row meets no rival of most classes."""
        return couple_pairs(committee, X)

    def labels(self, committee: Committee, X: Matrix) -> IntArray:
        """The winners of rows X (n, d) alone, uncounted, from one expansion for all pairs."""
        pairs, view = self._prepare(committee)[1], committee.members[0].view
        if pairs is None:
            scores = self.combine(committee, X)
            return np.asarray(np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))
        return np.asarray(self.order[walk(pairs, X if view is None else view.apply(X))])

    def _prepare(self, committee: Committee) -> tuple[RowQueries, Expansion | None]:
        if not self._ready or self._ready[0][0].members is not committee.members:
            each = RowQueries.of(committee)
            self._ready[:] = [(each, each.arrange_pairs(self.order))]
        return self._ready[0]

    def _walk(
        self, ask: Callable[[IntArray], FloatArray], n: int
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return who leaves the list at each step, who beat it and by how much, as (n, k - 1)."""
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
        """Yield the nodes that the row x (1, d) passes: two classes, the decision, the list.

        The decision is positive for the first of the two classes.
        """
        remaining = self.order.tolist()
        while len(remaining) > 1:
            one, other = remaining[0], remaining[-1]
            answers = committee.ask(x, np.arange(1), self.node[[one], [other]])
            one_wins = bool(answers.values[0, 0] > 0) == bool(self.sign[one, other] > 0)
            margin = max(abs(float(answers.values[0, 0])), HAIR)
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


def _place_node(k: int, layer: int, place: int) -> tuple[int, int]:
    """Return the position of a node in the picture: the root at the top, leaves last."""
    return 40 * k + 80 * place - 40 * layer, 30 + 60 * layer


def _score_classes(
    left: IntArray, beaten_by: IntArray, margins: FloatArray, n_classes: int
) -> FloatArray:
    rows, winner = np.arange(len(left)), beaten_by[:, -1]
    scores = np.full((len(left), n_classes), np.nan)
    scores[rows, winner] = 0.0
    # From the last class to leave to the first: each is below the class that beat it.
    for step in reversed(range(left.shape[1])):
        above = scores[rows, beaten_by[:, step]]
        scores[rows, left[:, step]] = above - margins[:, step]
    narrowest = np.where(beaten_by == winner[:, None], margins, np.inf).min(axis=1)
    scores[rows, winner] = np.maximum(narrowest, HAIR)
    return scores
