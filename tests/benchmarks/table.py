"""What every benchmark prints: one row per comparison, aligned, or as one JSON object."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison: the medians of both sides, and what was asked of ours.

    `judged` is the number that `limit` bounds: the ratio, or something in the row's own unit.
    """

    name: str
    unit: str
    ours: float
    theirs: float
    asked: str
    judged: float
    limit: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def held(self) -> bool:
        return self.judged <= self.limit


def show(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the table, or an object of row name to ratio."""
    if as_json:
        print(json.dumps({row.name: round(row.ratio, 4) for row in rows}, indent=2))
        return
    head = ("row", "ours", "theirs", "ratio", "asked", "held")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        first, *others = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def side_by_side(repeats: int, **sides: Callable[[], Any]) -> dict[str, float]:
    """The median seconds of each side, taken in turns so that both meet the same machine."""
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(repeats):
        for side, work in sides.items():
            started = time.perf_counter()
            work()
            seconds[side].append(time.perf_counter() - started)
    return {side: statistics.median(times) for side, times in seconds.items()}


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.ours:.3f} {row.unit}",
        f"{row.theirs:.3f} {row.unit}",
        f"{row.ratio:.2f}",
        row.asked,
        "yes" if row.held else "no",
    )
