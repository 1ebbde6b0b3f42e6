"""Groups of a committee: members side by side, with router, weights and structure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.base.decomposer import (
    CLASS_CODES,
    CLASS_PAIRS,
    GROUPS,
    REGIONS,
    SUBSETS,
    SUBSPACES,
    WEIGHTS,
)
from dcsvm.base.errors import SettingError
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion
from dcsvm.base.routing import Router, Routing
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.stored_arrays import Stored, check_array

if TYPE_CHECKING:
    from dcsvm.drive.committee.committee import Committee


@attrs.frozen(eq=False)
class Group:
    """Members first .. last - 1 of a committee, and the router that chooses among them.

    `weights` (members,) and `structure` are those of the Division.
    """

    first: int
    last: int
    router: Router | None = None
    weights: FloatArray | None = None
    structure: Any = None

    def weigh(self, number: int, weights: FloatArray | None, n_rows: int) -> FloatArray | None:
        """The router's weights of some rows times that of a member, (n_rows,); None for 1."""
        if self.weights is None:
            return weights
        return np.full(n_rows, self.weights[number]) * (1.0 if weights is None else weights)

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise ValueError unless router, weights and structure suit the members."""
        sizes = sizes | {"members": self.last - self.first}
        if self.weights is not None:
            check_array("Group.weights", self.weights, sizes["members"], at_least=0)
            if not self.weights.any():
                raise ValueError("Group.weights are all zero")
        for each in (self.router, self.structure):
            if isinstance(each, Stored):
                each.check_stored(**sizes)
        return sizes


def find_words(committee: "Committee") -> set[str]:
    """What members show of themselves, in the words of a decomposer's `yields`."""
    words = {GROUPS} if len(committee.groups) > 1 else set()
    for group in committee.groups:
        words |= {WEIGHTS} if group.weights is not None else set()
        if group.router is not None:
            words.add(REGIONS)
        elif group.structure is None and group.last - group.first > 1:
            members = committee.members[group.first : group.last]
            words.add(_find_kind(members, committee.n_classes))
    return words


def _find_kind(members: Sequence[Member], n_classes: int) -> str:
    """What several members without a router are; of two classes, pairs are all rows."""
    if any(member.label_classes is None for member in members):
        return CLASS_CODES
    if n_classes > 2 and all(np.count_nonzero(member.code) == 2 for member in members):
        return CLASS_PAIRS
    return SUBSETS if any(member.view is None for member in members) else SUBSPACES


def merge_groups(
    committees: Sequence["Committee"],
) -> tuple[tuple[Member, ...], tuple[Group, ...]]:
    """The members and the groups of all committees; raise unless they have the same classes."""
    classes = sorted({each.n_classes for each in committees})
    if len(classes) != 1:
        raise SettingError(
            "Committee.merge needs committees of the same classes, got "
            + (" and ".join(map(str, classes)) + " classes" if classes else "none")
        )
    firsts = accumulate((len(each.members) for each in committees), initial=0)
    groups = [
        attrs.evolve(group, first=group.first + first, last=group.last + first)
        for each, first in zip(committees, firsts, strict=False)
        for group in each.groups
    ]
    return tuple(member for each in committees for member in each.members), tuple(groups)


def exchange(
    members: Sequence[Member], others: Mapping[int, Member], n_classes: int
) -> tuple[Member, ...]:
    """The members, with others at some numbers; raise if a number or the classes do not suit."""
    changed = list(members)
    for number, member in others.items():
        if not 0 <= number < len(changed):
            raise SettingError(
                f"Committee.replace: there is no member {number}, only 0 to {len(changed) - 1}"
            )
        if member.code.shape[1] != n_classes:
            raise SettingError(
                f"Committee.replace: member {number} is one of {member.code.shape[1]} classes, "
                f"not {n_classes}"
            )
        changed[number] = member.without_part(keep_rows=True)
    return tuple(changed)


def by_member(routing: Routing) -> Iterator[tuple[int, IntArray]]:
    """Each queried member, and its positions in the routing."""
    order = np.argsort(routing.member, kind="stable")
    queried, first = np.unique(routing.member[order], return_index=True)
    for number, places in zip(queried, np.split(order, first[1:]), strict=True):
        yield int(number), places


def points_of(member: Member) -> int:
    """The number of kernel values per row; a nested strategy has blocks of its own."""
    return len(member.support) if isinstance(member.model, KernelExpansion) else 0


def one_column(scores: FloatArray) -> FloatArray:
    """Turn scores of two classes into one column, positive for the second."""
    if scores.shape[1] != 2:
        return scores
    first, second = scores[:, :1], scores[:, 1:]
    both = (second - first) / 2
    return np.where(np.isnan(first), second, np.where(np.isnan(second), -first, both))


def find_winners(scores: FloatArray) -> IntArray:
    """The class with the largest score of each row, (n,); NaN never wins."""
    return np.asarray(np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))


def is_ascending(rows: IntArray) -> bool:
    """Whether each row id is one more than the one before."""
    return bool((np.diff(rows) == 1).all())
