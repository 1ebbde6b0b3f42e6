"""SVG pictures of divisions."""

from dcsvm.drawing.scene import PALETTE, Scene, class_colour, shorten
from dcsvm.drawing.tree_outline import Sketch, draw_division, draw_tree

__all__ = [
    "PALETTE",
    "Scene",
    "Sketch",
    "class_colour",
    "draw_division",
    "draw_tree",
    "shorten",
]
