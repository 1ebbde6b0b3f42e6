"""A recipe's table checked key by key, and turned into the components that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from dcsvm.base.component import check_value, settings_of, takes_several, wrap_single_value
from dcsvm.base.errors import DcsvmError, PluginError, RecipeError, UnknownNameError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import KINDS, RECIPE, Registry, default_registry
from dcsvm.drive.validation import check_composition, check_support, without_levels
from dcsvm.experiments.recipe.grids import find_learner_mistakes, find_level_mistakes
from dcsvm.experiments.recipe.key_suggestions import find_nearest_word, suggest_keys
from dcsvm.experiments.recipe.layers import (
    SEARCH,
    LayeredRecipe,
    Place,
    find_text,
    parse_layers,
    parse_override,
)
from dcsvm.experiments.recipe.overrides import NoSuchKeyError, apply_cell
from dcsvm.experiments.recipe.sections import (
    CLASS_WEIGHT,
    Data,
    Measure,
    Search,
    Split,
    Suits,
    find_class_weight_mistake,
    find_data_mistakes,
    find_measure_mistakes,
    find_search_mistakes,
    find_split_mistakes,
    find_suits_mistakes,
)
from dcsvm.experiments.recipe.toml_lines import Path as Key

QUICKSTART = "quickstart"
COMPARE = "compare"
#: What makes a pipeline.
PIPELINE = (*KINDS, CLASS_WEIGHT)
KEYS = (
    *("about", "name", "suits", "extends", "data", "split"),
    *(*PIPELINE, SEARCH, "measure", COMPARE),
)
#: What the table of a rival may hold: the rest is shared.
RIVAL_KEYS = (*PIPELINE, SEARCH)
#: The keys whose values, or whose settings, can be searched for.
SEARCHED = (*PIPELINE, "data")


@attrs.frozen(eq=False)
class Candidate:
    """A pipeline under the name it has in the table of results, and the values to choose from.

    `grid` holds lists of values by key of the recipe, such as `learner.C`.
    """

    name: str
    classifier: DivideAndConquerClassifier
    grid: Mapping[str, list[Any]] = attrs.field(factory=dict)
    table: dict[str, Any] = attrs.field(factory=dict)
    _registry: Registry | None = attrs.field(default=None, alias="registry")

    @property
    def has_levels(self) -> bool:
        """Whether a granularity search can go through its division."""
        return not self.lacks_levels

    def uses_levels(self, asked: Search) -> bool:
        """Whether its search goes from fine to coarse."""
        return asked.use == "granularity" and self.has_levels

    @property
    def lacks_levels(self) -> str:
        """Why no granularity search can go through its division, or nothing."""
        registry = self._registry or default_registry()
        return without_levels(self.classifier.decomposer, registry)

    def build_classifier(self, cell: Mapping[str, Any]) -> DivideAndConquerClassifier:
        """The pipeline with these values; keys of [data] are not its business."""
        if not cell or self._registry is None:
            return self.classifier
        reader = _Reader(
            LayeredRecipe(self.name, apply_cell(self.table, cell), {}), self._registry
        )
        classifier = reader.build_classifier((), reader.layered.table)
        reader.raise_mistakes()
        return classifier


@attrs.frozen(eq=False)
class Recipe:
    """A checked recipe. The first candidate is the recipe's own, the others are compared to it."""

    title: str
    about: str
    data: Data
    split: Split
    search: Search
    measure: Measure
    candidates: tuple[Candidate, ...]
    suits: Suits = attrs.field(default=Suits(None, None, None))

    @property
    def name(self) -> str:
        return self.candidates[0].name


def find_recipe(name: str | None, registry: Registry, overrides: Iterable[str] = ()) -> Recipe:
    """Read the recipe file at that path, or the registered recipe of that name."""
    name = QUICKSTART if name is None else name
    found = find_text(name, Path(), registry)
    if found is None:
        hint = did_you_mean(name, registry.names(RECIPE))
        raise RecipeError(f"no recipe file or registered recipe is called {name!r}; {hint}")
    return parse(*found, registry, overrides)


