"""Components built from the tables of a recipe; unknown keys are refused, errors name the line."""

import copy
from collections.abc import Mapping
from typing import Any

import attrs

from dcsvm.base.component import check_value, settings_of, takes_several, wrap_single_value
from dcsvm.base.errors import DcsvmError, PluginError, RecipeError, UnknownNameError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.drive.validation import (
    check_composition,
    check_decision,
    check_method,
    check_support,
)
from dcsvm.experiments.recipe.key_suggestions import find_keys, find_nearest_word
from dcsvm.experiments.recipe.layers import SEARCH, LayeredRecipe, Place
from dcsvm.experiments.recipe.sections import (
    CLASS_WEIGHT,
    COSTS,
    PROBABILITY,
    THRESHOLD,
    find_class_weight_mistake,
)
from dcsvm.experiments.recipe.toml_lines import Key

#: The keys that make a strategy.
STRATEGY = (*KINDS, CLASS_WEIGHT, PROBABILITY, THRESHOLD, COSTS)
#: The keys whose values, or whose settings, can be searched for.
SEARCHED = (*STRATEGY, "data")


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
        if PROBABILITY in table:
            try:
                parts[PROBABILITY] = check_method(table[PROBABILITY])
            except DcsvmError as error:
                self._complain((*at, PROBABILITY), error)
        if not at:
            parts |= self._read_decision(table, parts.get(PROBABILITY, "off"))
        return DivideAndConquerClassifier(**parts)

    def _read_decision(self, table: Any, probability: str) -> dict[str, Any]:
        """The threshold or the costs of a recipe, "none" being none."""
        found = {key: table[key] for key in (THRESHOLD, COSTS) if table.get(key, "none") != "none"}
        try:
            check_decision(found.get(THRESHOLD), found.get(COSTS), probability)
        except DcsvmError as error:
            self._complain((next(iter(found)),), error)
        return found

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
                suggested = self._suggest_keys(at, key, known)
                meant = f"did you mean {' or '.join(map(repr, suggested))}?"
                hint = meant if suggested else did_you_mean(key, known)
                self._complain((*at, key), RecipeError(f"{title} has no key {key!r}; {hint}"))

    def _suggest_keys(self, at: Key, key: str, known: Any) -> list[str]:
        """Return the full keys that an unknown key at the top or in [search] may stand for."""
        if at not in ((), (SEARCH,)):
            return []
        whole = self.layered.table, self.registry
        suggested = find_keys(key, *whole) or find_keys(
            find_nearest_word(key, known, *whole), *whole
        )
        return [each for each in suggested if not at or each.partition(".")[0] in SEARCHED]

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
            self._check_keys(at, table, (*KINDS, PROBABILITY), _format_title(at))
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
    """A key of [search] names nothing in the recipe."""

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
                raise NoSuchKeyError(f"{name} is not a key: there is no {word!r}")
            if isinstance(inner.get(word), str) and word in KINDS:
                inner[word] = {"use": inner[word]}
            inner = inner.setdefault(word, {})
        if not isinstance(inner, dict):
            raise NoSuchKeyError(f"{name} is not a key: {'.'.join(way)} is not a table")
        inner[last] = value
    return changed


def _format_title(at: Key) -> str:
    return f"[{'.'.join(map(str, at))}]"
