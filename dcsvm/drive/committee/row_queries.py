"""Rows that each ask a member of their own choice, without a loop over the members."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.feature_views import View
from dcsvm.base.member import Member
from dcsvm.base.models import Cost, Hyperplanes, KernelExpansion
from dcsvm.drive.committee.committee import BLOCK_BYTES, Committee
from dcsvm.drive.committee.packed_coefficients import PairColumns
from dcsvm.drive.committee.shared_kernels import panels_of
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import Expansion, class_sums, walk, walk_one
from dcsvm.numeric.kernels.distances import as_dense
from dcsvm.numeric.kernels.kernel import Kernel


@attrs.frozen(eq=False)
class Stack(ABC):
    """Members of one kind and view whose answers to row after row are gathered from tables."""

    numbers: tuple[int, ...]
    view: View | None

    #: Rows with the same member from which on it is worth a question of its own.
    many_rows: ClassVar[float] = np.inf

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers are prepared for a row."""

    @abstractmethod
    def prepare(self, seen: Matrix) -> Any:
        """What all questions about the rows share, worked out once."""

    @abstractmethod
    def values(self, prepared: Any, rows: IntArray, members: IntArray) -> FloatArray:
        """What `members[i]` (places in this stack) says of `rows[i]` of the prepared ones."""


@attrs.frozen(eq=False)
class Expansions(Stack):
    """One-column expansions over a shared pool: coefficients by member, from start to start."""

    many_rows = 32

    kernel: Kernel
    pool: Matrix
    starts: IntArray
    points: IntArray
    coefficients: FloatArray
    biases: FloatArray

    @classmethod
    def of(cls, numbers: Sequence[int], members: Sequence[Member]) -> Expansions:
        models: list[Any] = [member.model for member in members]
        sizes = [len(model.points.ids) for model in models]
        return cls(
            tuple(numbers),
            members[0].view,
            models[0].kernel,
            models[0].points.pool,
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([model.points.ids for model in models]),
            np.concatenate([model.coefficients[:, 0] for model in models]),
            np.concatenate([model.biases for model in models]),
        )

    def in_pairs(self, code: IntArray) -> PairColumns | None:
        """The same members arranged by the classes of their code; None if not all pairs."""
        places = np.repeat(np.arange(len(self.numbers)), np.diff(self.starts))
        table = sparse.csr_array(
            (self.coefficients, (self.points, places)),
            shape=(self.pool.shape[0], len(self.numbers)),
        )
        return PairColumns.of(self.kernel, self.pool, table, self.biases, code)

    @property
    def width(self) -> int:
        return int(self.pool.shape[0])

    def prepare(self, seen: Matrix) -> Any:
        return self.kernel(seen, self.pool)

    def values(self, prepared: Any, rows: IntArray, members: IntArray) -> FloatArray:
        if len(rows) == 1:
            (member,) = members
            points = slice(self.starts[member], self.starts[member + 1])
            terms = prepared[rows[0], self.points[points]] * self.coefficients[points]
            return np.asarray(terms.sum() + self.biases[members])
        sizes = self.starts[members + 1] - self.starts[members]
        ends = np.cumsum(sizes)
        entries = np.arange(ends[-1]) + np.repeat(self.starts[members] - ends + sizes, sizes)
        terms = prepared[np.repeat(rows, sizes), self.points[entries]]
        terms *= self.coefficients[entries]
        owner = np.repeat(np.arange(len(rows)), sizes)
        return np.bincount(owner, terms, minlength=len(rows)) + self.biases[members]


@attrs.frozen(eq=False)
class Pairs(Stack):
    """Expansions that are all pairs of the classes: a row's sums by class answer every pair."""

    expansion: Expansion
    first: IntArray
    second: IntArray
    signs: FloatArray
    biases: FloatArray

    @classmethod
    def of(cls, stack: Expansions, code: IntArray) -> Pairs | None:
        form = stack.in_pairs(code)
        if form is None:
            return None
        k = int(np.count_nonzero(code.any(axis=0)))
        first, second = (each[form.places] for each in np.triu_indices(k, 1))
        biases = form.expansion.biases[form.places]
        return cls(stack.numbers, stack.view, form.expansion, first, second, form.signs, biases)

    @property
    def width(self) -> int:
        counts = self.expansion.counts
        return 0 if counts is None else len(counts) ** 2

    def prepare(self, seen: Matrix) -> Any:
        return class_sums(self.expansion, seen)

    def values(self, prepared: Any, rows: IntArray, members: IntArray) -> FloatArray:
        first, second = self.first[members], self.second[members]
        sums = prepared[rows, first, second - 1] + prepared[rows, second, first]
        return np.asarray(self.signs[members] * (sums + self.biases[members]))


@attrs.frozen(eq=False)
class Planes(Stack):
    """One-column hyperplanes below each other."""

    weights: FloatArray
    biases: FloatArray

    @classmethod
    def of(cls, numbers: Sequence[int], members: Sequence[Member]) -> Planes:
        models: list[Any] = [member.model for member in members]
        return cls(
            tuple(numbers),
            members[0].view,
            np.stack([model.weights[:, 0] for model in models]),
            np.concatenate([model.biases for model in models]),
        )

    @property
    def width(self) -> int:
        return int(self.weights.shape[1])

    def prepare(self, seen: Matrix) -> Any:
        return seen

    def values(self, prepared: Any, rows: IntArray, members: IntArray) -> FloatArray:
        here, weights = prepared[rows], self.weights[members]
        if hasattr(here, "multiply"):
            products = np.asarray(here.multiply(weights).sum(axis=1)).ravel()
        else:
            products = np.einsum("ij,ij->i", here, weights)
        return np.asarray(products + self.biases[members])