def parse(
    text: str, source: str, folder: Path, registry: Registry, overrides: Iterable[str] = ()
) -> Recipe:
    """Check a recipe's text and build what it names; all its mistakes come in one error."""
    whole = parse_layers(text, source, folder, registry)
    for each in overrides:
        whole = attrs.evolve(parse_override(each).merge_over(whole), source=source)
    return read(whole, registry)


def read(whole: LayeredRecipe, registry: Registry) -> Recipe:
    """Check a recipe's table and build what it names; all its mistakes come in one error."""
    reader = _Reader(whole, registry)
    recipe = reader.read_recipe()
    reader.raise_mistakes()
    return recipe


class _Reader:
    """Reads one table and remembers every mistake with its place."""

    def __init__(
        self, whole: LayeredRecipe, registry: Registry, given: frozenset[str] = frozenset()
    ) -> None:
        self.given = given
        self.layered = whole
        self.registry = registry
        self.mistakes: dict[str, tuple[Place, DcsvmError]] = {}
        self.fixed: Place | None = None

    def read_recipe(self) -> Recipe:
        table, source = self.layered.table, self.layered.source
        self._check_keys((), table, KEYS, "a recipe")
        name = self._read_text("name", Path(source).stem)
        about = self._read_text("about", "")
        data = self._read_section(
            Data, "data", lambda each: find_data_mistakes(each, "data" in table)
        )
        split = self._read_section(Split, "split", find_split_mistakes)
        measure = self._read_section(Measure, "measure", find_measure_mistakes)
        search = self._read_section(Search, SEARCH, find_search_mistakes, others=SEARCHED)
        suits = self._read_section(Suits, "suits", find_suits_mistakes)
        candidates = [self._read_candidate(name)]
        candidates += [self._read_rival(rival) for rival in self._find_rivals()]
        return Recipe(source, about, data, split, search, measure, tuple(candidates), suits)

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
        """The one of two components that the upper layer gives: the culprit, if there is one."""

        def depth(kind: str) -> tuple[int, bool]:
            return self.layered.find_place((*at, kind)).rank, kind not in self.given

        return min(kinds, key=depth)

    def _read_candidate(self, name: str) -> Candidate:
        table = self.layered.table
        before = len(self.mistakes)
        classifier = self.build_classifier((), table)
        grid = self._read_grid()
        parts = {key: table[key] for key in PIPELINE if key in table}
        if len(self.mistakes) == before:
            candidate = Candidate(name, classifier, grid, parts, self.registry)
            self._check_grid(candidate)
            mistakes = [] if len(self.mistakes) > before else [*find_learner_mistakes(candidate)]
            search = table.get(SEARCH)
            coarse = isinstance(search, dict) and search.get("use") == "granularity"
            if coarse and not self.given:  # a rival without levels, such as `whole`, has a grid
                mistakes += find_level_mistakes(candidate)
            for keys, sentence in mistakes:
                culprit = min(keys, key=lambda key: self.layered.find_place(key).rank)
                self._complain(culprit, RecipeError(sentence))
        return Candidate(name, classifier, grid, parts, self.registry)

    def _find_rivals(self) -> list[str]:
        others = self.layered.table.get(COMPARE, {})
        if not isinstance(others, dict):
            message = "compare must hold tables, one per rival"
            self._complain((COMPARE,), RecipeError(message))
            return []
        for name, table in others.items():
            if not isinstance(table, dict):
                message = f"[compare.{name}] must be a table, got {table!r}"
                self._complain((COMPARE, name), RecipeError(message))
        return [name for name, table in others.items() if isinstance(table, dict)]

    def _read_rival(self, name: str) -> Candidate:
        """A pipeline to compare with: what its table leaves out is as in the recipe's own."""
        table = self.layered.table[COMPARE][name]
        self._check_keys((COMPARE, name), table, RIVAL_KEYS, f"[compare.{name}]")
        known = {key: table[key] for key in table if key in RIVAL_KEYS}
        whole = {**self.layered.table, COMPARE: {name: known}}
        rest = frozenset(self.layered.table) - {*PIPELINE, SEARCH}
        mine = attrs.evolve(self.layered, table=whole).extract_rival(name, without=rest)
        inner = _Reader(mine, self.registry, frozenset(known))
        candidate = inner._read_candidate(name)
        for message, mistake in inner.mistakes.items():
            self.mistakes.setdefault(message, mistake)
        return candidate

    def _complain(self, key: Key, error: DcsvmError) -> None:
        place = self.fixed or self.layered.find_place(key)
        self.mistakes.setdefault(f"{place}: {error}", (place, error))

    def _read_text(self, key: str, default: str) -> str:
        value = self.layered.table.get(key, default)
        if not isinstance(value, str):
            self._complain((key,), RecipeError(f"{key} must be a text, got {value!r}"))
        return str(value)

    def _check_keys(self, at: Key, table: Any, known: Any, title: str) -> None:
        for key in table:
            if key not in known:
                homes = self._suggest_keys(at, key, known)
                meant = f"did you mean {' or '.join(map(repr, homes))}?"
                hint = meant if homes else did_you_mean(key, known)
                self._complain((*at, key), RecipeError(f"{title} has no key {key!r}; {hint}"))

    def _suggest_keys(self, at: Key, key: str, known: Any) -> list[str]:
        """Where a key belongs that was given at the top, or as one to be searched for."""
        if at not in ((), (SEARCH,)):
            return []
        whole = self.layered.table, self.registry
        homes = suggest_keys(key, *whole) or suggest_keys(
            find_nearest_word(key, known, *whole), *whole
        )
        return [each for each in homes if not at or each.partition(".")[0] in SEARCHED]

    def _read_section(self, cls: type, key: str, mistakes: Any = None, others: Any = ()) -> Any:
        """Read a table of plain values, such as [data]; `others` are keys read elsewhere."""
        table = self.layered.table.get(key, {})
        if not isinstance(table, dict):
            self._complain((key,), RecipeError(f"{key} must be a table, got {table!r}"))
            return cls()
        self._check_keys((key,), table, [*settings_of(cls), *others], f"[{key}]")
        own = {name: value for name, value in table.items() if name not in others}
        read = cls(**self._check_values((key,), cls, own))
        for path, sentence in mistakes(read) if mistakes else ():
            self._complain((key, *path), RecipeError(sentence))
        return read

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
        """Build one component from its name or table; None where it is mistaken."""
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

    def _read_grid(self) -> dict[str, list[Any]]:
        """The lists of values in [search], by the key of the recipe that they are tried at."""
        grid: dict[str, list[Any]] = {}
        search = self.layered.table.get(SEARCH, {})
        waiting: list[tuple[Key, Any]] = [
            ((key,), search[key]) for key in SEARCHED if isinstance(search, dict) and key in search
        ]
        while waiting:
            key, value = waiting.pop(0)
            if isinstance(value, dict):
                waiting += [((*key, inner), each) for inner, each in value.items()]
            elif isinstance(value, list) and value:
                grid[".".join(map(str, key))] = value
            else:
                title = ".".join(map(str, key))
                message = f"[search]: {title} must be a list of values to try, got {value!r}"
                self._complain((SEARCH, *key), RecipeError(message))
        return grid

    def _check_grid(self, candidate: Candidate) -> None:
        """Try on every value by itself; whatever is wrong with it is told at its place."""
        for name, values in candidate.grid.items():
            key: Key = tuple(name.split("."))
            if key[0] == "data":
                self._check_data_values(key, values)
                continue
            for number, value in enumerate(values):
                self.fixed = self.layered.find_place((SEARCH, *key, number))
                try:
                    self.build_classifier((), apply_cell(candidate.table, {name: value}))
                except NoSuchKeyError as error:
                    self._complain((), RecipeError(f"[search]: {error}"))
                self.fixed = None

    def _check_data_values(self, key: Key, values: list[Any]) -> None:
        if key[1:] not in {(name,) for name in Data.lasting & settings_of(Data).keys()}:
            hint = did_you_mean(".".join(map(str, key)), [f"data.{n}" for n in Data.lasting])
            message = f"[search]: {'.'.join(map(str, key))} cannot be searched for; {hint}"
            self._complain((SEARCH, *key), RecipeError(message))
            return
        for number, value in enumerate(values):
            try:
                check_value(Data, str(key[1]), value)
            except DcsvmError as error:
                self._complain((SEARCH, *key, number), error)


def _format_title(at: Key) -> str:
    return f"[{'.'.join(map(str, at))}]"
