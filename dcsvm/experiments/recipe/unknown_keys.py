"""Unknown keys of a recipe: which they are, and what each may have been meant to be."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcsvm.base.component import settings_of
from dcsvm.base.errors import RecipeError, did_you_mean
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.experiments.recipe.sections import SECTIONS


def find_unknown_keys(
    given: Iterable[str],
    known: Iterable[str],
    title: str,
    whole: Mapping[str, Any],
    registry: Registry,
    sections: Iterable[str] | None,
) -> Iterator[tuple[str, RecipeError]]:
    """Yield each unknown key with its error.

    `title` names the table of the given keys and `whole` is that of the recipe. Suggestions are
    full keys of the recipe that begin with one of `sections`; without sections, known keys.
    """
    for key in given:
        if key in known:
            continue
        full: list[str] = []
        if sections is not None:
            full = find_keys(key, whole, registry) or find_keys(
                find_nearest_word(key, known, whole, registry), whole, registry
            )
        full = [each for each in full if each.partition(".")[0] in (sections or ())]
        hint = f"did you mean {' or '.join(map(repr, full))}?"
        hint = hint if full else did_you_mean(key, known)
        yield key, RecipeError(f"{title} has no key {key!r}; {hint}")


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
