"""The plan of a fitted strategy: routers, members and combination as steps for compiled code."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from dcsvm.base.combiner import Combination
from dcsvm.base.feature_views import View
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import Group
from dcsvm.drive.committee.shared_kernels import find_shared_kernels
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.step_arrays import as_floats, as_places

#: Routers that send each row to one member.
TO_ONE = ("axis_tree", "plane_tree", "nearest", "lookup")
#: How labels are found without scores in double precision: from the one member that a row asks, by
#: the votes of all members, or by the mean of scores in single precision.
ONE, VOTES, MEANS = 1, 2, 3
#: Scores are given for each class, with NOTHING where no member knows it, the least probability of
#: an unknown class and the member asked last.
AS_THEY_ARE, NOTHING = 4, -float(np.finfo(float).max)


@attrs.frozen(eq=False)
class Unit:
    """A step for one member, or for several that share kernel values, side by side.

    `pairs` is the step of the one-against-one expansion that the columns are taken from.
    """

    step: Step
    members: tuple[int, ...]
    pairs: Step | None = None


@attrs.frozen(eq=False)
class Layout:
    """The units of a committee by group, and the columns of their members side by side.

    `routers` has None for a group without one. `unit_of` and `first` are by member: its unit, and
    the first of its columns.
    """

    committee: Committee
    routers: tuple[Step | None, ...]
    units: tuple[tuple[Unit, ...], ...]
    unit_of: IntArray
    first: IntArray

    @classmethod
    def of(cls, plan: Plan, committee: Committee, n_features: int) -> Layout:
        """Add the routers and members of a committee to a plan."""
        routers = [_add_router(plan, group, n_features) for group in committee.groups]
        views: dict[int, Step | None] = {}
        units = [
            tuple(_add_units(plan, committee, group, n_features, views))
            for group in committee.groups
        ]
        flat = [unit for its in units for unit in its]
        order = np.concatenate([unit.members for unit in flat]).astype(np.int64)
        unit_of, first = np.empty_like(order), np.empty_like(order)
        unit_of[order] = np.repeat(np.arange(len(flat)), [len(unit.members) for unit in flat])
        widths = np.diff(committee.starts)
        first[order] = np.cumsum(widths[order]) - widths[order]
        return cls(committee, tuple(routers), tuple(units), unit_of, first)

    @property
    def flat(self) -> list[Unit]:
        return [unit for its in self.units for unit in its]

    @property
    def widths(self) -> IntArray:
        return np.diff(self.committee.starts)

    def group_table(self) -> IntArray:
        """By group: the router or -1, its first unit, and the one after its last."""
        ends = np.cumsum([len(its) for its in self.units])
        routers = [-1 if router is None else router for router in self.routers]
        table = np.column_stack([routers, ends - [len(its) for its in self.units], ends])
        return np.ascontiguousarray(table, dtype=np.int64)

    def unit_table(self) -> IntArray:
        """By unit: its step, its first column, and the one after its last."""
        widths = np.array([self.widths[list(unit.members)].sum() for unit in self.flat])
        ends = np.cumsum(widths)
        table = np.column_stack([[unit.step for unit in self.flat], ends - widths, ends])
        return np.ascontiguousarray(table, dtype=np.int64)

    def code(self) -> tuple[IntArray, IntArray, IntArray]:
        """The codes of all columns: starts of columns, classes and signs, as in a CSR matrix."""
        order = np.argsort(self.first)
        starts = self.committee.starts
        columns = np.concatenate([np.arange(starts[m], starts[m + 1]) for m in order])
        table = self.committee.code[columns]
        return table.indptr, table.indices, table.data

    def member_ends(self) -> IntArray:
        """By column: the one after the last of its member."""
        ends = np.sort(self.first + self.widths)
        return np.repeat(ends, self.widths[np.argsort(self.first)])

    def weights(self) -> FloatArray | None:
        """By column: the weight of its member; None if all count the same."""
        if all(group.weights is None for group in self.committee.groups):
            return None
        weights = np.ones(int(self.widths.sum()))
        for group in self.committee.groups:
            for number in range(group.first, group.last):
                if group.weights is not None:
                    start = self.first[number]
                    weights[start : start + self.widths[number]] = group.weights[
                        number - group.first
                    ]
        return weights

    def missing_class_mass(self) -> FloatArray:
        """By column: the probability that its member gives to classes it does not know."""
        order = np.argsort(self.first)
        rows = np.array([self.committee.members[m].n_rows for m in order])
        return np.repeat(1.0 / (rows + 2.0), self.widths[order])

    def places(self) -> tuple[IntArray, IntArray]:
        """By column: its place in `Committee.table`; by place there, the end of its block."""
        places, blocks, at = np.full(int(self.widths.sum()), -1), [], 0
        k = self.committee.n_classes
        for group in self.committee.groups:
            if group.router is not None:
                blocks.append(1 if k == 2 else k)
                at += blocks[-1]
                continue
            for number in range(group.first, group.last):
                width = int(self.widths[number])
                places[self.first[number] + np.arange(width)] = at + np.arange(width)
                blocks.append(width)
                at += width
        return places, np.repeat(np.cumsum(blocks), blocks)


def add_margins_to_plan(
    plan: Plan, committee: Committee, combination: Combination, n_features: int
) -> Step | None:
    """Add what the probabilities of a strategy are learned from to a plan without votes.

    The step gives the margins of all classes, and what `Calibration.apply` must know beside.
    """
    combined = combination.add_to_plan(plan, committee)
    if combined is None or plan.kind(combined) in ("walk", "stack"):
        return None
    layout = Layout.of(plan, committee, n_features)
    return _add_strategy(plan, layout, n_features, combined, AS_THEY_ARE)


def add_strategy_to_plan(
    plan: Plan, committee: Committee, combination: Combination, n_features: int
) -> Step | None:
    """Add a committee and its combination to a plan; None if the combination cannot be added."""
    combined = combination.add_to_plan(plan, committee)
    if combined is None:
        return None
    layout = Layout.of(plan, committee, n_features)
    if plan.kind(combined) == "walk":
        _place_walk(plan, combined, layout)
    if plan.kind(combined) == "stack":
        _place_stack(plan, combined, layout)
    if not plan.votes:
        return _add_strategy(plan, layout, n_features, combined, 0)
    names = _label_members(plan, layout) if plan.asks_one(combined) else None
    walked = _find_pairs(plan, layout, combined)
    by_label = ONE if names is not None else _combine_by_label(plan, layout, combined)
    for step in [unit.step for unit in layout.flat] if by_label else [walked]:
        if step is not None:
            plan.allow_float32_labels(step)
    if by_label == MEANS and not all(plan.has_float32_labels(unit.step) for unit in layout.flat):
        by_label = 0
    return _add_strategy(plan, layout, n_features, combined, by_label, names, walked)


def _add_strategy(
    plan: Plan,
    layout: Layout,
    n_features: int,
    combined: Step,
    by_label: int,
    names: IntArray | None = None,
    walked: Step | None = None,
) -> Step:
    groups, units, (starts, classes, signs) = (
        layout.group_table(),
        layout.unit_table(),
        layout.code(),
    )
    k, width = layout.committee.n_classes, int(layout.widths.sum())
    if any(plan.inputs(step) != n_features for step in units[:, 0].tolist()):
        raise ValueError(f"plan: the members of a strategy must take {n_features} features")
    outputs = k + 2 if by_label == AS_THEY_ARE else 1 if k == 2 else k
    return plan.add(
        *("strategy", n_features, outputs),
        sizes=[len(groups), k, combined, width, by_label, -1 if walked is None else walked],
        arrays=[
            *(groups, units, as_places(starts, len(classes) + 1), as_places(classes, k)),
            *(as_floats(signs, len(classes)), as_places(layout.member_ends(), width + 1), names),
            *(layout.weights(), layout.missing_class_mass()),
        ],
    )


def _place_walk(plan: Plan, walk: Step, layout: Layout) -> None:
    """Set the unit and the column of each member in a decision graph."""
    order, member, _, signs = plan.steps[walk].arrays
    found = np.maximum(member, 0)
    if (layout.widths[found] != 1).any():
        raise ValueError("plan: the members of a decision graph must have one column of scores")
    plan.replace_arrays(walk, order, layout.unit_of[found], layout.first[found], signs)


def _place_stack(plan: Plan, stack: Step, layout: Layout) -> None:
    """Set the place of each column in the table of a second level, and the ends of its blocks."""
    record = plan.steps[stack]
    places, ends = layout.places()
    if len(ends) != record.sizes[4]:
        raise ValueError(f"plan: {len(ends)} answers, but {record.sizes[4]} were learned from")
    plan.replace_arrays(stack, *record.arrays[:4], ends, places)


def _add_router(plan: Plan, group: Group, n_features: int) -> Step | None:
    if group.router is None:
        return None
    members = group.last - group.first
    step = group.router.add_to_plan(plan, n_features)
    if step is None:
        return plan.ask_router(group.router.route, n_features, members)
    if plan.outputs(step) > members:
        raise ValueError(f"plan: a router names {plan.outputs(step)} members, of {members}")
    return step


def _add_units(
    plan: Plan, committee: Committee, group: Group, n_features: int, views: dict[int, Step | None]
) -> Iterator[Unit]:
    members, numbers = committee.members, range(group.first, group.last)
    taken: set[int] = set()
    for shared in find_shared_kernels(members, numbers) if group.router is None else ():
        view = _add_view(plan, shared.members[0].view, n_features, views)
        found = shared.add_to_plan(plan, view, n_features)
        if found is not None:
            taken.update(shared.numbers)
            yield Unit(found[0], shared.numbers, found[1])
    for number in numbers:
        if number not in taken:
            view = _add_view(plan, members[number].view, n_features, views)
            yield Unit(members[number].add_to_plan(plan, n_features, view), (number,))


def _add_view(
    plan: Plan, view: View | None, n_features: int, views: dict[int, Step | None]
) -> Step | None:
    if view is None:
        return None
    if id(view) not in views:
        views[id(view)] = view.add_to_plan_or_ask(plan, n_features)
    return views[id(view)]


def _label_members(plan: Plan, layout: Layout) -> IntArray | None:
    """The class for each label of each member, at twice its first column.

    None if a row may ask several members, or if a side of a member has several classes.
    """
    (router, *others), members = layout.routers, layout.committee.members
    one = plan.kind(router) in TO_ONE if router is not None else len(members) == 1
    found = [member.label_classes for member in members]
    if others or not one or any(each is None for each in found):
        return None
    names = np.zeros(2 * int(layout.widths.sum()), dtype=np.int64)
    for first, each in zip(layout.first, found, strict=True):
        assert each is not None
        names[2 * first : 2 * first + len(each)] = each
    return names


def _combine_by_label(plan: Plan, layout: Layout, combined: Step) -> int:
    """VOTES if all members are asked, and the label of each is its vote; MEANS for their mean."""
    each_one = all(len(unit.members) == 1 for unit in layout.flat)
    unrouted = all(router is None for router in layout.routers) and layout.weights() is None
    if not (each_one and unrouted and (layout.widths > 1).all()):
        return 0
    starts, _, signs = layout.code()
    plain = bool((np.diff(starts) == 1).all() and (signs > 0).all())
    if plan.kind(combined) == "means":
        return MEANS if plain else 0
    return VOTES if plan.kind(combined) == "votes" else 0


def _find_pairs(plan: Plan, layout: Layout, combined: Step) -> Step | None:
    """The one-against-one expansion that a decision graph can walk over by itself."""
    flat = layout.flat
    if plan.kind(combined) != "walk" or len(flat) != 1 or flat[0].pairs is None:
        return None
    k = layout.committee.n_classes
    pairs = flat[0].pairs
    return pairs if plan.outputs(pairs) == k * (k - 1) // 2 and plan.is_packed(pairs) else None
