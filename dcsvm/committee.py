"""The members that predict, asked together, and what asking them cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.errors import ContractError
from dcsvm.interfaces import Combination, Division, Router
from dcsvm.models import Cost, LocalModel
from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix
from dcsvm.problem import Part, union
from dcsvm.tally import Tally
from dcsvm.views import View

#: Bytes that one block of kernel values may take; a constant, so that blocks never depend on the
#: machine and neither do the bits of a prediction.
BLOCK_BYTES = 2**26


@attrs.frozen(eq=False)
class Member:
    """A part with its fitted view and the model learned on it.

    `code` (columns, classes) says what each column of the model's scores means: +1 for a class
    that gains when it grows, -1 for one that loses, 0 for one the member cannot speak for.
    `support` holds the ids, in the divided Problem, of the rows that the model kept.
    """

    model: LocalModel
    code: IntArray
    view: View | None = None
    support: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    n_rows: int = 0
    part: Part | None = attrs.field(default=None, metadata={"stored": False})

    @property
    def duals(self) -> FloatArray | None:
        """Signed duals of the `support` rows, where the model has them."""
        return self.model.duals

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Score rows X (n, d) of the divided problem's features: (n, columns), and the cost."""
        values, cost = self.model.answer(X if self.view is None else self.view.apply(X))
        if values.shape != (X.shape[0], len(self.code)):
            raise ContractError(
                f"{type(self.model).__name__}.scores returned shape {values.shape} "
                f"where ({X.shape[0]}, {len(self.code)}) was expected"
            )
        return values, cost


@attrs.frozen(eq=False)
class Group:
    """Members first .. last - 1 of a committee, and the router that chooses among them."""

    first: int
    last: int
    router: Router | None = None


@attrs.frozen(eq=False)
class Answers:
    """What some members said of some rows.

    Parameters
    ----------
    rows : (r,) int array
        Rows of X, each at most once.
    members : (m,) int array
    values : (r, columns of these members) array
    code : (columns, classes) CSR matrix, or array where one member is asked
        The members' codes below each other.
    owner : (columns,) int array
        For each column the position in `members` of the member it belongs to.
    weights : (r, m) array, optional
        The router's weights; None means 1.
    """

    rows: IntArray
    members: IntArray
    values: FloatArray
    code: Any
    owner: IntArray
    weights: FloatArray | None = None

    def sums(self) -> FloatArray:
        """Each class's weighted sum of what speaks for it and against it: (r, classes)."""
        return np.asarray(self._weighted(self.values) @ self.code)

    def known(self) -> FloatArray:
        """The total weight of the columns that speak of each class: (r, classes)."""
        return np.asarray(self._weighted(np.ones_like(self.values)) @ abs(self.code))

    def gains(self) -> FloatArray:
        """Each class's weighted sum over columns with it on the positive side: (r, classes)."""
        return np.asarray(self._weighted(self.values) @ (self.code > 0))

    def gaining(self) -> FloatArray:
        """The total weight of the columns with each class on the positive side: (r, classes)."""
        return np.asarray(self._weighted(np.ones_like(self.values)) @ (self.code > 0))

    def votes(self) -> FloatArray:
        """The weighted number of members whose winning side holds each class: (r, classes)."""
        single = np.bincount(self.owner, minlength=len(self.members))[self.owner] == 1
        wins = np.where(self.values > 0, 1.0, -1.0)
        wins[:, ~single] = 0.0
        for position in np.unique(self.owner[~single]):
            columns = np.flatnonzero(self.owner == position)
            best = self.values[:, columns].argmax(axis=1)
            wins[np.arange(len(wins)), columns[best]] = 1.0
        wins = self._weighted(wins)
        for_plus, for_minus = np.maximum(wins, 0.0), np.maximum(-wins, 0.0)
        return np.asarray(for_plus @ (self.code > 0) + for_minus @ (self.code < 0))

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self.weights is None else values * self.weights[:, self.owner]


