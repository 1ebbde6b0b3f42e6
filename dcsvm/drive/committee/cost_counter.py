"""Cost counter: the cost of predictions by row, with shared kernel values counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dcsvm.base.cost import Cost
from dcsvm.base.routing import Routing
from dcsvm.numeric.array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from dcsvm.base.member import Member

#: Block size, in support vectors, for counting those shared by several members.
BLOCK_ENTRIES = 2**24


class CostCounter:
    """Records the members queried for each row of one prediction, and their cost.

    Shared support vectors are counted afterwards, once for each group of rows that queried the
    same members.
    """

    def __init__(self, n_rows: int) -> None:
        self.kernel_evaluations = np.zeros(n_rows)
        self.unique = np.zeros(n_rows)
        self.hyperplanes = np.zeros(n_rows)
        self.member_sets: dict[tuple[int, ...], int] = {}
        self.queries: list[tuple[IntArray, int | IntArray]] = []

    def add(self, rows: IntArray, members: Sequence[int], cost: Cost) -> None:
        """Count that all `members` were queried for each of `rows`, at this cost per row."""
        self.kernel_evaluations[rows] += cost.kernel_evaluations
        self.unique[rows] += cost.unique_kernel_evaluations
        self.hyperplanes[rows] += cost.hyperplanes
        member_set = self.member_sets.setdefault(tuple(members), len(self.member_sets))
        self.queries.append((rows, member_set))

    def add_each(self, rows: IntArray, members: IntArray, costs: Cost) -> None:
        """Count that `members[i]` was queried for `rows[i]`; `costs` are those of all members."""
        self.kernel_evaluations[rows] += np.asarray(costs.kernel_evaluations)[members]
        self.unique[rows] += np.asarray(costs.unique_kernel_evaluations)[members]
        self.hyperplanes[rows] += np.asarray(costs.hyperplanes)[members]
        self.queries.append((rows, members))

    def add_routing(self, routing: Routing) -> None:
        """Count the cost of a router for each row."""
        if routing.hyperplanes is not None:
            self.hyperplanes += routing.hyperplanes
        if routing.kernel_evaluations is not None:
            self.kernel_evaluations += routing.kernel_evaluations
            self.unique += routing.kernel_evaluations

    def members_of(self, row: int) -> list[int]:
        """The members queried for one row, in the order of the queries."""
        member_sets = list(self.member_sets)
        found: list[int] = []
        for rows, queried in self.queries:
            if isinstance(queried, int):
                found += member_sets[queried] if (rows == row).any() else ()
            else:
                found += queried[rows == row].tolist()
        return found

    def cost(self, members: Sequence[Member]) -> Cost:
        """The cost by row; unique evaluations count shared support vectors once."""
        repeats = self._count_repeats(members)
        return Cost(self.kernel_evaluations, self.unique - repeats, self.hyperplanes)

    def _count_repeats(self, members: Sequence[Member]) -> FloatArray | float:
        """The number of repeated support vectors among the members queried for each row."""
        keys = _find_shared(members)
        if not keys or not self.queries:
            return 0.0
        groups, group_of = self._group_rows(len(members))
        sizes = np.array([len(member.support) for member in members], dtype=float)
        sizes[[number for number in range(len(members)) if number not in keys]] = 0.0
        points = _mark_points(keys, members)
        repeats = np.zeros(groups.shape[0])
        # A single member, such as the leaf of a tree, repeats nothing.
        several = np.flatnonzero(np.diff(groups.indptr) > 1)
        listed = groups[several] @ sizes
        block_of = (np.cumsum(listed) / BLOCK_ENTRIES).astype(np.intp)
        for block in np.unique(block_of):
            here = block_of == block
            distinct = np.diff((groups[several[here]] @ points).indptr)
            repeats[several[here]] = listed[here] - distinct
        return np.asarray(repeats[group_of])

    def _group_rows(self, n_members: int) -> tuple[Any, IntArray]:
        """Group rows that queried the same members: (groups, members), group of each row."""
        sizes = [len(members) for members in self.member_sets]
        in_set = _mark(
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([np.zeros(0, dtype=np.intp), *map(np.array, self.member_sets)]),
            (len(sizes), n_members),
        )
        row = np.concatenate([rows for rows, _ in self.queries])
        # Sets of single members follow after the others.
        member_set = np.concatenate(
            [
                np.full(len(rows), queried) if isinstance(queried, int) else queried + len(sizes)
                for rows, queried in self.queries
            ]
        )
        queried = _mark(row, member_set, (len(self.unique), len(sizes) + n_members))
        # Hash the sets of a row: equal sums of random numbers mean equal sets.
        salt = np.random.default_rng(0).integers(2**63, size=queried.shape[1], dtype=np.uint64)
        _, one_row, group_of = np.unique(queried @ salt, return_index=True, return_inverse=True)
        in_set = sparse.vstack([in_set, sparse.eye_array(n_members, dtype=np.uint64)], "csr")
        return sparse.csr_array(queried[one_row] @ in_set).astype(bool), group_of


def _mark(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    """A CSR matrix with a 1 at each (row, column)."""
    ones = np.ones(len(row), dtype=np.uint64)
    return sparse.csr_array((ones, (row, column)), shape=shape)


def _mark_points(keys: dict[int, Any], members: Sequence[Member]) -> Any:
    """Mark the support vectors of the members with a key: (members, distinct points) as CSR."""
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    stride = 1 + max(int(members[number].support.max()) for number in keys)
    names = np.concatenate(
        [members[number].support + number_of[key] * stride for number, key in keys.items()]
    )
    owners = np.repeat(list(keys), [len(members[number].support) for number in keys])
    distinct, column = np.unique(names, return_inverse=True)
    return _mark(owners, column, (len(members), len(distinct))).astype(bool)


def _find_shared(members: Sequence[Member]) -> dict[int, Any]:
    """The (view, kernel) by number of the members that have it in common with another."""
    keys = {
        number: (id(member.view), member.model.kernel)
        for number, member in enumerate(members)
        if len(member.support) and member.model.kernel is not None
    }
    counts = Counter(keys.values())
    return {number: key for number, key in keys.items() if counts[key] > 1}
