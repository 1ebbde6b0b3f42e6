"""Features that a TablePreparation makes of columns."""

from collections.abc import Iterable, Sequence
from typing import Literal

import attrs


@attrs.frozen
class PreparedFeature:
    """A feature that a TablePreparation makes of a column.

    A value of the column becomes `(value - offset) * factor`; for a "code" the value is the index
    of a level, for a "rank" its rank from 0 to 1. An "indicator" is 0 or 1.
    """

    name: str
    column: int
    kind: Literal["number", "code", "rank", "indicator"] = "number"
    offset: float = 0.0
    factor: float = 1.0


def describe_levels(
    name: str, column: int, levels: Iterable[str], is_pooled: bool
) -> Sequence[PreparedFeature]:
    """The features of the levels of a column: one each, and one for rare levels."""
    names = [*(f"{name}={level}" for level in levels), *([f"{name} rare"] if is_pooled else [])]
    return [PreparedFeature(each, column, "indicator") for each in names]
