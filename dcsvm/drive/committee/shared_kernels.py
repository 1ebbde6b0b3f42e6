"""Members that share points, kernel and view, evaluated with one kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.cost import Cost
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion, LocalModel
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import prepare
from dcsvm.numeric.expansion.packed_coefficients import BlockColumns, PairColumns
from dcsvm.numeric.row_plan import Plan, Step

#: Points are pooled if they would otherwise be evaluated this many times on average.
WORTHWHILE = 1.2
#: A plan holds the coefficients of members with a common pool as one table up to this size.
MOST_COEFFICIENTS = 2**22


@attrs.frozen(eq=False, slots=False)
class SharedKernel:
    """Members of a committee whose expansions have a common pool of points.

    `numbers` are the members' numbers in the committee; `members` have models whose points are
    rows of the same pool.
    """

    numbers: tuple[int, ...]
    members: tuple[Member, ...]

    def values(self, X: Matrix, votes: bool = True) -> FloatArray:
        """The scores of all members for rows X (n, d), side by side: (n, columns)."""
        view = self.members[0].view
        seen = X if view is None else view.apply(X)
        if self.form is not None:
            return self.form.values(seen)
        gram = _model(self.members[0]).kernel(seen, self.pool)
        return np.hstack([_model(m).from_gram(gram[:, _ids(m)], votes) for m in self.members])

    def add_to_plan(
        self, plan: Plan, view: Step | None, n_features: int
    ) -> tuple[Step, Step | None] | None:
        """Add all columns to a plan, after a view; None if single members are faster.

        Returns their step and, if they are all pairs of classes, that of these pairs.
        """
        width = n_features if view is None else plan.outputs(view)
        if isinstance(self.form, PairColumns):
            pairs = plan.expansion(self.form.expansion, width, form="decisions")
            if pairs is None:
                return None
            pairs = plan.chain(view, pairs)
            places = plan.columns(plan.outputs(pairs), self.form.places)
            return plan.chain(pairs, places, plan.scaling(self.form.signs)), pairs
        if self.form is None or self.pool.shape[0] * len(self.form.biases) > MOST_COEFFICIENTS:
            return None
        table = self._coefficients().toarray()
        expansion = prepare(self.form.kernel, self.pool, table, self.form.biases)
        step = plan.expansion(expansion, width)
        return None if step is None else (plan.chain(view, step), None)

    @property
    def pool(self) -> Matrix:
        return _model(self.members[0]).points.pool

    @cached_property
    def form(self) -> BlockColumns | PairColumns | None:
        """How all columns are computed at once; None for one-against-one expansions."""
        models = [_model(member) for member in self.members]
        if any(model.class_sizes is not None for model in models):
            return None
        coefficients = self._coefficients()
        biases = np.concatenate([model.biases for model in models])
        code = np.vstack([member.code for member in self.members])
        kernel = models[0].kernel
        pairs = PairColumns.of(kernel, self.pool, coefficients, biases, code)
        return pairs or BlockColumns.of(kernel, self.pool, coefficients, biases, code)

    def _coefficients(self) -> Any:
        """All coefficients, (points, columns), as CSR."""
        entries = [_model(member).coefficients for member in self.members]
        widths = np.cumsum([0] + [entry.shape[1] for entry in entries])
        rows = [np.repeat(_ids(m), e.shape[1]) for m, e in zip(self.members, entries, strict=True)]
        columns = [
            np.tile(np.arange(start, stop), len(entry))
            for (start, stop), entry in zip(pairwise(widths), entries, strict=True)
        ]
        data = np.concatenate([entry.ravel() for entry in entries])
        table = sparse.csr_array(
            (data, (np.concatenate(rows), np.concatenate(columns))),
            shape=(self.pool.shape[0], widths[-1]),
        )
        table.eliminate_zeros()
        return table


@attrs.frozen(eq=False)
class MemberBlock:
    """Several members queried together: some with a shared kernel, others one by one.

    `places` holds the columns of each shared kernel, then of each single member.
    """

    shared: tuple[SharedKernel, ...]
    singles: tuple[Member, ...]
    places: tuple[IntArray, ...]
    code: Any
    owner: IntArray
    shared_cost: Cost

    @classmethod
    def of(cls, members: Sequence[Member], numbers: tuple[int, ...], code: Any) -> MemberBlock:
        shared = find_shared_kernels(members, numbers)
        taken = {number for each in shared for number in each.numbers}
        singles = [number for number in numbers if number not in taken]
        widths = [len(members[number].code) for number in numbers]
        ends = np.cumsum(widths)
        columns = {n: np.arange(e - w, e) for n, w, e in zip(numbers, widths, ends, strict=True)}
        together = [each.numbers for each in shared] + [(number,) for number in singles]
        cost = Cost()
        for number in taken:
            cost += members[number].model.cost
        return cls(
            tuple(shared),
            tuple(members[number] for number in singles),
            tuple(np.concatenate([columns[n] for n in group]) for group in together),
            code,
            np.repeat(np.arange(len(numbers)), widths),
            cost,
        )

    @property
    def width(self) -> int:
        """The largest number of values per row: kernel values or scores.

        A nested strategy among its members has blocks of its own.
        """
        pools = [shared.pool.shape[0] for shared in self.shared]
        expansions = (each for each in self.singles if isinstance(each.model, KernelExpansion))
        alone = [len(each.support) for each in expansions]
        return int(max(len(self.owner), *pools, *alone, 0))

    def scores(self, X: Matrix, votes: bool = True) -> FloatArray:
        """The values of all columns for rows X: (n, columns)."""
        values = self._evaluate_shared(X, votes)
        for place, member in zip(self.places[len(self.shared) :], self.singles, strict=True):
            values[:, place] = member.scores(X, votes)
        return values

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Return `scores(X)` and their cost."""
        values, cost = self._evaluate_shared(X), self.shared_cost
        for place, member in zip(self.places[len(self.shared) :], self.singles, strict=True):
            values[:, place], own = member.answer(X)
            cost += own
        return values, cost

    def _evaluate_shared(self, X: Matrix, votes: bool = True) -> FloatArray:
        values = np.empty((X.shape[0], len(self.owner)))
        for place, each in zip(self.places, self.shared, strict=False):
            values[:, place] = each.values(X, votes)
        return values


