"""Row queries: each row queries a member of its own, without a loop over members."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import attrs
import numpy as np
from scipy import sparse

from dcsvm import Committee, Member
from dcsvm.numeric import (
    Expansion,
    FloatArray,
    IntArray,
    Kernel,
    Matrix,
    PairColumns,
    class_sums,
)
from dcsvm.toolbox import Cost, Hyperplanes, KernelExpansion, View

#: Bytes of one block of values; constant, so that results do not depend on the machine.
BLOCK_BYTES = 2**26


@attrs.frozen(eq=False)
class Stack(ABC):
    """Members of one kind and view whose scores are gathered from common arrays."""

    numbers: tuple[int, ...]
    view: View | None

    #: From this many rows on, a member is queried separately.
    many_rows: ClassVar[float] = np.inf

    @property
    @abstractmethod
    def width(self) -> int:
        """How many values are prepared for a row."""

    @abstractmethod
    def prepare(self, seen: Matrix) -> Any:
        """Compute what all queries of the rows share."""

    @abstractmethod
    def values(self, prepared: Any, rows: IntArray, members: IntArray) -> FloatArray:
        """The score of `members[i]` (places in this stack) for `rows[i]` of the prepared rows."""


@attrs.frozen(eq=False)
class Expansions(Stack):
    """One-column expansions over a shared pool, with concatenated coefficients."""

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
        """The same members arranged as pairs of classes; None if they are not all pairs."""
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
    """Expansions that are all pairs of classes, computed from sums by class."""

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
    """Stacked one-column hyperplanes."""

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
    """A committee prepared for rows that each query one member at a time.

    Members queried for many rows are evaluated by `Committee.ask`, the others together with
    their stack. The cost counts only the members that each row queried.
    """

    members: tuple[Member, ...]
    stacks: tuple[Stack, ...]
    stack_of: IntArray
    place_of: IntArray
    costs: Cost

    @classmethod
    def of(cls, committee: Committee) -> RowQueries:
        """Prepare a committee for repeated queries."""
        members = committee.members
        stacks = tuple(_build_stacks(members))
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
        """Whether a single stack evaluates all members, for any number of rows."""
        return (
            len(self.stacks) == 1
            and self.stacks[0].many_rows == np.inf
            and bool((self.stack_of == 0).all())
        )

    def arrange_pairs(self, order: IntArray) -> Expansion | None:
        """One expansion for all pairs of the classes in `order`, if they share one pool."""
        groups = _group_by_pool(self.members)
        if [len(numbers) for numbers in groups] != [len(self.members)]:
            return None
        code = np.vstack([member.code for member in self.members])[:, order]
        form = Expansions.of(groups[0], self.members).in_pairs(code)
        return None if form is None else form.expansion

    def blocks(self, committee: Committee, X: Matrix) -> Iterator[QueryBlock]:
        """Yield the rows of X (n, d) in blocks for repeated queries."""
        widest = max((stack.width for stack in self.stacks), default=1)
        size = int(np.clip(BLOCK_BYTES // (8 * widest), 64, 4096))
        for start in range(0, X.shape[0], size):
            yield QueryBlock(self, committee, X, np.arange(start, min(start + size, X.shape[0])))


@attrs.frozen(eq=False)
class QueryBlock:
    """A block of rows of X that repeatedly query members."""

    queries: RowQueries
    committee: Committee
    X: Matrix
    rows: IntArray
    _prepared: dict[int, Any] = attrs.field(factory=dict)

    def values(self, members: IntArray) -> FloatArray:
        """The score of `members[i]`, which has one column, for `rows[i]`: (rows,)."""
        if self.queries.whole:
            return self._gather(0, np.arange(len(members)), members)
        queried, whose, counts = np.unique(members, return_inverse=True, return_counts=True)
        stack = self.queries.stack_of[queried]
        for number, each in enumerate(self.queries.stacks):
            stack[(stack == number) & (counts >= each.many_rows)] = -1
        values = np.empty(len(members))
        for number in np.unique(stack[stack >= 0]):
            mine = np.flatnonzero(stack[whose] == number)
            values[mine] = self._gather(int(number), mine, members[mine])
        rest = np.flatnonzero(stack[whose] < 0)
        rest = rest[np.argsort(whose[rest], kind="stable")]
        for places in np.split(rest, np.cumsum(counts[stack < 0])[:-1]) if len(rest) else ():
            answers = self.committee.ask(self.X, self.rows[places], members[places[:1]])
            values[places] = answers.values[:, 0]
        return values

    def _gather(self, number: int, places: IntArray, members: IntArray) -> FloatArray:
        stack = self.queries.stacks[number]
        if number not in self._prepared:
            here = self.X[self.rows]
            seen = here if stack.view is None else stack.view.apply(here)
            self._prepared[number] = stack.prepare(seen)
        if self.committee.cost_counter is not None:
            self.committee.cost_counter.add_each(self.rows[places], members, self.queries.costs)
        return stack.values(self._prepared[number], places, self.queries.place_of[members])


def _build_stacks(members: Sequence[Member]) -> Iterator[Stack]:
    """Yield stacks of the members that can be evaluated together."""
    for numbers in _group_by_pool(members):
        stack = Expansions.of(numbers, [members[number] for number in numbers])
        code = np.vstack([members[number].code for number in numbers])
        yield Pairs.of(stack, code) or stack
    planes: dict[Any, list[int]] = {}
    for number, member in enumerate(members):
        model = member.model
        if isinstance(model, Hyperplanes) and model.weights.shape[1] == 1:
            planes.setdefault((id(member.view), len(model.weights)), []).append(number)
    for numbers in planes.values():
        if len(numbers) > 1:
            yield Planes.of(numbers, [members[number] for number in numbers])


def _group_by_pool(members: Sequence[Member]) -> list[list[int]]:
    """The numbers of one-column expansions that share a view, a kernel and a pool of points."""
    found: dict[Any, list[int]] = {}
    for number, member in enumerate(members):
        model = member.model
        if not isinstance(model, KernelExpansion) or model.points.ids is None:
            continue
        if model.class_sizes is None and model.coefficients.shape[1] == 1:
            key = (id(member.view), model.kernel, id(model.points.pool))
            found.setdefault(key, []).append(number)
    return [numbers for numbers in found.values() if len(numbers) > 1]