@attrs.frozen(eq=False, slots=False)
class Committee:
    """The members that predict, with the routers of their groups. Immutable but for its tally."""

    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    n_classes: int
    tally: Tally | None = attrs.field(default=None, metadata={"stored": False})

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
                members.extend(each.members)
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
        """Ask some members about some rows of X, count it, and return what they said."""
        here = X if len(rows) == X.shape[0] and _ascending(rows) else X[rows]
        values: list[FloatArray] = []
        total = Cost()
        for number in members:
            said, cost = self.members[number].answer(here)
            values.append(said)
            total += cost
        if self.tally is not None:
            self.tally.add(rows, members.tolist(), total)
        columns = np.concatenate([np.arange(self.starts[m], self.starts[m + 1]) for m in members])
        widths = [len(self.members[number].code) for number in members]
        return Answers(
            rows,
            members,
            np.hstack(values) if len(values) > 1 else values[0],
            self.code[columns] if len(members) > 1 else self.members[members[0]].code,
            np.repeat(np.arange(len(members)), widths),
            weights,
        )

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

    def values(self, X: Matrix) -> FloatArray:
        """All columns of all members for rows X, (n, columns); NaN where no one was asked."""
        table = np.full((X.shape[0], self.starts[-1]), np.nan)
        for said in self.answers(X):
            columns = np.concatenate(
                [np.arange(self.starts[m], self.starts[m + 1]) for m in said.members]
            )
            table[np.ix_(said.rows, columns)] = said.values
        return table

    def _routed(self, X: Matrix, group: Group, router: Router) -> Iterator[Answers]:
        routing = router.route(X)
        if self.tally is not None and routing.hyperplanes is not None:
            self.tally.add_hyperplanes(routing.hyperplanes)
        order = np.argsort(routing.member, kind="stable")
        asked, first = np.unique(routing.member[order], return_index=True)
        for number, places in zip(asked, np.split(order, first[1:]), strict=True):
            member = np.array([group.first + number])
            for block in self._blocks(places, member):
                weight = None if routing.weight is None else routing.weight[block][:, None]
                yield self.ask(X, routing.row[block], member, weight)

    def _blocks(self, rows: IntArray, members: IntArray) -> Iterator[IntArray]:
        widest = max(max(len(self.members[m].support), len(self.members[m].code)) for m in members)
        size = int(np.clip(BLOCK_BYTES // (8 * max(widest, 1)), 64, 4096))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


@attrs.frozen(eq=False)
class Composite(LocalModel):
    """A fitted pipeline: a committee and the combination of its answers. This is what nests."""

    committee: Committee
    combination: Combination
    ledger: list[Any] = attrs.field(factory=list, metadata={"stored": False})

    def scores(self, X: Matrix) -> FloatArray:
        return self.answer(X)[0]

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        scores, cost = self.class_scores(X)
        return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores, cost

    def class_scores(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """One finite score for each row and class, (n, classes), and what it took by row."""
        committee = self.committee.counted(X.shape[0])
        scores = self.combination.combine(committee, X)
        if scores.shape != (X.shape[0], committee.n_classes):
            raise ContractError(
                f"{type(self.combination).__name__}.combine returned shape {scores.shape} "
                f"where ({X.shape[0]}, {committee.n_classes}) was expected"
            )
        assert committee.tally is not None
        return floored(scores), committee.tally.cost(self.committee.members)

    @property
    def support(self) -> IntArray:
        return self.committee.support

    @property
    def cost(self) -> Cost:
        raise ContractError("a pipeline's cost differs by row: use answer(X)")


def mean_or_nan(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """`sums / counts`, NaN where nothing was counted."""
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def floored(scores: FloatArray) -> FloatArray:
    """Put a class that no member spoke for below all that were, at a certain no: -1 or less.

    Members mask such classes with NaN. Only here, at the last door, where scikit-learn wants
    finite numbers, does a masked class get one.
    """
    masked = np.isnan(scores)
    if not masked.any():
        return scores
    lowest = np.where(masked, np.inf, scores).min(axis=1, keepdims=True)
    floor = np.minimum(np.where(np.isfinite(lowest), lowest, 0.0), 0.0) - 1.0
    return np.where(masked, floor, scores)


def _ascending(rows: Sequence[int] | IntArray) -> bool:
    return len(rows) == 0 or (rows[0] == 0 and rows[-1] == len(rows) - 1)
