"""One cell of a search put into the tables of a recipe: values at keys such as `learner.C`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from dcsvm.drive.registry import KINDS


class NoSuchKeyError(KeyError):
    """A key of [search] leads nowhere."""

    def __str__(self) -> str:
        return str(self.args[0])


def apply_cell(table: dict[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of the components with the values of a cell put at their keys."""
    changed = copy.deepcopy(table)
    for name, value in cell.items():
        *way, last = name.split(".")
        if way and way[0] == "data":
            continue
        inner: Any = changed
        for word in way:
            if isinstance(inner, list) and word.isdigit() and int(word) < len(inner):
                inner = inner[int(word)]
                continue
            if not isinstance(inner, dict) or (word in KINDS and word not in inner):
                raise NoSuchKeyError(f"{name} leads nowhere: there is no {word!r}")
            if isinstance(inner.get(word), str) and word in KINDS:
                inner[word] = {"use": inner[word]}
            inner = inner.setdefault(word, {})
        if not isinstance(inner, dict):
            raise NoSuchKeyError(f"{name} leads nowhere: {'.'.join(way)} is no table")
        inner[last] = value
    return changed
