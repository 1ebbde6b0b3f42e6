"""What pictures are drawn from, and what all of them share: colours and short names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from dcsvm.base.member import Member
    from dcsvm.drive.committee.committee import Committee
    from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix

#: Colours of classes; a page may set others through the variables --class-0 to --class-9.
PALETTE = (
    *("#2f7ed8", "#e07b00", "#1a9c6b", "#c8468f", "#8660d0"),
    *("#b59100", "#18a0b5", "#d2493a", "#7a8a2a", "#8c6d5d"),
)


@attrs.frozen(eq=False)
class Scene:
    """What a component's picture is drawn from.

    Parameters
    ----------
    committee : Committee
    members : sequence of Member
        Those that the router chooses among; all of them for a decomposer or a combiner.
    classes : tuple of str
        What the classes 0 .. k-1 are called; escape them.
    features : tuple of str
        What the columns that a router sees are called; escape them.
    X, y : (n, d) rows as the router sees them, and their classes (n,)
        Rows that were held out.
    wrong : (n,) bool array
        Which of them were answered wrongly.
    learned : (X, y), optional
        The rows that were learned, where they are at hand.
    offset, factor : (d,) arrays, optional
        The columns were made of the data's own as `(value - offset) * factor`.
    indicators : frozenset of int
        Columns that are 1 where what they are called is so, otherwise 0.
    """

    committee: Committee
    members: Sequence[Member]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    X: Matrix
    y: IntArray
    wrong: BoolArray
    learned: tuple[Matrix, IntArray] | None = None
    offset: FloatArray | None = None
    factor: FloatArray | None = None
    indicators: frozenset[int] = frozenset()

    def is_at_most(self, feature: int, threshold: float) -> str:
        """The question whether a column that the router sees is at most a threshold, in words."""
        name = shorten(self.features[feature], 40)
        if feature in self.indicators:
            return f"not {name}"
        return f"{name} ≤ {self.in_data_units(feature, threshold):.4g}"

    def in_data_units(self, feature: int, value: float) -> float:
        """A value of a column that the router sees, in the units of the data."""
        if self.factor is None or self.factor[feature] == 0:
            return value
        shift = 0.0 if self.offset is None else float(self.offset[feature])
        return value / float(self.factor[feature]) + shift


def class_colour(label: int) -> str:
    """The colour of a class, for a style: a page's own, or one that suits light and dark."""
    place = label % len(PALETTE)
    return f"var(--class-{place}, {PALETTE[place]})"


def shorten(name: Any, most: int = 24) -> str:
    """A name of the data's own on one line, without what cannot be printed, not too long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    return text if len(text) <= most else text[: most - 1] + "…"
