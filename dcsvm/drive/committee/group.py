"""Groups of a committee: members side by side, with router, weights and structure."""

from collections.abc import Mapping, Sequence
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
from dcsvm.base.errors import ContractError, SettingError
from dcsvm.base.member import Member
from dcsvm.base.routing import Router, Routing
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.stored_arrays import Stored, check_array

if TYPE_CHECKING:
    from dcsvm.drive.committee.committee import Committee


@attrs.frozen(eq=False)
class Group:
    """Members first .. last - 1 of a committee, and the router that chooses among them."""

    #: The number of its first member in the committee.
    first: int
    #: One more than the number of its last member.
    last: int
    #: The router, which numbers the members from 0; None if every member is asked for every row.
    router: Router | None = None
    #: How much each member counts, (last - first,), times the weight of the router; None for 1.
    weights: FloatArray | None = None
    #: The structure of the Division.
    structure: Any = None

    def check_routing(self, routing: Any) -> None:
        """Raise unless the router returned a Routing to members that are there.

        Called by the committee once for each batch of rows.
        """
        title = f"{type(self.router).__name__}.route"
        if not isinstance(routing, Routing):
            raise ContractError(
                f"{title} must return a Routing, got {type(routing).__name__}; "
                "Routing.to_one(members) sends each row to one member"
            )
        low, high = routing.member.min(initial=0), routing.member.max(initial=0)
        if low < 0 or high >= self.last - self.first:
            raise ContractError(
                f"{title} names member {low if low < 0 else high}, but the members are 0 to "
                f"{self.last - self.first - 1}"
            )

    def weigh(self, number: int, weights: FloatArray | None, n_rows: int) -> FloatArray | None:
        """The router's weights of some rows times that of a member, (n_rows,); None for 1.

        Called by the committee. `number` counts the members of the group from 0.
        """
        if self.weights is None:
            return weights
        return np.full(n_rows, self.weights[number]) * (1.0 if weights is None else weights)

    def spread_weights(self, n_rows: int) -> FloatArray | None:
        """The members' weights for each row, (n_rows, members); called without a router."""
        if self.weights is None:
            return None
        return np.broadcast_to(self.weights, (n_rows, len(self.weights)))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise ValueError unless router, weights and structure suit the members.

        Called by `save` and `load`.
        """
        sizes = sizes | {"members": self.last - self.first}
        if self.weights is not None:
            check_array("Group.weights", self.weights, sizes["members"], at_least=0)
            if not self.weights.any():
                raise ValueError("Group.weights are all zero")
        for each in (self.router, self.structure):
            if isinstance(each, Stored):
                each.check_stored(**sizes)
        return sizes


def check_groups(committee: "Committee", **sizes: int) -> None:
    """Raise ValueError unless groups divide the members in order, and both suit."""
    groups, members = committee.groups, committee.members
    edges = [0, *(group.last for group in groups)]
    if (
        [group.first for group in groups] != edges[:-1]
        or edges != sorted(set(edges))
        or edges[-1] != len(members)
        or not members
    ):
        raise ValueError(
            f"Committee.groups must divide {len(members)} members, in order, got "
            f"{[(group.first, group.last) for group in groups[:9]]}"
        )
    features = {key: sizes[key] for key in ("features",) if key in sizes}
    parts: list[Member | Group] = [*members, *groups]
    for each in parts:
        each.check_stored(classes=committee.n_classes, **features)


def find_yields(committee: "Committee") -> set[str]:
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


def replace_members(
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


def reweigh_groups(groups: Sequence[Group], weights: FloatArray) -> tuple[Group, ...]:
    """The groups with other weights of their members (members,)."""
    given, n_members = np.asarray(weights, dtype=float), groups[-1].last
    if given.shape != (n_members,) or not np.isfinite(given).all() or given.min() < 0:
        raise SettingError(
            f"Committee.reweigh needs {n_members} numbers of at least zero, got "
            f"{np.array2string(given, threshold=8)}"
        )
    return tuple(attrs.evolve(each, weights=given[each.first : each.last]) for each in groups)


def describe_size(committee: "Committee") -> str:
    """How many members and groups a committee has, in words."""
    members, groups = len(committee.members), len(committee.groups)
    return f"{members} member{'s' * (members > 1)} in {groups} group{'s' * (groups > 1)}"


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


def find_assigned_members(groups: Sequence[Group], X: Matrix) -> IntArray | None:
    """The one member (n,) of each row of X (n, d); None if rows may ask several."""
    router = groups[0].router
    if len(groups) > 1 or router is None:
        return None
    routing = router.route(X)
    groups[0].check_routing(routing)
    order = np.argsort(routing.row, kind="stable")
    once = np.array_equal(routing.row[order], np.arange(X.shape[0]))
    return routing.member[order] if once and routing.weight is None else None


def build_table_code(committee: "Committee") -> IntArray:
    """The codes of members, group by group; one of all classes for a group with a router."""
    own = np.eye(committee.n_classes, dtype=np.int8)
    if committee.n_classes == 2:
        own = np.array([[-1, 1]], dtype=np.int8)
    codes: list[IntArray] = []
    for group in committee.groups:
        members = committee.members[group.first : group.last]
        codes += [own] if group.router else [member.code for member in members]
    return np.vstack(codes)
