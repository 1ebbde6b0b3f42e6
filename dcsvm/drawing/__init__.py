"""Pictures of a division as SVG: what they are drawn from, and ready-made kinds of them."""

from dcsvm.drawing.graph import Node, draw_graph
from dcsvm.drawing.pairs import draw_pairs
from dcsvm.drawing.scene import PALETTE, Scene, class_colour, shortened
from dcsvm.drawing.stages import StageCounts, draw_stages
from dcsvm.drawing.tree import Sketch, draw_tree

__all__ = [
    "PALETTE",
    "Node",
    "Scene",
    "Sketch",
    "StageCounts",
    "class_colour",
    "draw_graph",
    "draw_pairs",
    "draw_stages",
    "draw_tree",
    "shortened",
]
