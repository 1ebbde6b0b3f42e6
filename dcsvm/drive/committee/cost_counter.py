"""Counting what a committee was asked, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dcsvm.base.models import Cost
from dcsvm.base.routing import Routing
from dcsvm.numeric.array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from dcsvm.base.member import Member

#: Support vectors looked at in one go while those that several members share are counted.
BLOCK_ENTRIES = 2**24


class CostCounter:
    """Whom each row asked, and what that took; made anew for every question.

    Who asked what is only written down while rows are answered. Rows that asked the same members
    stand in the same circle, so that what their members share is worked out once per circle.
    """

    def __init__(self, n_rows: int) -> None:
        self.kernel_evaluations = np.zeros(n_rows)
        self.unique = np.zeros(n_rows)
        self.hyperplanes = np.zeros(n_rows)
        self.panels: dict[tuple[int, ...], int] = {}
        self.asked: list[tuple[IntArray, int | IntArray]] = []

    def add(self, rows: IntArray, members: Sequence[int], cost: Cost) -> None:
        """Count that each of `rows` asked all of `members`, at this cost for each row."""
        self.kernel_evaluations[rows] += cost.kernel_evaluations
        self.unique[rows] += cost.unique_kernel_evaluations
        self.hyperplanes[rows] += cost.hyperplanes
        self.asked.append((rows, self.panels.setdefault(tuple(members), len(self.panels))))

    def add_each(self, rows: IntArray, members: IntArray, costs: Cost) -> None:
        """Count that `rows[i]` asked `members[i]`; `costs` holds what each member takes."""
        self.kernel_evaluations[rows] += np.asarray(costs.kernel_evaluations)[members]
        self.unique[rows] += np.asarray(costs.unique_kernel_evaluations)[members]
        self.hyperplanes[rows] += np.asarray(costs.hyperplanes)[members]
        self.asked.append((rows, members))

    def add_routing(self, routing: Routing) -> None:
        """Count what a router needed for each row."""
        if routing.hyperplanes is not None:
            self.hyperplanes += routing.hyperplanes
        if routing.kernel_evaluations is not None:
            self.kernel_evaluations += routing.kernel_evaluations
            self.unique += routing.kernel_evaluations

    def members_of(self, row: int) -> list[int]:
        """The members that one row asked, in the order it asked them."""
        panels = list(self.panels)
        found: list[int] = []
        for rows, asked in self.asked:
            if isinstance(asked, int):
                found += panels[asked] if (rows == row).any() else ()
            else:
                found += asked[rows == row].tolist()
        return found

    def cost(self, members: Sequence[Member]) -> Cost:
        """The sums, with support vectors that several members share counted once per row."""
        repeats = self._repeats(members)
        return Cost(self.kernel_evaluations, self.unique - repeats, self.hyperplanes)

    def _repeats(self, members: Sequence[Member]) -> FloatArray | float:
        """How many support vectors each row's members count more often than once."""
        keys = _points_keys(members)
        if not keys or not self.asked:
            return 0.0
        circles, circle_of = self._circles(len(members))
        sizes = np.array([len(member.support) for member in members], dtype=float)
        sizes[[number for number in range(len(members)) if number not in keys]] = 0.0
        points = _points(keys, members)
        repeats = np.zeros(circles.shape[0])
        # One member alone repeats nothing: the leaves of a tree are never looked at.
        several = np.flatnonzero(np.diff(circles.indptr) > 1)
        listed = circles[several] @ sizes
        block_of = (np.cumsum(listed) / BLOCK_ENTRIES).astype(np.intp)
        for block in np.unique(block_of):
            here = block_of == block
            distinct = np.diff((circles[several[here]] @ points).indptr)
            repeats[several[here]] = listed[here] - distinct
        return np.asarray(repeats[circle_of])

    def _circles(self, n_members: int) -> tuple[Any, IntArray]:
        """Who asked the same members: (circles, members) as CSR, and the circle of each row."""
        chairs = [len(members) for members in self.panels]
        seats = _marks(
            np.repeat(np.arange(len(chairs)), chairs),
            np.concatenate([np.zeros(0, dtype=np.intp), *map(np.array, self.panels)]),
            (len(chairs), n_members),
        )
        row = np.concatenate([rows for rows, _ in self.asked])
        # Behind the panels, every member is a panel of its own.
        panel = np.concatenate(
            [
                np.full(len(rows), asked) if isinstance(asked, int) else asked + len(chairs)
                for rows, asked in self.asked
            ]
        )
        asked = _marks(row, panel, (len(self.unique), len(chairs) + n_members))
        # Rows with the same panels have the same sum of large random numbers, and no others do.
        salt = np.random.default_rng(0).integers(2**63, size=asked.shape[1], dtype=np.uint64)
        _, one_row, circle_of = np.unique(asked @ salt, return_index=True, return_inverse=True)
        everyone = sparse.vstack([seats, sparse.eye_array(n_members, dtype=np.uint64)], "csr")
        return sparse.csr_array(asked[one_row] @ everyone).astype(bool), circle_of


def _marks(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    """A CSR matrix with a 1 at each (row, column)."""
    ones = np.ones(len(row), dtype=np.uint64)
    return sparse.csr_array((ones, (row, column)), shape=shape)


def _points(keys: dict[int, Any], members: Sequence[Member]) -> Any:
    """Which support vectors the members with a key have: (members, distinct points) as CSR."""
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    stride = 1 + max(int(members[number].support.max()) for number in keys)
    names = np.concatenate(
        [members[number].support + number_of[key] * stride for number, key in keys.items()]
    )
    owners = np.repeat(list(keys), [len(members[number].support) for number in keys])
    distinct, column = np.unique(names, return_inverse=True)
    return _marks(owners, column, (len(members), len(distinct))).astype(bool)


def _points_keys(members: Sequence[Member]) -> dict[int, Any]:
    """By number, the (view, kernel) of members who share theirs with another member."""
    keys = {
        number: (id(member.view), member.model.kernel)
        for number, member in enumerate(members)
        if len(member.support) and member.model.kernel is not None
    }
    counts = Counter(keys.values())
    return {number: key for number, key in keys.items() if counts[key] > 1}
