"""Suggestions for a misspelt or misplaced key of a recipe.

`component_reader.py` checks the keys and raises.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcsvm.base.component import settings_of
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.experiments.recipe.sections import SECTIONS


def find_keys(word: str, table: Mapping[str, Any], registry: Registry) -> list[str]:
    """Return the keys of sections and components that end in this word, the shortest first.

    For the name of a component that the recipe uses, return the key of the component.
    """
    found = [
        key for key in _list_component_keys(table, "", registry) if key.rpartition(".")[2] == word
    ]
    found += [f"{name}.{word}" for name, cls in SECTIONS.items() if word in settings_of(cls)]
    found += [name for name, use in _list_components(table, "") if use == word]
    return sorted(dict.fromkeys(found), key=lambda key: key.count("."))


def find_nearest_word(
    word: str, known: Iterable[str], table: Mapping[str, Any], registry: Registry
) -> str:
    """Return the setting closest to a misspelt word; empty if a known key is closer."""
    keys = [key.rpartition(".")[2] for key in _list_component_keys(table, "", registry)]
    keys += [name for cls in SECTIONS.values() for name in settings_of(cls)]
    words = {each.lower(): each for each in keys} | {each.lower(): "" for each in known}
    nearest = difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.6)
    return words[nearest[0]] if nearest else ""


def _list_component_keys(table: Mapping[str, Any], at: str, registry: Registry) -> Iterator[str]:
    for place, use in _list_components(table, at):
        kind = place.rpartition(".")[2]
        offer = registry.offers.get((kind, use))
        if offer is not None:
            yield from (f"{place}.{name}" for name in settings_of(offer.what))


def _list_components(table: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Yield the key and the name of every component of a table, nested ones included."""
    for kind in KINDS:
        given = table.get(kind)
        if isinstance(given, str):
            yield f"{at}{kind}", given
        elif isinstance(given, Mapping):
            if isinstance(given.get("use"), str):
                yield f"{at}{kind}", given["use"]
            yield from _list_components(given, f"{at}{kind}.")
