"""Generators of stages: run side by side, brought to their end, made of what members kept."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs
import numpy as np

from dcsvm.base.errors import CompositionError, ContractError
from dcsvm.base.models import Constant
from dcsvm.base.problem import Part, union
from dcsvm.base.routing import Division, Router
from dcsvm.base.threads import for_each
from dcsvm.numeric.array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from dcsvm.base.member import Member

Item = TypeVar("Item")
Reply = TypeVar("Reply")
Result = TypeVar("Result")
#: What `divide` returns: a generator of stages that is sent the members of each.
Stages: TypeAlias = "Generator[list[Part], list[Member], Router | Division | None]"


def together(
    generators: Iterable[Generator[list[Item], list[Reply], Result]],
) -> Generator[list[Item], list[Reply], list[Result]]:
    """Run generators of lists side by side, also of unequal depth: one list goes out per round.

    Each generator is sent its own share of the replies; the results come back in their order. They
    run in threads if there are several CORES.
    """
    running = dict(enumerate(generators))
    results: dict[int, Result] = {}
    waiting: dict[int, list[Item]] = {}

    def advance(place: int, reply: list[Reply] | None) -> None:
        try:
            step = running[place]
            waiting[place] = next(step) if reply is None else step.send(reply)
        except StopIteration as stop:
            results[place] = stop.value
            waiting.pop(place, None)

    for_each(advance, [(place, None) for place in running])
    while waiting:
        shares = {place: len(items) for place, items in sorted(waiting.items())}
        replies = iter((yield [item for place in shares for item in waiting[place]]))
        for_each(
            advance, [(place, list(islice(replies, share))) for place, share in shares.items()]
        )
    return [results[place] for place in sorted(results)]


class StagedDivision:
    """A division under way: iterate over its stages and reply to each with its members.

    When the iteration ends, `result` is the Division, with the members that predict.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._members: Sequence[Member] = ()
        self.result = Division()

    def __iter__(self) -> Iterator[list[Part]]:
        try:
            parts = next(self._stages)
            while True:
                yield parts
                parts = self._stages.send(list(self._members))
        except StopIteration as stop:
            self.result = _as_division(stop.value, self._members)

    def reply(self, members: Sequence[Member]) -> None:
        """Give the members of the stage just yielded, in the order of its parts."""
        self._members = members


def conclude(stages: Stages) -> Generator[list[Part], list[Member], Division]:
    """Pass on the stages of `divide`, and return what it leaves behind as a Division."""
    division = StagedDivision(stages)
    for parts in division:
        division.reply((yield parts))
    return division.result


def _as_division(returned: Any, members: Sequence[Member]) -> Division:
    if returned is None or isinstance(returned, Router):
        return Division(router=returned, members=members)
    if not isinstance(returned, Division):
        raise ContractError(
            f"divide must return a Router, a Division or None, got {type(returned).__name__}"
        )
    if returned.members is None and not returned.groups:
        return attrs.evolve(returned, members=members)
    return returned


def support_of(*members: Member, warm: bool = False, **others: Any) -> Part:
    """Make a part of the training rows that any of the members kept.

    A member that saw one class only has learned nothing about its rows, and keeps them all. A
    `warm` part starts from the members' duals, where these can be had.
    """
    rows = union(_find_kept_rows(member) for member in members)
    return Part(rows, start=duals_of(*members, rows=rows) if warm else None, **others)


def duals_of(*members: Member, rows: IntArray) -> FloatArray | None:
    """The members' signed duals by row, to start a next part of `rows` (m,) from.

    A row that several members learned has the mean of their duals; one that none of them learned
    or kept has zero. None where the members do not all tell the same two sides apart by duals.
    """
    speakers = [member for member in members if not isinstance(member.model, Constant)]
    codes = {member.code.tobytes() for member in speakers}
    if len(codes) != 1 or any(m.duals is None or m.duals.shape[1] != 1 for m in speakers):
        return None
    size = 1 + max(int(each.max()) for each in (rows, *(m.support for m in speakers)))
    sums, held = np.zeros(size), np.zeros(size)
    for member in speakers:
        learned = member.support if member.part is None else member.part.rows
        np.add.at(sums, member.support, np.asarray(member.duals)[:, 0])
        held[learned[learned < size]] += 1.0
    return np.asarray(sums[rows] / np.maximum(held[rows], 1.0))


def _find_kept_rows(member: Member) -> IntArray:
    if not member.model.tells_support:
        raise CompositionError(
            "the learner does not say which training rows it kept, and the decomposer goes on "
            "with these: it needs a learner with support vectors, such as kernel_svm"
        )
    # A constant, or a pipeline of constants, has learned nothing about its rows.
    if member.part is not None and not len(member.support):
        return member.part.rows
    return member.support
