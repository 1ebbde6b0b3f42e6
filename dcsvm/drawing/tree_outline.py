"""Drawing of a tree as an outline."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.drawing.scene import Scene, class_colour, shorten

if TYPE_CHECKING:
    from dcsvm.numeric.array_types import IntArray, Matrix


#: The maximum number of leaves that are drawn; small branches are folded.
MOST_LEAVES = 60
LINE, TEXT, BAR = 22, 12, 96


@attrs.frozen(eq=False)
class Sketch:
    """A tree to draw: arrays over its nodes, the root first.

    A leaf has no `children`; the first of two is where the question of an inner node is answered
    with yes. `counts` (nodes, classes) are the rows of each class in a leaf, `tested` (nodes,) its
    test rows, and `wrong` (nodes,) those that were misclassified.
    """

    children: Sequence[Sequence[int]]
    questions: Sequence[str]
    counts: IntArray
    tested: IntArray
    wrong: IntArray

    def sum_up(self) -> Sketch:
        """Return the tree with counts of inner nodes summed over their leaves."""
        counts, tested, wrong = self.counts.copy(), self.tested.copy(), self.wrong.copy()
        for node in reversed(self.order()):
            for child in self.children[node]:
                counts[node] += counts[child]
                tested[node] += tested[child]
                wrong[node] += wrong[child]
        return attrs.evolve(self, counts=counts, tested=tested, wrong=wrong)

    def order(self) -> list[int]:
        """The nodes in depth-first order from the root."""
        found, waiting = [], [0]
        while waiting:
            found.append(waiting.pop())
            waiting.extend(reversed(self.children[found[-1]]))
        return found


def draw_tree(sketch: Sketch, classes: Sequence[str], most_leaves: int = MOST_LEAVES) -> str:
    """Draw a tree as an outline with a line per node; small branches of large trees are folded.

    The bar of a leaf shows its rows by class, relative to the largest leaf.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[0, 0], [8, 0], [1, 5]])
    >>> none = np.zeros(3, dtype=int)
    >>> sketch = Sketch([(1, 2), (), ()], ["width <= 3", "", ""], counts, none, none)
    >>> "width &lt;= 3" in draw_tree(sketch, ["a", "b"])
    True
    """
    summed = sketch.sum_up()
    n_leaves = _count_leaves(sketch)
    folded = _fold(sketch, summed.counts.sum(axis=1), most_leaves)
    lines = list(_lines(sketch, folded))
    indent = max(6, min(18, 160 // max(1, max(depth for _, depth, _, _ in lines))))
    ends = [node for node, _, _, _ in lines if node in folded or not sketch.children[node]]
    largest = max(1, int(summed.counts[ends].sum(axis=1).max()))
    shapes: list[str] = []
    width = 0.0
    for place, (node, depth, parent_place, answer) in enumerate(lines):
        across, down = 8.0 + depth * indent, LINE * place + LINE / 2
        if parent_place >= 0:
            top = LINE * parent_place + LINE - 4
            stem = across - indent + 4
            shapes.append(f'<path class="stem" d="M{stem} {top}V{down}H{across}"/>')
        words = f"{answer}: " if answer else ""
        if node in folded or not sketch.children[node]:
            shapes.extend(_bar(summed.counts[node], across + 4, down, largest))
            count = int(summed.counts[node].sum())
            across += 10 + max(2.0, BAR * count / largest)
            words += _describe(summed, node, n_leaves[node], classes)
        else:
            words += sketch.questions[node]
            across += 4
        shapes.append(f'<text x="{across:.1f}" y="{down + 4:.1f}">{html.escape(words)}</text>')
        width = max(width, across + 0.56 * TEXT * len(words) + 8)
    height = LINE * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" font-family="sans-serif" font-size="{TEXT}" '
        f'fill="currentColor">{"".join(shapes)}</svg>'
    ).replace('class="stem"', 'fill="none" stroke="currentColor" stroke-opacity=".35"')


def draw_division(
    scene: Scene,
    children: Sequence[Sequence[int]],
    questions: Sequence[str],
    find_leaves: Callable[[Matrix], IntArray],
) -> str:
    """Draw a tree with the rows of a scene in its leaves.

    `children` and `questions` are those of a Sketch; `find_leaves` returns the node of each row.
    Bars are training rows if the scene has them.
    """
    X, y = (scene.X, scene.y) if scene.learned is None else scene.learned
    counts = np.zeros((len(children), len(scene.classes)), dtype=np.intp)
    np.add.at(counts, (find_leaves(X), y), 1)
    leaf = find_leaves(scene.X)
    tested = np.bincount(leaf, minlength=len(children))
    wrong = np.bincount(leaf[scene.wrong], minlength=len(children))
    return draw_tree(Sketch(children, questions, counts, tested, wrong), scene.classes)


def _lines(sketch: Sketch, folded: set[int]) -> Iterator[tuple[int, int, int, str]]:
    """Yield each drawn node, its depth, the line of its parent and the answer that leads to it."""
    waiting = [(0, 0, -1, "")]
    place = 0
    while waiting:
        node, depth, parent_place, answer = waiting.pop()
        yield node, depth, parent_place, answer
        below = () if node in folded else sketch.children[node]
        answers = ("yes", "no") if len(below) == 2 else tuple(map(str, range(1, len(below) + 1)))
        waiting.extend(
            (child, depth + 1, place, answer)
            for child, answer in reversed(list(zip(below, answers, strict=True)))
        )
        place += 1


def _count_leaves(sketch: Sketch) -> list[int]:
    found = [0] * len(sketch.children)
    for node in reversed(sketch.order()):
        below = sketch.children[node]
        found[node] = sum(found[child] for child in below) if below else 1
    return found


def _fold(sketch: Sketch, rows: IntArray, most_leaves: int) -> set[int]:
    """The inner nodes that are folded: only branches with the most rows are opened."""
    opened: set[int] = set()
    shown = {0}
    while len(shown) < most_leaves:
        closed = [node for node in sorted(shown) if sketch.children[node]]
        if not closed:
            break
        largest = max(closed, key=lambda node: (int(rows[node]), -node))
        opened.add(largest)
        shown = (shown - {largest}) | set(sketch.children[largest])
    return {node for node in shown if sketch.children[node]}


def _bar(counts: IntArray, across: float, down: float, largest: int) -> Iterator[str]:
    total = int(counts.sum())
    length = max(2.0, BAR * total / largest)
    if total == 0:
        yield _piece(across, down, length, "currentColor")
    for label in np.flatnonzero(counts):
        piece = length * float(counts[label]) / total
        yield _piece(across, down, piece, class_colour(int(label)))
        across += piece


def _piece(across: float, down: float, length: float, colour: str) -> str:
    return (
        f'<rect x="{across:.1f}" y="{down - 6:.1f}" width="{length:.1f}" height="12" '
        f'style="fill: {colour}"/>'
    )


def _describe(summed: Sketch, node: int, n_leaves: int, classes: Sequence[Any]) -> str:
    counts = summed.counts[node]
    total, most = int(counts.sum()), int(counts.argmax())
    label = f"{total:,} rows" if total != 1 else "1 row"
    if total:
        share = counts[most] / total
        called = shorten(classes[most])
        if called[:1].isdigit() or called[:1] == "-":
            called = f"class {called}"
        # A share that only rounds to all of them is not all of them.
        part = "all" if counts[most] == total else f"{min(share, 0.99):.0%}"
        label += f", {part} {called}"
    if n_leaves > 1:
        label = f"{n_leaves} leaves, {label}"
    if summed.wrong[node]:
        label += f"; {int(summed.wrong[node])} of {int(summed.tested[node])} wrong"
    return label
