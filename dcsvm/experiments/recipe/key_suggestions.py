"""Where a key belongs that was given with no table: `learner.C` for `C`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcsvm.base.component import settings_of
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.experiments.recipe.sections import Data, Measure, Search, Split

TABLES: dict[str, type] = {"data": Data, "split": Split, "search": Search, "measure": Measure}


def suggest_keys(word: str, table: Mapping[str, Any], registry: Registry) -> list[str]:
    """The keys of a recipe's tables and components that end in this word, the nearest first.

    For the name of a component that the recipe uses, the key that its settings stand below.
    """
    found = [key for key in _component_keys(table, "", registry) if _ends(key, word)]
    found += [f"{name}.{word}" for name, cls in TABLES.items() if word in settings_of(cls)]
    found += [name for name, use in _uses(table, "") if use == word]
    return sorted(dict.fromkeys(found), key=lambda key: key.count("."))


def find_nearest_word(
    word: str, known: Iterable[str], table: Mapping[str, Any], registry: Registry
) -> str:
    """The key of a table or component that a misspelt word resembles more than any known one."""
    keys = [key.rpartition(".")[2] for key in _component_keys(table, "", registry)]
    keys += [name for cls in TABLES.values() for name in settings_of(cls)]
    words = {each.lower(): each for each in keys} | {each.lower(): "" for each in known}
    nearest = difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.6)
    return words[nearest[0]] if nearest else ""


def _ends(key: str, word: str) -> bool:
    return key.rpartition(".")[2] == word


def _component_keys(table: Mapping[str, Any], at: str, registry: Registry) -> Iterator[str]:
    for place, use in _uses(table, at):
        kind = place.rpartition(".")[2]
        offer = registry.offers.get((kind, use))
        if offer is not None:
            yield from (f"{place}.{name}" for name in settings_of(offer.what))


def _uses(table: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Every component in a table, those inside others too: its key and its name."""
    for kind in KINDS:
        given = table.get(kind)
        if isinstance(given, str):
            yield f"{at}{kind}", given
        elif isinstance(given, Mapping):
            if isinstance(given.get("use"), str):
                yield f"{at}{kind}", given["use"]
            yield from _uses(given, f"{at}{kind}.")