@attrs.frozen(eq=False, slots=False)
class RowQueries:
    """A committee prepared for rows that each ask one member at a time.

    Members asked by many rows at once answer through `Committee.ask`; those asked by a few are
    answered together from the tables of their stack. The counter counts each row's own
    question, and a support vector that was not asked for is not counted.
    """

    members: tuple[Member, ...]
    stacks: tuple[Stack, ...]
    stack_of: IntArray
    place_of: IntArray
    costs: Cost

    @classmethod
    def of(cls, committee: Committee) -> RowQueries:
        """Prepare a committee; worth it where it will be asked more than once."""
        members = committee.members
        stacks = tuple(_stacks(members))
        stack_of = np.full(len(members), -1)
        place_of = np.zeros(len(members), dtype=np.intp)
        counts = np.zeros((3, len(members)))
        for stack, each in enumerate(stacks):
            numbers = np.array(each.numbers)
            stack_of[numbers] = stack
            place_of[numbers] = np.arange(len(numbers))
            counts[:, numbers] = np.transpose(
                [attrs.astuple(members[number].model.cost) for number in each.numbers]
            )
        return cls(members, stacks, stack_of, place_of, Cost(*counts))

    @cached_property
    def whole(self) -> bool:
        """Whether one stack answers for everyone, however many ask."""
        return (
            len(self.stacks) == 1
            and self.stacks[0].many_rows == np.inf
            and bool((self.stack_of == 0).all())
        )

    def walker(self, order: IntArray) -> Walker | None:
        """Walks over all pairs of the classes in `order`, where one pool serves it."""
        for panel in panels_of(self.members, range(len(self.members))):
            if len(panel.numbers) == len(self.members) and all(
                _is_plain(member.model) for member in panel.members
            ):
                code = np.vstack([member.code for member in panel.members])[:, order]
                form = Expansions.of(panel.numbers, panel.members).in_pairs(code)
                if form is not None:
                    return Walker(form.expansion, order, panel.members[0].view)
        return None

    def hearings(self, committee: Committee, X: Matrix) -> Iterator[Hearing]:
        """The rows of X (n, d) in blocks, each ready to ask again and again."""
        widest = max((stack.width for stack in self.stacks), default=1)
        size = int(np.clip(BLOCK_BYTES // (8 * widest), 64, 4096))
        for start in range(0, X.shape[0], size):
            yield Hearing(self, committee, X, np.arange(start, min(start + size, X.shape[0])))


@attrs.frozen(eq=False)
class Walker:
    """All pairs of some classes over one pool, for rows that only want to know their class."""

    expansion: Expansion
    order: IntArray
    view: View | None

    def labels(self, X: Matrix) -> IntArray:
        """The class that is left of the list after each row of X (n, d) walked it.

        A single row takes microseconds.
        """
        seen = X if self.view is None else self.view.apply(X)
        if X.shape[0] == 1:
            return self.order[[walk_one(self.expansion, as_dense(seen)[0])]]
        return np.asarray(self.order[walk(self.expansion, seen)])


@attrs.frozen(eq=False)
class Hearing:
    """A block of rows of X that ask their members, question after question."""

    each: RowQueries
    committee: Committee
    X: Matrix
    rows: IntArray
    _prepared: dict[int, Any] = attrs.field(factory=dict)

    def values(self, members: IntArray) -> FloatArray:
        """What `members[i]`, which has one column, says of `rows[i]`: (rows,)."""
        if self.each.whole:
            return self._gather(0, np.arange(len(members)), members)
        asked, whose, counts = np.unique(members, return_inverse=True, return_counts=True)
        stack = self.each.stack_of[asked]
        for number, each in enumerate(self.each.stacks):
            stack[(stack == number) & (counts >= each.many_rows)] = -1
        values = np.empty(len(members))
        for number in np.unique(stack[stack >= 0]):
            mine = np.flatnonzero(stack[whose] == number)
            values[mine] = self._gather(int(number), mine, members[mine])
        rest = np.flatnonzero(stack[whose] < 0)
        rest = rest[np.argsort(whose[rest], kind="stable")]
        for places in np.split(rest, np.cumsum(counts[stack < 0])[:-1]) if len(rest) else ():
            said = self.committee.ask(self.X, self.rows[places], members[places[:1]])
            values[places] = said.values[:, 0]
        return values

    def _gather(self, number: int, places: IntArray, members: IntArray) -> FloatArray:
        stack = self.each.stacks[number]
        if number not in self._prepared:
            here = self.X[self.rows]
            seen = here if stack.view is None else stack.view.apply(here)
            self._prepared[number] = stack.prepare(seen)
        if self.committee.cost_counter is not None:
            self.committee.cost_counter.add_each(self.rows[places], members, self.each.costs)
        return stack.values(self._prepared[number], places, self.each.place_of[members])


def _stacks(members: Sequence[Member]) -> Iterator[Stack]:
    """The members that can be answered from tables, those that share theirs together."""
    for panel in panels_of(members, range(len(members))):
        plain = [number for number in panel.numbers if _is_plain(members[number].model)]
        if len(plain) > 1:
            stack = Expansions.of(plain, [members[number] for number in plain])
            code = np.vstack([members[number].code for number in plain])
            yield Pairs.of(stack, code) or stack
    planes: dict[Any, list[int]] = {}
    for number, member in enumerate(members):
        model = member.model
        if isinstance(model, Hyperplanes) and model.weights.shape[1] == 1:
            planes.setdefault((id(member.view), len(model.weights)), []).append(number)
    for numbers in planes.values():
        if len(numbers) > 1:
            yield Planes.of(numbers, [members[number] for number in numbers])


def _is_plain(model: Any) -> bool:
    return (
        isinstance(model, KernelExpansion)
        and model.class_sizes is None
        and model.coefficients.shape[1] == 1
    )
