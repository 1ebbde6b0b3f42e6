"""Drawing of a layered graph, with the number of rows on each edge."""

import html
from collections.abc import Mapping, Sequence

import attrs

from dcsvm.drawing import shorten

DOWN, TEXT = 58, 11
#: A node is as wide as its text wants it, within these limits.
NARROW, WIDE = 48, 92
DESCRIBED = (
    "Test rows go from top to bottom, lines are as broad as the rows that took them. Below what a "
    "node asks: the rows that came by, in brackets those answered wrongly in the end."
)
#: Layers up to which a graph can be taken in.
MOST_LAYERS = 26


@attrs.frozen
class GraphNode:
    """A node of a graph: its layer and place, its text, and the number of rows that pass it.

    `wrong` of these rows were answered wrongly in the end.
    """

    layer: int
    place: int
    text: str
    rows: int
    wrong: int = 0


def draw_graph(nodes: Sequence[GraphNode], edges: Mapping[tuple[int, int], int]) -> str:
    """Draw nodes in layers from top to bottom, and edges as broad as the rows that took them.

    A layer's nodes stand side by side, centred; edges are given by the places of two nodes.

    Examples
    --------
    >>> nodes = [GraphNode(0, 0, "a v b", 9), GraphNode(1, 0, "b", 4, 1), GraphNode(1, 1, "a", 5)]
    >>> "4 rows, 1 wrong" in draw_graph(nodes, {(0, 1): 4, (0, 2): 5})
    True
    """
    sizes: dict[int, int] = {}
    for node in nodes:
        sizes[node.layer] = max(sizes.get(node.layer, 0), node.place + 1)
    if not nodes or len(sizes) > MOST_LAYERS:
        return ""
    longest = max(len(shorten(node.text, 13)) for node in nodes)
    node_width = min(WIDE, max(NARROW, 12 + 6 * longest))
    across = node_width + 8
    width = across * max(sizes.values())
    most = max(1, *(node.rows for node in nodes))

    def spot(node: GraphNode) -> tuple[float, float]:
        indent = (width - across * sizes[node.layer]) / 2
        return indent + across * (node.place + 0.5), DOWN * node.layer + 28.0

    shapes = []
    for (start, end), rows in sorted(edges.items()):
        (x1, y1), (x2, y2) = spot(nodes[start]), spot(nodes[end])
        colour = "var(--accent, #2f7ed8)" if rows else "currentColor"
        shapes.append(
            f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" '
            f'style="stroke: {colour}" stroke-width="{0.6 + 9 * rows / most:.1f}" '
            f'stroke-opacity="{0.55 if rows else 0.2}" stroke-linecap="round"/>'
        )
    for node in nodes:
        x, y = spot(node)
        title = f"{node.rows:,} row{'' if node.rows == 1 else 's'}"
        title += f", {node.wrong:,} wrong" if node.wrong else ""
        faint = "" if node.rows else ' fill-opacity=".5"'
        colour = "var(--warn, #d2493a)" if node.wrong else "currentColor"
        shapes.append(
            f"<g><title>{html.escape(node.text)}: {title}</title>"
            f'<rect x="{x - node_width / 2:.0f}" y="{y - 17:.0f}" width="{node_width}" '
            'height="34" rx="9" '
            f'style="fill: var(--paper, #fff); stroke: {colour}" '
            f'stroke-opacity="{0.9 if node.wrong else 0.35}"/>'
            f'<text x="{x:.0f}" y="{y - 3:.0f}"{faint}>{html.escape(shorten(node.text, 13))}'
            f'</text><text x="{x:.0f}" y="{y + 11:.0f}" font-size="9" fill-opacity=".75">'
            f"{node.rows:,}{f' ({node.wrong:,})' if node.wrong else ''}</text></g>"
        )
    height = DOWN * len(sizes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="{TEXT}" text-anchor="middle" '
        f'fill="currentColor"><desc>{DESCRIBED}</desc>{"".join(shapes)}</svg>'
    )