def pool_points(members: Sequence[Member]) -> dict[int, LocalModel]:
    """The models, by number, of members with the same kernel and view that share many points."""
    pooled: dict[int, LocalModel] = {}
    for numbers in _group_by_kernel(members):
        mine = [members[number] for number in numbers]
        supports = np.concatenate([member.support for member in mine])
        first, ids = _find_first(supports)
        if len(supports) < WORTHWHILE * len(first):
            continue
        ends = np.cumsum([0, *(len(member.support) for member in mine)])
        pool = _gather(mine, first, ends)
        for number, (start, end) in zip(numbers, pairwise(ends.tolist()), strict=True):
            pooled[number] = _model(members[number]).with_points(pool, ids[start:end])
    return pooled


def _gather(members: Sequence[Member], places: IntArray, ends: IntArray) -> Matrix:
    """Points at some places among those of all members, of whom each has ends[i]:ends[i + 1]."""
    owner = np.searchsorted(ends, places, side="right") - 1
    asked, rank = np.unique(owner, return_inverse=True)
    points = [_model(members[number]).points.rows() for number in asked]
    starts = np.cumsum([0, *(each.shape[0] for each in points)])
    return _stack(points)[starts[rank] + places - ends[owner]]


def _find_first(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Where each number that occurs is first, in order of the numbers, and its rank, (n,)."""
    places = np.full(int(numbers.max(initial=-1)) + 1, -1)
    places[numbers[::-1]] = np.arange(len(numbers))[::-1]
    present = places >= 0
    return places[present], (np.cumsum(present) - 1)[numbers]


def detach_pools(members: Sequence[Member]) -> tuple[tuple[Member, ...], list[Matrix]]:
    """Replace the pool of each model by its number in a list; joblib would copy a shared array."""
    pooled = [_model(member).points.pool for member in members if _is_pooled(member)]
    pools = list({id(pool): pool for pool in pooled}.values())
    numbers = {id(pool): number for number, pool in enumerate(pools)}
    return tuple(
        _with_pool(each, numbers[id(_model(each).points.pool)]) if _is_pooled(each) else each
        for each in members
    ), pools


def attach_pools(members: Sequence[Member], pools: Sequence[Matrix]) -> tuple[Member, ...]:
    """Undo `detach_pools`."""
    return tuple(
        _with_pool(member, pools[_model(member).points.pool]) if _is_pooled(member) else member
        for member in members
    )


def _is_pooled(member: Member) -> bool:
    return isinstance(member.model, KernelExpansion) and member.model.points.ids is not None


def _with_pool(member: Member, pool: Any) -> Member:
    return member.with_model(_model(member).with_points(pool, _ids(member)))


def find_shared_kernels(members: Sequence[Member], numbers: Sequence[int]) -> list[SharedKernel]:
    """Group those of some members of a committee whose models share a pool."""
    found: dict[Any, list[int]] = {}
    for number in numbers:
        if _is_pooled(members[number]):
            model = _model(members[number])
            key = (id(members[number].view), model.kernel, id(model.points.pool))
            found.setdefault(key, []).append(number)
    return [
        SharedKernel(tuple(mine), tuple(members[number] for number in mine))
        for mine in found.values()
        if len(mine) > 1
    ]


def _group_by_kernel(members: Sequence[Member]) -> list[list[int]]:
    found: dict[Any, list[int]] = {}
    same: dict[tuple[int, int], list[int]] = {}  # by identity: hashing a kernel takes longer
    for number, member in enumerate(members):
        model = member.model
        if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
            view, kernel = id(member.view), model.kernel
            if (view, id(kernel)) not in same:
                same[view, id(kernel)] = found.setdefault((view, kernel), [])
            same[view, id(kernel)].append(number)
    return [numbers for numbers in found.values() if len(numbers) > 1]


def _stack(points: list[Matrix]) -> Matrix:
    if sparse.issparse(points[0]):
        return sparse.csr_array(sparse.vstack(points, format="csr"))
    return np.concatenate(points)


def _model(member: Member) -> KernelExpansion:
    assert isinstance(member.model, KernelExpansion)
    return member.model


def _ids(member: Member) -> IntArray:
    ids = _model(member).points.ids
    assert ids is not None
    return ids
