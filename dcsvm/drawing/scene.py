"""The data that pictures are drawn from, colors of classes and short names."""

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
    """The data for a component's picture.

    Parameters
    ----------
    committee : Committee
    members : sequence of Member
        The members of the router's group; all of them for a decomposer or a combiner.
    classes : tuple of str
        The names of the classes 0 .. k-1; escape them.
    features : tuple of str
        The names of the columns that a router sees; escape them.
    X, y : (n, d) rows as the router sees them, and their classes (n,)
        The test rows.
    wrong : (n,) bool array
        Which of them were misclassified.
    learned : (X, y), optional
        The training rows, if available.
    offset, factor : (d,) arrays, optional
        The columns are `(value - offset) * factor` of those of the data.
    indicators : frozenset of int
        Columns that are 1 or 0, for whether what their name says is true.
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
    """The CSS color of a class: that of the page, or one for light and dark pages."""
    place = label % len(PALETTE)
    return f"var(--class-{place}, {PALETTE[place]})"


def shorten(name: Any, most: int = 24) -> str:
    """Shorten a name to one line of printable characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    return text if len(text) <= most else text[: most - 1] + "…"
