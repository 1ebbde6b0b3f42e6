"""The kinds of steps of a plan, and what C knows of each step."""

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from dcsvm.numeric.array_types import FloatArray

#: A step of a plan: its number.
Step: TypeAlias = int

KINDS = (
    *("columns", "block_sum", "affine", "scaling", "monomials", "constant", "sides", "softmax"),
    *("expansion", "chain", "strategy", "ask"),
    *("axis_tree", "plane_tree", "nearest", "lookup", "spill", "gate", "ask_router"),
    *("means", "votes", "largest", "gains", "totals", "paths", "products", "couples"),
    *("walk", "stack"),
)
"""The kinds of steps, in the order of plan.h."""
IN_BLOCKS = frozenset(KINDS) - {
    *("ask", "ask_router", "nearest", "gate", "monomials", "walk", "stack"),
}
"""Steps that C takes for many rows at once as fast as numpy does, if they are not too large."""
NARROW = 1 << 10
"""A matrix with fewer numbers needs no BLAS."""
FORMS = ("plain", "decisions", "votes", "margins")
LOSSES = ("hamming", "hinge", "exponential", "linear")
PLAIN_KERNELS = {"laplacian": 5, "precomputed": 6}
"""Kernels whose points are not packed, with their numbers in expansion.c."""
SMALL = 1 << 14
"""Points with fewer numbers are evaluated in double precision at once."""
MOST_ENTRIES = 1 << 26
"""Arrays of a step have no more entries than this."""


@attrs.frozen(eq=False)
class StepRecord:
    """The C structure of a step, and the arrays that it points to."""

    kind: str
    inputs: int
    outputs: int
    sizes: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()
    arrays: tuple[Any, ...] = ()
    function: Callable[[FloatArray], Any] | None = None
