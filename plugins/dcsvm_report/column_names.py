"""What the columns are called after a view, and how to read their values in the data's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.base.feature_views import Chain, Columns, LinearMap, Scaling, View
from dcsvm.toolbox.table_preparation import Preparation


@attrs.frozen
class Column:
    """A column as a router sees it: its name, and the rescaling that made it.

    An `indicator` is 1 where what its name says is so, otherwise 0.
    """

    name: str
    offset: float = 0.0
    factor: float = 1.0
    indicator: bool = False


def columns_through(
    view: View, columns: Sequence[Column], decomposer: Any = None
) -> tuple[Column, ...]:
    """The columns after a view; a decomposer with a layout knows what levels are called."""
    if isinstance(view, Chain):
        for each in view.views:
            columns = columns_through(each, columns, decomposer)
        return tuple(columns)
    if isinstance(view, Columns):
        return tuple(columns[place] for place in view.columns)
    if isinstance(view, LinearMap):
        return tuple(Column(f"direction {place}") for place in range(view.matrix.shape[1]))
    if isinstance(view, Preparation):
        return _prepared(view, columns, getattr(decomposer, "layout", None))
    if isinstance(view, Scaling):
        return _rescaled(view, columns)
    return tuple(columns)


def _rescaled(scaling: Scaling, columns: Sequence[Column]) -> tuple[Column, ...]:
    factor = np.ones(len(columns)) if scaling.factor is None else scaling.factor
    offset = np.zeros(len(columns)) if scaling.offset is None else scaling.offset
    return tuple(
        # (value - a) * f, then (that - b) * g, is (value - (a + b / f)) * (f g).
        attrs.evolve(
            column,
            offset=column.offset + float(b) / (column.factor or 1.0),
            factor=column.factor * g,
        )
        for column, b, g in zip(columns, offset, factor.tolist(), strict=True)
    )


def _prepared(view: Preparation, columns: Sequence[Column], layout: Any) -> tuple[Column, ...]:
    encoded = (view.n_levels > 0) & (view.encode == "onehot")
    numbers: Sequence[Column] = [columns[place] for place in np.flatnonzero(~encoded).tolist()]
    if isinstance(view.scaling, Scaling):
        numbers = _rescaled(view.scaling, numbers)
    levels = []
    for place in np.flatnonzero(encoded).tolist():
        known = None if layout is None else layout.features[place].levels
        for level in view.seen[place]:
            called = f"level {level}" if known is None else known[level]
            levels.append(Column(f"{columns[place].name} = {called}", indicator=True))
    marked: list[int] = [] if view.marked is None else view.marked.tolist()
    missing = [Column(f"{columns[place].name} missing", indicator=True) for place in marked]
    return (*numbers, *levels, *missing)
