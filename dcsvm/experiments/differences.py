"""The differences between recipes, key by key, or by name for different components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from dcsvm.base.component import settings_of
from dcsvm.drive.registry import KINDS, Registry

MISSING = "not given"
#: Keys of a recipe that are for people: they change nothing.
WORDS = ("name", "about", "suits", "auto")
#: The order of the rest.
CHOICES = ("class_weight", "probability", "threshold", "costs")
ORDER = ("data", "split", *CHOICES, *KINDS, "search", "measure", "compare")
Table = Mapping[str, Any]


def find_differences(recipes: Sequence[Table], registry: Registry) -> dict[str, list[Any]]:
    """Return the values of all recipes for each key whose values differ.

    Different components are shown on one line each: the name, and settings other than defaults.
    """
    found: dict[str, list[Any]] = {}
    for key in sorted(
        _list_keys(recipes), key=lambda key: ORDER.index(key) if key in ORDER else 99
    ):
        if key not in WORDS:
            _compare(key, [each.get(key, MISSING) for each in recipes], registry, found)
    return found


def _compare(
    key: str, values: Sequence[Any], registry: Registry, found: dict[str, list[Any]]
) -> None:
    """Put what differs under this key, or below it, into `found`."""
    if len({repr(value) for value in values}) == 1:
        return
    kind, tables = key.rpartition(".")[2], [each for each in values if isinstance(each, Mapping)]
    alike = len(tables) == len(values)
    if kind in KINDS and not key.startswith("search."):
        alike = alike and len({each.get("use") for each in tables}) == 1
        if not alike:
            found[key] = [_format_component(kind, value, registry) for value in values]
            return
    if key == "search" and not alike:
        found[key] = [
            ", ".join(_list_searched_keys(each)) if each != MISSING else each for each in values
        ]
    elif key == "compare" and len({frozenset(each) for each in values}) > 1:
        found[key] = [", ".join(each) if each != MISSING else each for each in values]
    elif alike:
        for inner in _list_keys(tables):
            inside = [each.get(inner, MISSING) for each in tables]
            _compare(f"{key}.{inner}", inside, registry, found)
    else:
        found[key] = list(values)


def _list_keys(tables: Iterable[Table]) -> list[str]:
    return list(dict.fromkeys(key for table in tables for key in table))


def _list_searched_keys(table: Table, at: str = "") -> list[str]:
    """The keys that a table [search] lists values for, such as `learner.C`."""
    found = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _list_searched_keys(value, f"{at}{key}.")
        elif at or isinstance(value, list):
            found.append(f"{at}{key}")
    return found


def _format_component(kind: str, table: Any, registry: Registry) -> str:
    """A component in few words: `tree(ceiling=1500)`."""
    if not isinstance(table, Mapping):
        return str(table)
    if "use" not in table:
        inner = (_format_component(each, table.get(each, MISSING), registry) for each in KINDS)
        return f"({', '.join(inner)})"
    offer = registry.offers.get((kind, str(table["use"])))
    known = settings_of(offer.what) if offer is not None else {}
    settings = [
        f"{name}={_format_setting(known[name], value, registry)}"
        for name, value in table.items()
        if name in known and not _is_default(known[name], value)
    ]
    return f"{table['use']}({', '.join(settings)})" if settings else str(table["use"])


def _is_default(field: attrs.Attribute[Any], value: Any) -> bool:
    default = field.default
    plain = list(default) if isinstance(default, tuple) else default
    return bool(value in (plain, {"use": plain}))


def _format_setting(field: attrs.Attribute[Any], value: Any, registry: Registry) -> str:
    kind = field.metadata.get("kind")
    if kind and isinstance(value, list):
        return f"[{', '.join(_format_component(kind, each, registry) for each in value)}]"
    return _format_component(kind, value, registry) if kind else str(value)
