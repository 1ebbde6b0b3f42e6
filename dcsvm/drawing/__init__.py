"""Pictures of a division as SVG: what they are drawn from, and ready-made kinds of them."""

from dcsvm.drawing.layered_graph import GraphNode, draw_graph
from dcsvm.drawing.pair_matrix import draw_pairs
from dcsvm.drawing.scene import PALETTE, Scene, class_colour, shorten
from dcsvm.drawing.stage_bars import StageCounts, draw_stages
from dcsvm.drawing.tree_outline import Sketch, draw_tree

__all__ = [
    "PALETTE",
    "GraphNode",
    "Scene",
    "Sketch",
    "StageCounts",
    "class_colour",
    "draw_graph",
    "draw_pairs",
    "draw_stages",
    "draw_tree",
    "shorten",
]
