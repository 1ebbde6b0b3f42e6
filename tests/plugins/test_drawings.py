"""Pictures of pairs of classes and of layered graphs."""

import re

from html_page import Page

from dcsvm_plugins.combiners.dag.layered_graph import GraphNode, draw_graph
from dcsvm_plugins.decomposers.class_pairs import draw_pairs


def lines(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_pairs_of_classes_are_fields_that_count_mistakes() -> None:
    svg = draw_pairs(["a & b", "c", "d"], {(0, 1): (0, 10), (0, 2): (3, 30), (1, 2): (9, 30)})
    assert Page(svg).mistakes == []
    assert lines(svg) == ["a &amp; b", "c", "d", "3", "9"]
    assert "<title>a &amp; b v d: 3 of 30 wrong</title>" in svg
    shades = [float(each) for each in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    assert shades == sorted(shades)
    assert draw_pairs([str(n) for n in range(99)], {(0, 1): (0, 10)}) == ""
    assert draw_pairs(["a", "b"], {}) == ""


def test_graphs_stand_in_layers_and_edges_are_as_broad_as_their_rows() -> None:
    nodes = [
        GraphNode(0, 0, "a <v> b", 10, 1),
        GraphNode(1, 0, "b", 9, 1),
        GraphNode(1, 1, "a", 1),
    ]
    svg = draw_graph(nodes, {(0, 1): 9, (0, 2): 1})
    assert Page(svg).mistakes == []
    assert lines(svg) == ["a &lt;v&gt; b", "10 (1)", "b", "9 (1)", "a", "1"]
    broad, narrow = (float(each) for each in re.findall(r'stroke-width="([\d.]+)"', svg))
    assert broad > 3 * narrow
    assert draw_graph([], {}) == ""
    assert draw_graph([GraphNode(layer, 0, "x", 1) for layer in range(99)], {}) == ""
