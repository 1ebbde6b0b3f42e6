"""Routers and divisions: which members predict, and which of them are queried for a row.

`drive/committee/committee.py` queries them. Each router is beside its decomposer in
`dcsvm_plugins/decomposers`; the nearest cluster is found by `Regions` in `toolbox/regions.py`,
the side of a hyperplane by `PlaneRouter` in `toolbox/hyperplane_router.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np

from dcsvm.base.problem import Part
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import Stored

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
        """Route row i to `members[i]` only, of members (n,).

        Called by routers. `hyperplanes` and `kernel_evaluations`, (n,) each, are its cost.
        """
        return cls(np.arange(len(members)), members, None, hyperplanes, kernel_evaluations)


class Router(Stored, ABC):
    """Decides which members are queried for a new row; returned by a decomposer.

    Subclasses are attrs classes listed in their decomposer's `stored_types`.
    """

    #: Whether it shares rows out by weights that sum to one, so that a training row's largest
    #: weight need not be that of a member whose part held it: for learned gates and blends.
    soft: ClassVar[bool] = False

    @abstractmethod
    def route(self, X: Matrix) -> Routing:
        """Choose the members for rows X (n, d); called by the committee at prediction."""

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        """Add the choice of members for rows with `n_features` features to a plan.

        Called when single rows are first predicted. None means: ask `route` in Python.
        """
        return None

    def trace(self, x: Matrix) -> list[str]:
        """Explain in sentences how the single row x (1, d) is routed.

        Features and members are counted from 0. Refer to a feature as `feature 3`: `explain`
        replaces this by its name. Values in `feature 3: 0.25 <= 0.5` are converted to the original
        units where possible.

        Called by `explain` for each group with a router.
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
    """The result of `divide`: who predicts, who is asked for which row, and how much each counts.

    A decomposer returns one if the members of its last stage are not the ones that predict, if
    there are several groups, if it holds rows back, or if members have weights or a structure.

    Parameters
    ----------
    router : Router, optional
        Without one, every member is queried for every row.
    members : sequence of Member, optional
        The members that predict; None means those of the last stage.
    held_back : (m,) int array, optional
        Rows in no part, such as those held out for a choice.
    groups : sequence of Division
        Several divisions side by side, instead of members.
    weights : (members,) array, optional
        How much each member counts, as in boosting; multiplied with the router's weights. The
        decomposer says "weights" in its `yields`.
    structure : stored type, optional
        What a combiner must know of the members, such as a tree over the classes. It sees it as
        `committee.structure`. List its type in `stored_types`, and say in `yields` what it is.
    """

    router: Router | None = None
    members: Sequence[Member] | None = None
    held_back: IntArray | None = None
    groups: Sequence[Division] = ()
    weights: FloatArray | None = None
    structure: Any = None

    def iterate_members(self) -> Iterator[Member]:
        """Yield the members that predict, in the order of the committee.

        Called by the core when it takes rows out for probabilities.
        """
        for group in self.groups:
            yield from group.iterate_members()
        yield from self.members or ()

    def with_members(self, members: Iterator[Member]) -> Division:
        """Return the same division with other members, taken in the order of the committee.

        Called by the core with members that were trained without some rows.
        """
        groups = [group.with_members(members) for group in self.groups]
        mine = None if self.members is None else [next(members) for _ in self.members]
        return attrs.evolve(self, groups=groups, members=mine)


@attrs.frozen(eq=False)
class Level:
    """One granularity of a division before training: like a Division, with parts for members.

    `settings` are the decomposer's settings that give this division.
    """

    settings: Mapping[str, Any]
    parts: Sequence[Part] = ()
    router: Router | None = None
    groups: Sequence[Level] = ()
