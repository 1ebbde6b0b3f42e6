"""Stages of a division: generators of parts, and ways to run and check them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs
import numpy as np

from dcsvm.base.errors import ContractError
from dcsvm.base.problem import Part
from dcsvm.base.routing import Division, Router
from dcsvm.base.threads import for_each
from dcsvm.numeric.array_types import IntArray

if TYPE_CHECKING:
    from dcsvm.base.decomposer import Decomposer
    from dcsvm.base.member import Member
    from dcsvm.base.problem import Problem

Item = TypeVar("Item")
Reply = TypeVar("Reply")
Result = TypeVar("Result")
#: What `divide` returns: a generator of stages that is sent the members of each.
Stages: TypeAlias = "Generator[list[Part], list[Member], Router | Division | None]"


def together(
    generators: Iterable[Generator[list[Item], list[Reply], Result]],
) -> Generator[list[Item], list[Reply], list[Result]]:
    """Run generators of lists side by side: each round yields their lists as a single one.

    Each generator is sent its share of the replies, and may end earlier than others. Results are
    in the order of the generators, which run in threads if there are several CORES.
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
    """A division in progress: iterate over its stages, and reply to each with its members.

    When the iteration ends, `result` is the Division, with the members that predict.
    """

    def __init__(self, stages: Stages) -> None:
        if not isinstance(stages, Generator):
            raise ContractError(
                "divide must yield lists of parts, one list for each stage; it returned "
                f"{type(stages).__name__}"
            )
        self._stages = stages
        self._members: Sequence[Member] = ()
        self.result = Division()

    def __iter__(self) -> Iterator[list[Part]]:
        try:
            parts = next(self._stages)
            while True:
                if isinstance(parts, Part):
                    raise ContractError("divide must yield a list of parts, got a single Part")
                yield parts
                parts = self._stages.send(list(self._members))
        except StopIteration as stop:
            self.result = _as_division(stop.value, self._members)

    def reply(self, members: Sequence[Member]) -> None:
        """Send the members of the current stage, in the order of its parts."""
        self._members = members


def finish_stages(stages: Stages) -> Generator[list[Part], list[Member], Division]:
    """Yield the stages of `divide`, and return its result as a Division."""
    division = StagedDivision(stages)
    for parts in division:
        division.reply((yield parts))
    return division.result


def _as_division(returned: Any, members: Sequence[Member]) -> Division:
    if returned is None or isinstance(returned, Router):
        division = Division(router=returned, members=members)
    elif not isinstance(returned, Division):
        raise ContractError(
            f"divide must return a Router, a Division or None, got {type(returned).__name__}"
        )
    elif returned.members is None and not returned.groups:
        division = attrs.evolve(returned, members=members)
    else:
        division = returned
    return _check_division(division)


def _check_division(division: Division) -> Division:
    """The division; raise if a member cannot predict classes, or weights are not one for each."""
    for member in division.members or ():
        if member.part is not None and member.part.n_labels is not None:
            raise ContractError(
                "a part with n_labels of its own cannot predict classes: return the members that "
                "predict in a Division, and keep the others in its router or structure"
            )
    if division.weights is None:
        return division
    weights, n_members = np.asarray(division.weights, dtype=float), len(division.members or ())
    wrong = weights.shape != (n_members,) or not np.isfinite(weights).all()
    if wrong or weights.min() < 0 or not weights.any():
        raise ContractError(
            f"the weights of a Division must be {n_members} numbers of at least zero, not all "
            f"zero, got {np.array2string(weights, threshold=8)}"
        )
    return attrs.evolve(division, weights=weights)


def check_parts(parts: list[Part], problem: Problem, decomposer: Decomposer) -> None:
    """Raise if a stage or a part is empty, or a row id is out of range."""
    title = decomposer.name or type(decomposer).__name__
    if not parts:
        raise ContractError(f"{title} yielded a stage without parts")
    checked: set[int] = set()
    for place, part in enumerate(parts):
        if not isinstance(part, Part):
            raise ContractError(f"{title} yielded a {type(part).__name__} instead of a Part")
        where = f"{title} yielded part {place}"
        if part.n_rows == 0:
            raise ContractError(f"{where} without rows")
        for rows in part.sets:
            if id(rows) not in checked and len(rows):
                _check_rows(rows, problem.n_rows, where)
                checked.add(id(rows))
        for name, given in (("weights", part.weights), ("start", part.start)):
            if given is not None and np.shape(given) != (part.n_rows,):
                raise ContractError(
                    f"{where} with {name} of shape {np.shape(given)}, but it needs one number "
                    f"for each of its {part.n_rows} rows"
                )
        if part.labels is not None or part.n_labels is not None:
            _check_labels(part, problem.n_classes, where)


def _check_rows(rows: IntArray, n_rows: int, where: str) -> None:
    """Raise if row ids are no array of whole numbers, or out of range."""
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu":
        told = getattr(rows, "dtype", type(rows).__name__)
        raise ContractError(f"{where} with rows of {told}, but it needs an array of row ids")
    wrong = rows.min() if rows.min() < 0 else rows.max()
    if not 0 <= wrong < n_rows:
        raise ContractError(
            f"{where} with row {wrong}, but the problem's rows are 0 to {n_rows - 1}"
        )


def _check_labels(part: Part, n_classes: int, where: str) -> None:
    """Raise if a part's own labels are not one for each row, from 0 to n_labels - 1."""
    if part.labels is None:
        raise ContractError(f"{where} with n_labels = {part.n_labels}, but without labels")
    labels, most = np.asarray(part.labels), n_classes if part.n_labels is None else part.n_labels
    if labels.shape != (part.n_rows,) or labels.dtype.kind not in "iu":
        raise ContractError(
            f"{where} with labels of shape {labels.shape} and dtype {labels.dtype}, but it needs "
            f"a whole number for each of its {part.n_rows} rows"
        )
    if labels.min() < 0 or labels.max() >= most:
        raise ContractError(
            f"{where} with labels {labels.min()} to {labels.max()}, but must have 0 to {most - 1}"
        )
