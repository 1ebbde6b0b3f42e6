"""What dividing leaves behind: who asks whom, and who predicts."""

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
    """Who is asked about which row: parallel arrays (row, member, weight), and what it took.

    `hyperplanes` (n,) counts the inner products the router needed for each row, if any, and
    `kernel_evaluations` (n,) the kernel values.
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
        """Row i asks `members[i]` and no one else."""
        asked = np.arange(len(members))
        return cls(asked, members, None, hyperplanes, kernel_evaluations)


class Router(ABC):
    """What a decomposer leaves behind to decide whom a new row asks.

    Subclasses are attrs classes listed in their decomposer's `stored_types`.
    """

    @abstractmethod
    def route(self, X: Matrix) -> Routing:
        """Say for rows X (n, d) which members answer; called by the committee at prediction."""

    def trace(self, x: Matrix) -> list[str]:
        """Say in sentences why the single row x (1, d) goes where it goes.

        A feature is called `feature 3`: `explain` gives it its name, where it has one. What is
        written as `feature 3: 0.25 <= 0.5` it tells in the data's own units, where it can.
        """
        return []

    def hyperplane_tree(self) -> tuple[PlaneTree, IntArray] | None:
        """The tree of hyperplanes that it routes by, and the member each leaf asks; None if other.

        Asked by `compile_tree` and by bounds on the error of such trees.
        """
        return None

    def overview(self, scene: Scene) -> str:
        """Draw the division as SVG for a report; nothing where there is nothing to see.

        Called once per report, for each group of members that has a router. Texts of the data's
        own are to be escaped; `currentColor` and `class_colour` suit light and dark pages. For
        anything that branches, `draw_tree` does the drawing.
        """
        return ""


@attrs.frozen(eq=False)
class Division:
    """What is left when dividing is done: who predicts, by group, and who held rows back.

    A decomposer returns one only if the default (the last stage's members, with the router it
    returned) is not what it wants.
    """

    router: Router | None = None
    members: Sequence[Member] | None = None
    held_back: IntArray | None = None
    groups: Sequence[Division] = ()


@attrs.frozen(eq=False)
class Level:
    """One granularity of a division before anything is trained: a Division of parts, not members.

    `settings` are those of the decomposer that would divide the problem like this.
    """

    settings: Mapping[str, Any]
    parts: Sequence[Part] = ()
    router: Router | None = None
    groups: Sequence[Level] = ()
