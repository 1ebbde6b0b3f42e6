"""Committee: the members that predict, queried together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.answers import Answers, mean_or_nan
from dcsvm.base.errors import ContractError
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion
from dcsvm.base.problem import union
from dcsvm.base.routing import Division, Router, Routing
from dcsvm.base.stored_fields import PlainState
from dcsvm.drive.committee.cost_counter import CostCounter
from dcsvm.drive.committee.group import (
    Group,
    build_table_code,
    check_groups,
    describe_size,
    find_assigned_members,
    find_winners,
    merge_groups,
    one_column,
    replace_members,
    reweigh_groups,
)
from dcsvm.drive.committee.shared_kernels import (
    MemberBlock,
    attach_pools,
    detach_pools,
    pool_points,
)
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.stored_arrays import Stored

#: Bytes of one block of kernel values; constant, so that results do not depend on the machine.
BLOCK_BYTES = 2**26
#: Tables of codes with at most this many entries are dense.
SMALL_CODE = 2**18


@attrs.frozen(eq=False, slots=False)
class Committee(PlainState, Stored):
    """The members that predict, with the routers of their groups."""

    #: The members that predict, numbered from 0, group by group.
    members: tuple[Member, ...]
    #: Which members are side by side: those of a division, or of each division of a sum.
    groups: tuple[Group, ...]
    #: The number of classes of the divided problem, also of those that no member knows.
    n_classes: int
    cost_counter: CostCounter | None = attrs.field(default=None, metadata={"stored": False})
    votes: bool = attrs.field(default=True, metadata={"stored": False})
    _blocks_by_members: dict[tuple[int, ...], MemberBlock] = attrs.field(
        factory=dict, metadata={"stored": False}, alias="blocks_by_members"
    )

    def __repr__(self) -> str:
        return f"Committee({describe_size(self)}, {self.n_classes} classes)"

    @classmethod
    def of(cls, division: Division, n_classes: int, keep_rows: bool = False) -> Committee:
        """Build the committee of a division, group by group; called once per fit.

        With `keep_rows`, members know the rows of their parts.
        """
        members: list[Member] = []
        groups: list[Group] = []

        def add(each: Division) -> None:
            for group in each.groups:
                add(group)
            if each.members is not None:
                first = len(members)
                pooled = {} if each.router else pool_points(each.members)
                for number, member in enumerate(each.members):
                    kept = member.part.rows if keep_rows and member.part else member.rows
                    seen = pooled.get(number, member.model), member.code, member.view
                    members.append(Member(*seen, member.support, member.n_rows, None, kept))
                ends = first, len(members)
                groups.append(Group(*ends, each.router, each.weights, each.structure))

        add(division)
        return cls(tuple(members), tuple(groups), n_classes)

    @classmethod
    def merge(cls, committees: Sequence[Committee]) -> Committee:
        """Put committees for the same classes side by side: the groups of all, with routers.

        A combiner that accepts "groups", such as `mean` or `vote`, combines them.
        Called by authors.
        """
        members, groups = merge_groups(committees)
        return cls(members, groups, committees[0].n_classes)

    def replace(self, members: Mapping[int, Member]) -> Committee:
        """Return this committee with some members replaced, such as by retrained ones.

        Called by authors. Routers, weights and structures stay as they are.
        """
        changed = replace_members(self.members, members, self.n_classes)
        return Committee(changed, self.groups, self.n_classes)

    def reweigh(self, weights: FloatArray) -> Committee:
        """Return the committee whose members have these weights (members,), and no others.

        Called by combiners that weigh members themselves, in `combine`, `margins` and
        `probabilities`. `answers`, `mean_scores` and `mean_probabilities` multiply them with
        those of the routers.
        """
        return attrs.evolve(self, groups=reweigh_groups(self.groups, weights))

    @property
    def structure(self) -> Any:
        """The structure of the division, None without one; with several groups, see `groups`.

        Called by combiners that accept a word whose decomposer leaves a structure.
        """
        if len(self.groups) > 1:
            raise ContractError("a committee of several groups has a structure for each of them")
        return self.groups[0].structure

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise ValueError unless groups and members fit; called by `save` and `load`."""
        check_groups(self, **sizes)
        return sizes

    def __getstate__(self) -> dict[str, Any]:
        members, pools = detach_pools(self.members)
        return super().__getstate__() | {"members": members, "pools": pools}

    def __setstate__(self, state: dict[str, Any]) -> None:
        members = attach_pools(state["members"], state["pools"])
        super().__setstate__(state | {"members": members})

    @cached_property
    def code(self) -> Any:
        """The codes of all members, stacked: (columns, classes) as CSR; called by combiners."""
        code = np.concatenate([member.code for member in self.members])
        rows, classes = np.nonzero(code != 0)  # of bits, which is faster than of numbers
        edges = np.searchsorted(rows, np.arange(len(code) + 1)).astype(np.int32)
        return sparse.csr_array((code[rows, classes], classes.astype(np.int32), edges), code.shape)

    @cached_property
    def starts(self) -> IntArray:
        """Where each member's columns start, (members + 1,); called by combiners.

        Without routers, columns starts[m] to starts[m + 1] - 1 of `table` are those of member m.
        """
        return np.cumsum([0] + [len(member.code) for member in self.members])

    @property
    def support(self) -> IntArray:
        """The support vectors of all members, as training rows (m,); called by authors."""
        return union(member.support for member in self.members)

    def with_counter(self, n_rows: int) -> Committee:
        """The same committee with a new counter of n_rows rows; called by `cost`."""
        return attrs.evolve(self, cost_counter=CostCounter(n_rows))

    def without_votes(self) -> Committee:
        """The same committee, answering with margins; called for probabilities."""
        return attrs.evolve(self, votes=False)

    def answers(self, X: Matrix) -> Iterator[Answers]:
        """Query all members that the routers choose for rows X (n, d), in blocks.

        A row occurs once per group without a router, and once per member that it is routed to.
        Called by `combine` of most combiners.
        """
        for group in self.groups:
            yield from self._answers_of(X, group)

    def ask(
        self, X: Matrix, rows: IntArray, members: IntArray, weights: FloatArray | None = None
    ) -> Answers:
        """Query some members (m,) for some rows (r,) of X (n, d), with weights (r, m) or None.

        Called by combiners that need not ask all members. A counter, if any, counts the cost.
        """
        here = X if len(rows) == X.shape[0] and _is_ascending(rows) else X[rows]
        if len(members) == 1:
            queried: Member | MemberBlock = self.members[members[0]]
            owner: IntArray = np.zeros(len(queried.code), dtype=np.intp)
        else:
            queried = self._member_block(tuple(members.tolist()))
            owner = queried.owner
        if self.cost_counter is None:
            values = queried.scores(here, self.votes)
        else:
            values, cost = queried.answer(here)
            self.cost_counter.add(rows, members.tolist(), cost)
        return Answers(rows, members, values, queried.code, owner, weights)

    def blocks(self, rows: IntArray, members: IntArray) -> Iterator[IntArray]:
        """Cut rows (r,) into blocks to `ask` members (m,) about; called by combiners."""
        size = min(max(BLOCK_BYTES // (8 * max(self._width(members), 1)), 64), 4096)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def mean_scores(self, X: Matrix, missing_score: float | None = None) -> FloatArray:
        """The weighted mean score of each class over the queried members that score it.

        For rows X (n, d), as (n, classes), NaN if no member does. With `missing_score`, a class
        that none of the members a row is routed to was trained on has this score in that group,
        instead of being ignored. Called by combiners that average.
        """
        if missing_score is None or not any(group.router for group in self.groups):
            return mean_or_nan(*self._sums(X, self.answers(X)))
        sums = np.zeros((X.shape[0], self.n_classes))
        known, scored = np.zeros_like(sums), np.zeros(sums.shape, dtype=bool)
        for group in self.groups:
            added, met = self._sums(X, self._answers_of(X, group))
            scored |= met > 0
            if group.router is not None:
                missing = (met == 0) & (met > 0).any(axis=1, keepdims=True)
                weight = met.max(axis=1, keepdims=True)
                added, met = added + missing * weight * missing_score, met + missing * weight
            sums += added
            known += met
        return mean_or_nan(sums, np.where(scored, known, 0.0))

    def mean_probabilities(self, X: Matrix) -> FloatArray | None:
        """The weighted mean of the probabilities of the members that each row is routed to.

        For rows X (n, d), as (n, classes), or None if a member has none. Rows sum to less where
        members lack classes. Called by `probabilities` of combiners.
        """
        sums = np.zeros((X.shape[0], self.n_classes))
        total = np.zeros((X.shape[0], 1))
        for group in self.groups:
            for rows, number, weights in self._places(X, group):
                own = self.members[number].probabilities(X[rows])
                if own is None:
                    return None
                share = 1.0 if weights is None else weights[:, None]
                sums[rows] += share * own
                total[rows] += share
        return np.asarray(sums / np.where(total > 0.0, total, 1.0))

    def find_assigned_members(self, X: Matrix) -> IntArray | None:
        """The one member (n,) of each row of X (n, d), or None; called for probabilities."""
        return find_assigned_members(self.groups, X)

    def missing_class_mass(self, X: Matrix) -> FloatArray:
        """The probability (n,) that a row is of a class its members lack: the least of theirs.

        Called by the core for the probabilities of rows X (n, d).
        """
        least = np.full(X.shape[0], 0.5)
        for group in self.groups:
            for rows, number, _ in self._places(X, group):
                least[rows] = np.minimum(least[rows], 1.0 / (self.members[number].n_rows + 2.0))
        return least

    def _places(
        self, X: Matrix, group: Group
    ) -> Iterator[tuple[IntArray, int, FloatArray | None]]:
        """Yield each member of a group with the rows of X that query it, and their weights."""
        if group.router is None:
            everyone = np.arange(X.shape[0])
            for number in range(group.first, group.last):
                yield everyone, number, group.weigh(number - group.first, None, X.shape[0])
            return
        routing = group.router.route(X)
        for number, at in _by_member(routing, group):
            weights = None if routing.weight is None else routing.weight[at]
            yield routing.row[at], group.first + number, group.weigh(number, weights, len(at))

    def routed_labels(self, X: Matrix) -> IntArray:
        """The classes (n,) predicted by the member that each row of X (n, d) is routed to.

        If a router chooses several, the class with the largest mean score. Called by combiners.
        """
        labels = np.zeros(X.shape[0], dtype=np.intp)
        for group in self.groups:
            places = [(np.arange(X.shape[0]), group.first)]
            if group.router is not None:
                routing = group.router.route(X)
                if getattr(routing, "weight", X) is not None or len(routing.row) != X.shape[0]:
                    return np.asarray(find_winners(self.mean_scores(X)))
                several = _by_member(routing, group)
                places = [(routing.row[at], group.first + n) for n, at in several]
            elif group.last - group.first != 1 or len(self.groups) != 1:
                return np.asarray(find_winners(self.mean_scores(X)))
            for rows, number in places:
                for block in self.blocks(rows, np.array([number])):
                    here = X if len(block) == X.shape[0] and _is_ascending(block) else X[block]
                    own = self.members[number].labels(here)
                    if own is None:
                        return np.asarray(find_winners(self.mean_scores(X)))
                    labels[block] = own
        return labels

    def values(self, X: Matrix) -> FloatArray:
        """The scores (n, columns) of members for X (n, d), NaN if not asked; called by authors."""
        table = np.full((X.shape[0], self.starts[-1]), np.nan)
        for answers in self.answers(X):
            table[np.ix_(answers.rows, self._columns(answers.members))] = answers.values
        return table

    def table(self, X: Matrix) -> FloatArray:
        """The features of rows X (n, d) for a second-level learner: (n, columns of `table_code`).

        A group without a router has the columns of its members. A group with a router has a
        column per class (one for two classes): the mean score of the members that a row is
        routed to, NaN for a class that none of them scores. Called for combiners
        that want answers.
        """
        columns = []
        for group in self.groups:
            answered = self._answers_of(X, group)
            if group.router is None:
                width = self.starts[group.last] - self.starts[group.first]
                block = np.empty((X.shape[0], width))
                for answers in answered:
                    block[answers.rows] = answers.values
            else:
                block = one_column(mean_or_nan(*self._sums(X, answered)))
            columns.append(block)
        return np.hstack(columns)

    @cached_property
    def table_code(self) -> IntArray:
        """The code (columns, classes) of `table`; called by combiners that want answers."""
        return build_table_code(self)

    def _answers_of(self, X: Matrix, group: Group) -> Iterator[Answers]:
        if group.router is not None:
            yield from self._answer_routed(X, group, group.router)
            return
        members = np.arange(group.first, group.last)
        for rows in self.blocks(np.arange(X.shape[0]), members):
            yield self.ask(X, rows, members, group.spread_weights(len(rows)))

    def _sums(self, X: Matrix, answered: Iterator[Answers]) -> tuple[FloatArray, FloatArray]:
        """The sums of scores by class, and the total weights of the columns in each sum."""
        sums = np.zeros((X.shape[0], self.n_classes))
        known = np.zeros_like(sums)
        for answers in answered:
            sums[answers.rows] += answers.sums()
            known[answers.rows] += answers.total_weights()
        return sums, known

    def _answer_routed(self, X: Matrix, group: Group, router: Router) -> Iterator[Answers]:
        routing = router.route(X)
        if self.cost_counter is not None:
            self.cost_counter.add_routing(routing)
        for number, places in _by_member(routing, group):
            member = np.array([group.first + number])
            for block in self.blocks(places, member):
                weights = None if routing.weight is None else routing.weight[block]
                weights = group.weigh(number, weights, len(block))
                columns = None if weights is None else weights[:, None]
                yield self.ask(X, routing.row[block], member, columns)

    def _columns(self, members: IntArray) -> IntArray:
        return np.concatenate([np.arange(self.starts[m], self.starts[m + 1]) for m in members])

    def _member_block(self, numbers: tuple[int, ...]) -> MemberBlock:
        if numbers not in self._blocks_by_members:
            code = self.code[self._columns(np.array(numbers))].astype(float)
            if np.prod(code.shape) <= SMALL_CODE:
                code = code.toarray()
            self._blocks_by_members[numbers] = MemberBlock.of(self.members, numbers, code)
        return self._blocks_by_members[numbers]

    def _width(self, members: IntArray) -> int:
        """The largest number of values per row: kernel values or scores."""
        if len(members) > 1:
            return self._member_block(tuple(members.tolist())).width
        member = self.members[members[0]]
        points = len(member.support) if isinstance(member.model, KernelExpansion) else 0
        return max(points, len(member.code))


def _by_member(routing: Routing, group: Group) -> Iterator[tuple[int, IntArray]]:
    """Each queried member of a group, and its positions in the routing."""
    if not isinstance(routing, Routing):
        group.check_routing(routing)
    order = np.argsort(routing.member, kind="stable")
    queried, first = np.unique(routing.member[order], return_index=True)
    if len(queried) and not 0 <= queried[0] <= queried[-1] < group.last - group.first:
        group.check_routing(routing)
    several = np.split(order, first[1:])[: len(queried)]  # of no rows, one empty piece
    for number, places in zip(queried, several, strict=True):
        yield int(number), places


def _is_ascending(rows: IntArray) -> bool:
    """Whether each row id is one more than the one before."""
    return bool((np.diff(rows) == 1).all())
