"""Pictures of a division as SVG: what they are drawn from, and ready-made kinds of them."""

from dcsvm.drawing.draw_graph import Node, draw_graph
from dcsvm.drawing.draw_pairs import draw_pairs
from dcsvm.drawing.draw_stages import StageCounts, draw_stages
from dcsvm.drawing.draw_tree import Sketch, draw_tree
from dcsvm.drawing.scene import PALETTE, Scene, class_colour, shortened

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
