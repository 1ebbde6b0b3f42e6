"""Warm starts: parts and dual variables that a later stage takes over from earlier members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dcsvm.base.errors import CompositionError
from dcsvm.base.models import Constant
from dcsvm.base.problem import Part, union
from dcsvm.numeric.array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from dcsvm.base.member import Member


def support_of(*members: Member, warm: bool = False, **others: Any) -> Part:
    """Make a part of the members' support vectors.

    A member whose part had a single class gives all rows. A `warm` part starts from their duals.
    """
    rows = union(_find_kept_rows(member) for member in members)
    return Part(rows, start=duals_of(*members, rows=rows) if warm else None, **others)


def duals_of(*members: Member, rows: IntArray) -> FloatArray | None:
    """The members' signed duals by row, for a warm start of a part with `rows` (m,).

    Duals are averaged over the members trained on the row, and zero if there are none. None if
    the members do not all have duals for the same binary task.
    """
    fitted = [member for member in members if not isinstance(member.model, Constant)]
    codes = {member.code.tobytes() for member in fitted}
    if len(codes) != 1 or any(m.duals is None or m.duals.shape[1] != 1 for m in fitted):
        return None
    size = 1 + max(int(each.max()) for each in (rows, *(m.support for m in fitted)))
    sums, held = np.zeros(size), np.zeros(size)
    for member in fitted:
        learned = member.support if member.part is None else member.part.rows
        np.add.at(sums, member.support, np.asarray(member.duals)[:, 0])
        held[learned[learned < size]] += 1.0
    return np.asarray(sums[rows] / np.maximum(held[rows], 1.0))


def _find_kept_rows(member: Member) -> IntArray:
    if not member.model.tells_support:
        raise CompositionError(
            "the decomposer needs support vectors, and the learner's models have none; use a "
            "learner with support vectors, such as kernel_svm"
        )
    # A constant, or a strategy of constants, has no support vectors.
    if member.part is not None and not len(member.support):
        return member.part.rows
    return member.support
