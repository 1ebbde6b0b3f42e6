"""The papers' error bounds as numbers, for fitted classifiers and the rows they learned from."""

from dcsvm.inspection.bounds.graph import GraphBounds, Node, graph_bounds
from dcsvm.inspection.bounds.machines import Bound, enclosing_radius
from dcsvm.inspection.bounds.planes import (
    PlaneTerms,
    plane_terms,
    relative_complexity,
    relative_error,
)
from dcsvm.inspection.bounds.tree import TreeTerms, tree_terms

__all__ = [
    "Bound",
    "GraphBounds",
    "Node",
    "PlaneTerms",
    "TreeTerms",
    "enclosing_radius",
    "graph_bounds",
    "plane_terms",
    "relative_complexity",
    "relative_error",
    "tree_terms",
]
