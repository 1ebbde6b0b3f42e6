"""Components built from the tables of a recipe, with every mistake told at its place."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from dcsvm.base.component import check_value, settings_of, takes_several, wrap_single_value
from dcsvm.base.errors import DcsvmError, PluginError, RecipeError, UnknownNameError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.drive.validation import check_composition, check_support
from dcsvm.experiments.recipe.layers import SEARCH, LayeredRecipe, Place
from dcsvm.experiments.recipe.sections import (
    CLASS_WEIGHT,
    Data,
    Measure,
    Search,
    Split,
    find_class_weight_mistake,
)
from dcsvm.experiments.recipe.toml_lines import Key

#: The keys that make a pipeline.
PIPELINE = (*KINDS, CLASS_WEIGHT)
#: The keys whose values, or whose settings, can be searched for.
SEARCHED = (*PIPELINE, "data")
SECTIONS: dict[str, type] = {"data": Data, "split": Split, "search": Search, "measure": Measure}


class ComponentReader:
    """Builds the components of a table and collects every mistake with its place.

    `given` names the keys that a rival sets itself, if the table is that of a rival.
    """

    def __init__(
        self, whole: LayeredRecipe, registry: Registry, given: frozenset[str] = frozenset()
    ) -> None:
        self.given = given
        self.layered = whole
        self.registry = registry
        self.mistakes: dict[str, tuple[Place, DcsvmError]] = {}
        self.fixed: Place | None = None

    def raise_mistakes(self) -> None:
        """Raise all mistakes as one error, in the order of their places."""
        if self.mistakes:
            places = {message: place for message, (place, _) in self.mistakes.items()}
            ordered = sorted(places, key=lambda message: attrs.astuple(places[message]))
            broken = any(isinstance(error, PluginError) for _, error in self.mistakes.values())
            raise (PluginError if broken else RecipeError)("\n".join(ordered))

    def build_classifier(self, at: Key, table: Any) -> DivideAndConquerClassifier:
        """Build the three components of a table, checking that they fit."""
        parts: dict[str, Any] = {}
        for kind in KINDS:
            if kind in table:
                parts[kind] = self._build_component(kind, (*at, kind), table[kind])
            else:
                title = _format_title((*at, kind))
                self._complain(at, RecipeError(f"{title} is missing: name a {kind}"))
        if parts.get("decomposer") is not None and parts.get("combiner") is not None:
            try:
                check_composition(parts["decomposer"], parts["combiner"], self.registry)
            except DcsvmError as error:
                self._complain((*at, self._find_culprit(at, "combiner", "decomposer")), error)
        if parts.get("decomposer") is not None and parts.get("learner") is not None:
            try:
                check_support(parts["decomposer"], parts["learner"], self.registry)
            except DcsvmError as error:
                self._complain((*at, self._find_culprit(at, "learner", "decomposer")), error)
        weights = table.get(CLASS_WEIGHT, "none") if not at else "none"
        mistake = find_class_weight_mistake(weights)
        if mistake:
            self._complain((*at, CLASS_WEIGHT), RecipeError(mistake))
        parts[CLASS_WEIGHT] = None if weights == "none" else weights
        return DivideAndConquerClassifier(**parts)

    def _find_culprit(self, at: Key, *kinds: str) -> str:
        """Return the component that the upper layer sets: the mistake is reported there."""

        def depth(kind: str) -> tuple[int, bool]:
            return self.layered.find_place((*at, kind)).rank, kind not in self.given

        return min(kinds, key=depth)

    def _complain(self, key: Key, error: DcsvmError) -> None:
        place = self.fixed or self.layered.find_place(key)
        self.mistakes.setdefault(f"{place}: {error}", (place, error))

    def _check_keys(self, at: Key, table: Any, known: Any, title: str) -> None:
        for key in table:
            if key not in known:
                homes = self._suggest_keys(at, key, known)
                meant = f"did you mean {' or '.join(map(repr, homes))}?"
                hint = meant if homes else did_you_mean(key, known)
                self._complain((*at, key), RecipeError(f"{title} has no key {key!r}; {hint}"))

    def _suggest_keys(self, at: Key, key: str, known: Any) -> list[str]:
        """Return the full keys that an unknown key at the top or in [search] may stand for."""
        if at not in ((), (SEARCH,)):
            return []
        whole = self.layered.table, self.registry
        homes = find_keys(key, *whole) or find_keys(find_nearest_word(key, known, *whole), *whole)
        return [each for each in homes if not at or each.partition(".")[0] in SEARCHED]

    def _check_values(self, at: Key, cls: Any, table: dict[str, Any]) -> dict[str, Any]:
        good = {}
        for key in table:
            if key not in settings_of(cls):
                continue
            value = wrap_single_value(cls, key, table[key])
            try:
                check_value(cls, key, value)
                good[key] = value
            except DcsvmError as error:
                self._complain((*at, key), error)
        return good

    def _build_component(self, kind: str, at: Key, given: Any) -> Any:
        """Build one component from its name or table; None if it has a mistake."""
        table = {"use": given} if isinstance(given, str) else given
        if not isinstance(table, dict):
            message = f"a {kind} is a name, or a table with the key 'use', not {given!r}"
            return self._complain(at, RecipeError(message))
        if kind == "learner" and "use" not in table and table.keys() & KINDS.keys():
            self._check_keys(at, table, KINDS, _format_title(at))
            return self.build_classifier(at, table)
        if not isinstance(table.get("use"), str):
            message = f"{_format_title(at)} needs the key 'use': the name of a {kind}"
            return self._complain((*at, "use"), RecipeError(message))
        try:
            cls = self.registry.get(kind, table["use"])
        except UnknownNameError as error:
            near = "did you mean" in str(error)
            hint = "" if near else " (--plugin FILE.py loads a file that offers more)"
            return self._complain((*at, "use"), RecipeError(f"{error}{hint}"))
        except DcsvmError as error:
            return self._complain((*at, "use"), error)
        before = len(self.mistakes)
        settings = self._read_settings(at, cls, {key: table[key] for key in table if key != "use"})
        if len(self.mistakes) > before:
            return None
        try:
            built = self.registry.resolve(kind, self.registry.build(kind, cls.name, **settings))
            built.check()
            return built
        except DcsvmError as error:
            return self._complain(at, error)

    def _read_settings(self, at: Key, cls: Any, table: dict[str, Any]) -> dict[str, Any]:
        known = settings_of(cls)
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known)
                if key == CLASS_WEIGHT:
                    hint = f'it stands at the top of a recipe: {CLASS_WEIGHT} = "balanced"'
                message = f"{cls.name} has no setting {key!r}; {hint}"
                self._complain((*at, key), RecipeError(message))
        settings = self._check_values(at, cls, table)
        for key in settings:
            kind = known[key].metadata.get("kind")
            if kind and takes_several(cls, key):
                settings[key] = tuple(
                    self._build_component(kind, (*at, key, number), each)
                    for number, each in enumerate(settings[key])
                )
            elif kind:
                settings[key] = self._build_component(kind, (*at, key), settings[key])
        return settings


class NoSuchKeyError(KeyError):
    """A key of [search] leads nowhere."""

    def __str__(self) -> str:
        return str(self.args[0])


def apply_cell(table: dict[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the tables of components with the values of a cell set."""
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


def _format_title(at: Key) -> str:
    return f"[{'.'.join(map(str, at))}]"
