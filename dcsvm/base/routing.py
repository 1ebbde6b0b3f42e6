"""Routers and divisions: which members predict, and which of them are queried for a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.base.problem import Part
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    from dcsvm.base.member import Member
    from dcsvm.drawing import Scene
    from dcsvm.numeric.trees.hyperplane_tree import PlaneTree


@attrs.frozen(eq=False)
class Routing:
    """Which members are queried for which rows, as parallel arrays (row, member, weight).

    `hyperplanes` (n,) and `kernel_evaluations` (n,) count what the router itself computed for
    each row.
    """

    row: IntArray
    member: IntArray
    weight: FloatArray | None = None
    hyperplanes: FloatArray | None = None
    kernel_evaluations: FloatArray | None = None

    @classmethod
    def to_one(
        cls,
        members: IntArray,
        hyperplanes: FloatArray | None = None,
        kernel_evaluations: FloatArray | None = None,
    ) -> Routing:
        """Route row i to `members[i]` only."""
        return cls(np.arange(len(members)), members, None, hyperplanes, kernel_evaluations)


class Router(ABC):
    """Decides which members are queried for a new row; returned by a decomposer.

    Subclasses are attrs classes listed in their decomposer's `stored_types`.
    """

    @abstractmethod
    def route(self, X: Matrix) -> Routing:
        """Choose the members for rows X (n, d); called by the committee at prediction."""

    def trace(self, x: Matrix) -> list[str]:
        """Explain in sentences how the single row x (1, d) is routed.

        Refer to a feature as `feature 3`: `explain` replaces this by its name. Values in
        `feature 3: 0.25 <= 0.5` are converted to the original units where possible.
        """
        return []

    def hyperplane_tree(self) -> tuple[PlaneTree, IntArray] | None:
        """The tree of hyperplanes that it routes by, and the member of each leaf; None if other.

        Called by `compile_tree` and by error bounds for such trees.
        """
        return None

    def overview(self, scene: Scene) -> str:
        """Draw the division as SVG for a report; empty if there is nothing to show.

        Called once per report for each group with a router. Escape texts from the data.
        `currentColor` and `class_colour` suit light and dark pages; `draw_tree` draws trees.
        """
        return ""


@attrs.frozen(eq=False)
class Division:
    """The result of `divide`: the members that predict, their router, and held-back rows.

    A decomposer returns one if the members of its last stage are not the ones that predict, if
    there are several groups, or if it holds rows back.
    """

    router: Router | None = None
    members: Sequence[Member] | None = None
    held_back: IntArray | None = None
    groups: Sequence[Division] = ()


@attrs.frozen(eq=False)
class Level:
    """One granularity of a division before training: like a Division, with parts for members.

    `settings` are the decomposer's settings that give this division.
    """

    settings: Mapping[str, Any]
    parts: Sequence[Part] = ()
    router: Router | None = None
    groups: Sequence[Level] = ()
