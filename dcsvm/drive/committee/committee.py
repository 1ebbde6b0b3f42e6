"""The members that predict, asked together, and what asking them cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.answers import Answers, mean_or_nan
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion
from dcsvm.base.problem import union
from dcsvm.base.routing import Division, Router, Routing
from dcsvm.drive.committee.cost_counter import CostCounter
from dcsvm.drive.committee.shared_kernels import MemberBlock, pool_points
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

#: Bytes that one block of kernel values may take; a constant, so that blocks never depend on the
#: machine and neither do the bits of a prediction.
BLOCK_BYTES = 2**26
#: Up to this many entries a table of codes is quicker as a plain array.
SMALL_CODE = 2**18


@attrs.frozen(eq=False)
class Group:
    """Members first .. last - 1 of a committee, and the router that chooses among them."""

    first: int
    last: int
    router: Router | None = None


@attrs.frozen(eq=False, slots=False)
class Committee:
    """The members that predict, with the routers of their groups."""

    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    n_classes: int
    cost_counter: CostCounter | None = attrs.field(default=None, metadata={"stored": False})
    _seated: dict[tuple[int, ...], MemberBlock] = attrs.field(
        factory=dict, metadata={"stored": False}, alias="seated"
    )

    @classmethod
    def of(cls, division: Division, n_classes: int) -> Committee:
        """Seat the members that a division names, group after group."""
        members: list[Member] = []
        groups: list[Group] = []

        def seat(each: Division) -> None:
            for group in each.groups:
                seat(group)
            if each.members is not None:
                first = len(members)
                mine = [attrs.evolve(member, part=None) for member in each.members]
                members.extend(mine if each.router else pool_points(mine))
                groups.append(Group(first, len(members), each.router))

        seat(division)
        return cls(tuple(members), tuple(groups), n_classes)

    @cached_property
    def code(self) -> Any:
        """The codes of all members below each other, (columns, classes), as CSR."""
        return sparse.csr_array(np.vstack([member.code for member in self.members]))

    @cached_property
    def starts(self) -> IntArray:
        """Where each member's columns start; one entry more than there are members."""
        return np.cumsum([0] + [len(member.code) for member in self.members])

    @property
    def support(self) -> IntArray:
        """The training rows that any member kept."""
        return union(member.support for member in self.members)

    def with_counter(self, n_rows: int) -> Committee:
        """The same committee with a fresh counter for n_rows rows."""
        return attrs.evolve(self, cost_counter=CostCounter(n_rows))

    def answers(self, X: Matrix) -> Iterator[Answers]:
        """Ask about rows X (n, d): everyone that the routers name, block after block.

        A row comes up once for every group (without a router) or for every member it is routed
        to; what one block of Answers says is meant to be added to what the others say.
        """
        for group in self.groups:
            yield from self._answers_of(X, group)

    def ask(
        self, X: Matrix, rows: IntArray, members: IntArray, weights: FloatArray | None = None
    ) -> Answers:
        """Ask some members about some rows of X, and return what they said.

        The cost is counted if there is a counter.
        """
        here = X if len(rows) == X.shape[0] and _ascending(rows) else X[rows]
        if len(members) == 1:
            asked: Member | MemberBlock = self.members[members[0]]
            owner: IntArray = np.zeros(len(asked.code), dtype=np.intp)
        else:
            asked = self._seats(tuple(members.tolist()))
            owner = asked.owner
        if self.cost_counter is None:
            values = asked.scores(here)
        else:
            values, cost = asked.answer(here)
            self.cost_counter.add(rows, members.tolist(), cost)
        return Answers(rows, members, values, asked.code, owner, weights)

    def mean_scores(self, X: Matrix, unseen: float | None = None) -> FloatArray:
        """The weighted mean score of each class over those asked that can speak for it.

        (n, classes), NaN where no one can. A group with a router has seen what is around here:
        with `unseen`, a class that those it names never met counts so much, instead of nothing.
        """
        if unseen is None or not any(group.router for group in self.groups):
            return self._means(X, self.answers(X))
        sums = np.zeros((X.shape[0], self.n_classes))
        known = np.zeros_like(sums)
        spoken = np.zeros(sums.shape, dtype=bool)
        for group in self.groups:
            added, met = self._sums(X, self._answers_of(X, group))
            spoken |= met > 0
            if group.router is not None:
                missing = (met == 0) & (met > 0).any(axis=1, keepdims=True)
                weight = met.max(axis=1, keepdims=True)
                added, met = added + missing * weight * unseen, met + missing * weight
            sums += added
            known += met
        return mean_or_nan(sums, np.where(spoken, known, 0.0))

    def routed_labels(self, X: Matrix) -> IntArray:
        """The winners of rows X, (n,): what the one member says that a row is routed to.

        Where a router names several members, the largest of `mean_scores` wins.
        """
        labels = np.zeros(X.shape[0], dtype=np.intp)
        for group in self.groups:
            places = [(np.arange(X.shape[0]), group.first)]
            if group.router is not None:
                routing = group.router.route(X)
                if routing.weight is not None or len(routing.row) != X.shape[0]:
                    return np.asarray(_winners(self.mean_scores(X)))
                places = [(routing.row[at], group.first + n) for n, at in _by_member(routing)]
            elif group.last - group.first != 1 or len(self.groups) != 1:
                return np.asarray(_winners(self.mean_scores(X)))
            for rows, number in places:
                for block in self._blocks(rows, np.array([number])):
                    here = X if len(block) == X.shape[0] and _ascending(block) else X[block]
                    said = self.members[number].labels(here)
                    if said is None:
                        return np.asarray(_winners(self.mean_scores(X)))
                    labels[block] = said
        return labels

    def values(self, X: Matrix) -> FloatArray:
        """All columns of all members for rows X, (n, columns); NaN where no one was asked."""
        table = np.full((X.shape[0], self.starts[-1]), np.nan)
        for said in self.answers(X):
            table[np.ix_(said.rows, self._columns(said.members))] = said.values
        return table

    def table(self, X: Matrix) -> FloatArray:
        """What a second-level learner sees of rows X: (n, columns of `table_code`).

        Groups that every row asks have the columns of their members. A group with a router has a
        column for each class (one for two classes), the mean of those that a row was sent to, so
        that its columns mean the same however the group is divided; NaN for a class that none of
        them can speak for.
        """
        columns = []
        for group in self.groups:
            said = self._answers_of(X, group)
            if group.router is None:
                width = self.starts[group.last] - self.starts[group.first]
                block = np.empty((X.shape[0], width))
                for answers in said:
                    block[answers.rows] = answers.values
            else:
                block = _one_column(self._means(X, said))
            columns.append(block)
        return np.hstack(columns)

    @cached_property
    def table_code(self) -> IntArray:
        """What the columns of `table` mean for each class, like the code of a member."""
        own = (
            np.array([[-1, 1]], dtype=np.int8)
            if self.n_classes == 2
            else np.eye(self.n_classes, dtype=np.int8)
        )
        codes: list[IntArray] = []
        for group in self.groups:
            members = self.members[group.first : group.last]
            codes += [own] if group.router else [member.code for member in members]
        return np.vstack(codes)

    def _answers_of(self, X: Matrix, group: Group) -> Iterator[Answers]:
        if group.router is not None:
            yield from self._answer_routed(X, group, group.router)
            return
        everyone = np.arange(group.first, group.last)
        for rows in self._blocks(np.arange(X.shape[0]), everyone):
            yield self.ask(X, rows, everyone)

    def _means(self, X: Matrix, said: Iterator[Answers]) -> FloatArray:
        return mean_or_nan(*self._sums(X, said))

    def _sums(self, X: Matrix, said: Iterator[Answers]) -> tuple[FloatArray, FloatArray]:
        """The sums of what was said of each class, and the weight of those who spoke of it."""
        sums = np.zeros((X.shape[0], self.n_classes))
        known = np.zeros_like(sums)
        for answers in said:
            sums[answers.rows] += answers.sums()
            known[answers.rows] += answers.total_weights()
        return sums, known

    def _answer_routed(self, X: Matrix, group: Group, router: Router) -> Iterator[Answers]:
        routing = router.route(X)
        if self.cost_counter is not None:
            self.cost_counter.add_routing(routing)
        for number, places in _by_member(routing):
            member = np.array([group.first + number])
            for block in self._blocks(places, member):
                weight = None if routing.weight is None else routing.weight[block][:, None]
                yield self.ask(X, routing.row[block], member, weight)

    def _columns(self, members: IntArray) -> IntArray:
        return np.concatenate([np.arange(self.starts[m], self.starts[m + 1]) for m in members])

    def _seats(self, numbers: tuple[int, ...]) -> MemberBlock:
        if numbers not in self._seated:
            code = self.code[self._columns(np.array(numbers))].astype(float)
            if np.prod(code.shape) <= SMALL_CODE:
                code = code.toarray()
            self._seated[numbers] = MemberBlock.of(self.members, numbers, code)
        return self._seated[numbers]

    def _blocks(self, rows: IntArray, members: IntArray) -> Iterator[IntArray]:
        size = min(max(BLOCK_BYTES // (8 * max(self._width(members), 1)), 64), 4096)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def _width(self, members: IntArray) -> int:
        """How many numbers a row may need at once: kernel values, or answers."""
        if len(members) == 1:
            member = self.members[members[0]]
            return max(_points_of(member), len(member.code))
        seats = self._seats(tuple(members.tolist()))
        pools = [panel.pool.shape[0] for panel in seats.panels]
        alone = [_points_of(member) for member in seats.singles]
        return int(max(len(seats.owner), *pools, *alone, 0))


def _by_member(routing: Routing) -> Iterator[tuple[int, IntArray]]:
    """Each member that is asked, and where in the routing it is."""
    order = np.argsort(routing.member, kind="stable")
    asked, first = np.unique(routing.member[order], return_index=True)
    for number, places in zip(asked, np.split(order, first[1:]), strict=True):
        yield int(number), places


def _points_of(member: Member) -> int:
    """How many kernel values a row needs at once; a pipeline asks its own members in blocks."""
    return len(member.support) if isinstance(member.model, KernelExpansion) else 0


def _one_column(scores: FloatArray) -> FloatArray:
    """Scores of two classes as one column, positive for the second; more classes as they are."""
    if scores.shape[1] != 2:
        return scores
    first, second = scores[:, :1], scores[:, 1:]
    both = (second - first) / 2
    return np.where(np.isnan(first), second, np.where(np.isnan(second), -first, both))


def _winners(scores: FloatArray) -> IntArray:
    return np.asarray(np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))


def _ascending(rows: Sequence[int] | IntArray) -> bool:
    return bool((np.diff(rows) == 1).all())
