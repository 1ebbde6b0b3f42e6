"""Sentences that the terminal and reports share, on columns, rare classes and cost ratios."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.drawing import shorten

#: A class with fewer rows than this is hard to learn, and harder to judge.
RARE = 10
#: Names that are listed before "and so many more".
LISTED = 6
#: Kinds of columns that are no features, and why they are none.
LEFT_OUT = {
    "id": "a value of its own in nearly every row",
    "counter": "counts the rows; `numeric` keeps it",
    "constant": "always the same",
    "empty": "empty",
    "dropped": "as asked",
}


@attrs.frozen
class RareClass:
    """A class of few rows: how many of them were tested, and how many of these were right."""

    name: str
    rows: int
    tested: int
    right: int

    def __str__(self) -> str:
        tested = f"{self.tested} tested, {self.right} right" if self.tested else "none tested"
        return f"{shorten(self.name)} ({format_count(self.rows, 'row', 'rows')}, {tested})"


def find_rare_classes(labels: Any, truth: Any, answers: Any) -> list[RareClass]:
    """The classes of few rows, the rarest first: `labels` of all rows, `truth` of those tested."""
    found = []
    for label, rows in zip(*np.unique(labels, return_counts=True), strict=True):
        if rows < RARE:
            mine = truth == label
            right = int(np.count_nonzero(mine & (answers == label)))
            found.append(RareClass(str(label), int(rows), int(np.count_nonzero(mine)), right))
    return sorted(found, key=lambda each: (each.rows, each.name))


def describe_rare_classes(rare: Sequence[RareClass]) -> str:
    """Rare classes in a sentence; empty if there are none."""
    if not rare:
        return ""
    return f"rare classes, hard to learn and to judge: {join_names([str(each) for each in rare])}"


def describe_columns(columns: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """The columns of a file in a sentence or two: what they were taken for, what was left out."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        counts = str(column.get("about", "")).endswith("counts the rows")
        kind = "counter" if counts else str(column["kind"])
        kinds.setdefault(kind, []).append(shorten(column["column"]))
    features = []
    if "number" in kinds:
        features.append(format_count(len(kinds["number"]), "number", "numbers"))
    if "category" in kinds:
        many = format_count(len(kinds["category"]), "category", "categories")
        features.append(f"{many} ({join_names(kinds['category'])})")
    if features:
        yield f"columns: {', '.join(features)}"
    gaps = [
        f"{shorten(column['column'])} ({found[1]})"
        for column in columns
        if column["kind"] in ("number", "category")
        and (found := re.search(r"(\d+) missing$", str(column.get("about", ""))))
    ]
    if gaps:
        yield f"missing values filled in: {join_names(gaps)}"
    left_out = [
        f"{join_names(kinds[kind])} ({why})" for kind, why in LEFT_OUT.items() if kind in kinds
    ]
    if left_out:
        yield f"left out: {'; '.join(left_out)}"


def compute_nsv_ratios(models: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """How many times fewer kernel values each model's rows take than the undivided one's.

    `models` are flat measures. Undivided is the model of one part; of several, the one that takes
    most. None where nothing is undivided, or no other model takes kernel values.
    """
    taken = [each.get("kernel_evaluations_mean") or 0.0 for each in models]
    undivided = max(
        (own for own, each in zip(taken, models, strict=True) if each.get("n_parts") == 1),
        default=0.0,
    )
    alone = sum(own > 0 for own in taken) < 2
    return [None if alone or not undivided or not own else undivided / own for own in taken]


def join_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def format_count(n: int, one: str, several: str) -> str:
    """A number and what it counts."""
    return f"{n:,} {one if n == 1 else several}"
