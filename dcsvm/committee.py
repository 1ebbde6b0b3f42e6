"""The members that predict, asked together, and what asking them cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.answers import Answers, mean_or_nan
from dcsvm.division import Division, Router, Routing
from dcsvm.member import Member
from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix
from dcsvm.panel import Seats, pooled
from dcsvm.problem import union
from dcsvm.tally import Tally

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
    """The members that predict, with the routers of their groups. Immutable but for its tally."""

    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    n_classes: int
    tally: Tally | None = attrs.field(default=None, metadata={"stored": False})
    _seated: dict[tuple[int, ...], Seats] = attrs.field(
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
                members.extend(each.members if each.router else pooled(each.members))
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

    def counted(self, n_rows: int) -> Committee:
        """The same committee with a fresh tally for a question about n_rows rows."""
        return attrs.evolve(self, tally=Tally(n_rows))

    def answers(self, X: Matrix) -> Iterator[Answers]:
        """Ask about rows X (n, d): everyone that the routers name, block after block.

        A row comes up once for every group (without a router) or for every member it is routed
        to; what one block of Answers says is meant to be added to what the others say.
        """
        for group in self.groups:
            everyone = np.arange(group.first, group.last)
            if group.router is None:
                for rows in self._blocks(np.arange(X.shape[0]), everyone):
                    yield self.ask(X, rows, everyone)
            else:
                yield from self._routed(X, group, group.router)

    def ask(
        self, X: Matrix, rows: IntArray, members: IntArray, weights: FloatArray | None = None
    ) -> Answers:
        """Ask some members about some rows of X, and return what they said.

        Where a tally is kept, it is counted.
        """
        here = X if len(rows) == X.shape[0] and _ascending(rows) else X[rows]
        if len(members) == 1:
            asked: Member | Seats = self.members[members[0]]
            owner: IntArray = np.zeros(len(asked.code), dtype=np.intp)
        else:
            asked = self._seats(tuple(members.tolist()))
            owner = asked.owner
        if self.tally is None:
            values = asked.scores(here)
        else:
            values, cost = asked.answer(here)
            self.tally.add(rows, members.tolist(), cost)
        return Answers(rows, members, values, asked.code, owner, weights)

    def mean_scores(self, X: Matrix) -> FloatArray:
        """The weighted mean score of each class over those asked that can speak for it.

        (n, classes), NaN where no one can.
        """
        sums = np.zeros((X.shape[0], self.n_classes))
        known = np.zeros_like(sums)
        for answers in self.answers(X):
            sums[answers.rows] += answers.sums()
            known[answers.rows] += answers.known()
        return mean_or_nan(sums, known)

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

    def _routed(self, X: Matrix, group: Group, router: Router) -> Iterator[Answers]:
        routing = router.route(X)
        if self.tally is not None:
            self.tally.add_routing(routing)
        for number, places in _by_member(routing):
            member = np.array([group.first + number])
            for block in self._blocks(places, member):
                weight = None if routing.weight is None else routing.weight[block][:, None]
                yield self.ask(X, routing.row[block], member, weight)

    def _columns(self, members: IntArray) -> IntArray:
        return np.concatenate([np.arange(self.starts[m], self.starts[m + 1]) for m in members])

    def _seats(self, numbers: tuple[int, ...]) -> Seats:
        if numbers not in self._seated:
            code = self.code[self._columns(np.array(numbers))].astype(float)
            if np.prod(code.shape) <= SMALL_CODE:
                code = code.toarray()
            self._seated[numbers] = Seats.of(self.members, numbers, code)
        return self._seated[numbers]

    def _blocks(self, rows: IntArray, members: IntArray) -> Iterator[IntArray]:
        size = int(np.clip(BLOCK_BYTES // (8 * max(self._width(members), 1)), 64, 4096))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def _width(self, members: IntArray) -> int:
        """How many numbers a row may need at once: kernel values, or answers."""
        if len(members) == 1:
            member = self.members[members[0]]
            return max(len(member.support), len(member.code))
        seats = self._seats(tuple(members.tolist()))
        pools = [panel.pool.shape[0] for panel in seats.panels]
        alone = [len(member.support) for member in seats.singles]
        return int(max(len(seats.owner), *pools, *alone, 0))


def _by_member(routing: Routing) -> Iterator[tuple[int, IntArray]]:
    """Each member that is asked, and where in the routing it is."""
    order = np.argsort(routing.member, kind="stable")
    asked, first = np.unique(routing.member[order], return_index=True)
    for number, places in zip(asked, np.split(order, first[1:]), strict=True):
        yield int(number), places


def _winners(scores: FloatArray) -> IntArray:
    return np.asarray(np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))


def _ascending(rows: Sequence[int] | IntArray) -> bool:
    return bool((np.diff(rows) == 1).all())
