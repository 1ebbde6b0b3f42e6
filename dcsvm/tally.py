"""Counting what a committee was asked, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dcsvm.models import Cost
from dcsvm.numeric.matrix import FloatArray, IntArray
from dcsvm.problem import union

if TYPE_CHECKING:
    from dcsvm.member import Member


class Tally:
    """Whom each row asked, and what that took; made anew for every question.

    Rows that asked the same members stand in the same circle, so that what their members share is
    worked out once per circle and not once per row.
    """

    def __init__(self, n_rows: int) -> None:
        self.kernel_evaluations = np.zeros(n_rows)
        self.unique = np.zeros(n_rows)
        self.hyperplanes = np.zeros(n_rows)
        self.circle = np.zeros(n_rows, dtype=np.intp)
        self.asked_by: list[tuple[int, ...]] = [()]
        self.next_circle: dict[tuple[int, tuple[int, ...]], int] = {}

    def add(self, rows: IntArray, members: Sequence[int], cost: Cost) -> None:
        """Count that each of `rows` asked all of `members`, at this cost for each row."""
        self.kernel_evaluations[rows] += cost.kernel_evaluations
        self.unique[rows] += cost.unique_kernel_evaluations
        self.hyperplanes[rows] += cost.hyperplanes
        before = self.circle[rows]
        for old in np.unique(before):
            self.circle[rows[before == old]] = self._after(int(old), tuple(members))

    def add_hyperplanes(self, count: FloatArray) -> None:
        """Count what a router needed for each row."""
        self.hyperplanes += count

    def cost(self, members: Sequence[Member]) -> Cost:
        """The sums, with support vectors that several members share counted once per row."""
        keys = _points_keys(members)
        repeats = np.array([_repeats(circle, keys, members) for circle in self.asked_by])
        return Cost(self.kernel_evaluations, self.unique - repeats[self.circle], self.hyperplanes)

    def _after(self, old: int, members: tuple[int, ...]) -> int:
        step = (old, members)
        if step not in self.next_circle:
            self.next_circle[step] = len(self.asked_by)
            self.asked_by.append(self.asked_by[old] + members)
        return self.next_circle[step]


def _points_keys(members: Sequence[Member]) -> dict[int, Any]:
    """By number, the (view, kernel) of members who share theirs with another member."""
    keys = {
        number: (id(member.view), member.model.kernel)
        for number, member in enumerate(members)
        if len(member.support) and hasattr(member.model, "kernel")
    }
    counts = Counter(keys.values())
    return {number: key for number, key in keys.items() if counts[key] > 1}


def _repeats(circle: tuple[int, ...], keys: dict[int, Any], members: Sequence[Member]) -> float:
    """How many support vectors the members of a circle count more often than once."""
    supports: dict[Any, list[IntArray]] = {}
    for number in set(circle) & keys.keys():
        supports.setdefault(keys[number], []).append(members[number].support)
    return float(
        sum(sum(map(len, sets)) - len(union(sets)) for sets in supports.values() if len(sets) > 1)
    )
