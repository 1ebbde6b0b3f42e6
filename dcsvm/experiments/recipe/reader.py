"""A recipe read from its text: every key checked, every component built.

Unknown keys and values of a wrong type are refused in `component_reader.py`, values that do not
fit together here and in `sections.py`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from dcsvm.base.component import check_value, settings_of
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import DcsvmError, RecipeError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import RECIPE, Registry
from dcsvm.drive.validation import without_levels
from dcsvm.experiments.recipe.component_reader import (
    SEARCHED,
    STRATEGY,
    ComponentReader,
    NoSuchKeyError,
    apply_cell,
)
from dcsvm.experiments.recipe.layers import (
    SEARCH,
    LayeredRecipe,
    find_text,
    parse_layers,
    parse_override,
)
from dcsvm.experiments.recipe.sections import (
    PROBABILITY,
    Data,
    Measure,
    Search,
    Split,
    Suits,
    find_data_mistakes,
    find_measure_mistakes,
    find_search_mistakes,
    find_split_mistakes,
    find_suits_mistakes,
)
from dcsvm.experiments.recipe.toml_lines import Key
from dcsvm.numeric.probability_scores import needs_probabilities

QUICKSTART = "quickstart"
COMPARE = "compare"
#: The key that lets a recipe join the portfolio: a number, its place in the order of trial.
PORTFOLIO = "auto"
KEYS = (
    *("about", "name", "suits", PORTFOLIO, "extends", "data", "split"),
    *(*STRATEGY, SEARCH, "measure", COMPARE),
)
#: The keys that the table of a rival may hold: the rest is shared.
RIVAL_KEYS = (*STRATEGY, SEARCH)
#: The keys that a mistake may lie at, and the mistake in a sentence.
Mistake: TypeAlias = tuple[tuple[Key, ...], str]


@attrs.frozen(eq=False)
class Candidate:
    """A named strategy and its search space.

    `grid` holds lists of values by key of the recipe, such as `learner.C`.
    """

    name: str
    classifier: DivideAndConquerClassifier
    grid: Mapping[str, list[Any]]
    table: dict[str, Any]
    registry: Registry

    def uses_levels(self, settings: Search) -> bool:
        """Whether its search is a granularity search."""
        return settings.use == "granularity" and not self.lacks_levels

    @property
    def lacks_levels(self) -> str:
        """Why a granularity search of its decomposer is impossible; empty if it is possible."""
        return without_levels(self.classifier.decomposer, self.registry)

    def build_classifier(self, cell: Mapping[str, Any]) -> DivideAndConquerClassifier:
        """The strategy with these values; keys of [data] are ignored."""
        if not cell:
            return self.classifier
        reader = ComponentReader(
            LayeredRecipe(self.name, apply_cell(self.table, cell), {}), self.registry
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
    #: Its place in the portfolio, if it joins.
    auto: float | None = None

    @property
    def name(self) -> str:
        return self.candidates[0].name

    @property
    def decomposers(self) -> list[Decomposer]:
        """Those of its own strategy and of its rivals."""
        return [
            each.registry.resolve("decomposer", each.classifier.decomposer)
            for each in self.candidates
        ]


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
    """Check a recipe's text and build its components; one error lists all mistakes."""
    whole = parse_layers(text, source, folder, registry)
    for each in overrides:
        whole = attrs.evolve(parse_override(each).merge_over(whole), source=source)
    return read(whole, registry)


def read(whole: LayeredRecipe, registry: Registry) -> Recipe:
    """Check a recipe's table and build its components; one error lists all mistakes."""
    reader = _RecipeReader(whole, registry)
    recipe = reader.read_recipe()
    reader.raise_mistakes()
    return recipe


class _RecipeReader(ComponentReader):
    """Reads the whole table of a recipe."""

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
        for candidate in candidates:
            for key, score in _find_improbable_scores(candidate, measure, search):
                message = f"the score {score!r} needs probabilities, and {candidate.name} has none"
                hint = 'put probability = "auto" at the top of the recipe'
                self._complain(key, RecipeError(f"{message}; {hint}"))
        return Recipe(
            *(source, about, data, split, search, measure, tuple(candidates), suits),
            auto=self._read_place(),
        )

    def _read_candidate(self, name: str) -> Candidate:
        table = self.layered.table
        before = len(self.mistakes)
        classifier = self.build_classifier((), table)
        grid = self._read_grid()
        parts = {key: table[key] for key in STRATEGY if key in table}
        candidate = Candidate(name, classifier, grid, parts, self.registry)
        if len(self.mistakes) == before:
            self._check_grid(candidate)
            mistakes = [] if len(self.mistakes) > before else [*_find_learner_mistakes(candidate)]
            search = table.get(SEARCH)
            coarse = isinstance(search, dict) and search.get("use") == "granularity"
            if coarse and not self.given:  # a rival without levels, such as `whole`, has a grid
                mistakes += _find_level_mistakes(candidate)
            for keys, sentence in mistakes:
                culprit = min(keys, key=lambda key: self.layered.find_place(key).rank)
                self._complain(culprit, RecipeError(sentence))
        return candidate

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
        """Read a rival; keys that its table leaves out are those of the recipe."""
        table = self.layered.table[COMPARE][name]
        self._check_keys((COMPARE, name), table, RIVAL_KEYS, f"[compare.{name}]")
        known = {key: table[key] for key in table if key in RIVAL_KEYS}
        whole = {**self.layered.table, COMPARE: {name: known}}
        rest = frozenset(self.layered.table) - {*STRATEGY, SEARCH}
        mine = attrs.evolve(self.layered, table=whole).extract_rival(name, without=rest)
        inner = _RecipeReader(mine, self.registry, frozenset(known))
        candidate = inner._read_candidate(name)
        for message, mistake in inner.mistakes.items():
            self.mistakes.setdefault(message, mistake)
        return candidate

    def _read_text(self, key: str, default: str) -> str:
        value = self.layered.table.get(key, default)
        if not isinstance(value, str):
            self._complain((key,), RecipeError(f"{key} must be a text, got {value!r}"))
        return str(value)

    def _read_place(self) -> float | None:
        """Return the place in the portfolio of a recipe that joins it."""
        place = self.layered.table.get(PORTFOLIO)
        if place is None or (type(place) in (int, float) and math.isfinite(place)):
            return place
        message = f"auto must be a number, the place in the portfolio, got {place!r}"
        self._complain((PORTFOLIO,), RecipeError(message))
        return None

    def _read_section(self, cls: type, key: str, mistakes: Any = None, others: Any = ()) -> Any:
        """Read a table of plain values, such as [data]; `others` are keys read elsewhere."""
        table = self.layered.table.get(key, {})
        if not isinstance(table, dict):
            self._complain((key,), RecipeError(f"{key} must be a table, got {table!r}"))
            return cls()
        self._check_keys((key,), table, [*settings_of(cls), *others], f"[{key}]")
        own = {name: value for name, value in table.items() if name not in others}
        values = self._check_values((key,), cls, own)
        for path, sentence in mistakes(cls(**values)) if mistakes else ():
            if path and path[0] in own.keys() - values.keys():
                continue  # its value is a mistake by itself
            self._complain((key, *path), RecipeError(sentence))
        return cls(**values)

    def _read_grid(self) -> dict[str, list[Any]]:
        """Return the lists of values in [search] by key of the recipe."""
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
        """Check every value by building the strategy with it."""
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


def _find_improbable_scores(
    candidate: Candidate, measure: Measure, search: Search
) -> Iterator[tuple[Key, str]]:
    """Find scores of probabilities, with their keys, if a candidate has no probabilities."""
    if candidate.classifier.probability != "off" or PROBABILITY in candidate.grid:
        return
    scored: list[tuple[Key, str]] = [
        (("measure", "scores", place), score) for place, score in enumerate(measure.scores or ())
    ]
    scored += [((SEARCH, "score"), search.score)] if candidate.grid else []
    for key, score in scored:
        if needs_probabilities(str(score)):
            yield key, score


def _find_level_mistakes(candidate: Candidate) -> Iterator[Mistake]:
    """Find a granularity search of a decomposer without levels, or of keys it cannot search."""
    if candidate.lacks_levels:
        message = f'[search]: {candidate.lacks_levels}; for any other there is use = "grid"'
        yield ((SEARCH, "use"),), message
    for name in candidate.grid:
        if not name.startswith(("learner.", "data.")):
            known = "settings of the learner and of [data]"
            message = f"[search]: granularity tries {known}, not {name}"
            if name.startswith("decomposer."):
                message += (
                    ": levels begin with what [decomposer] says, each search.factor times coarser;"
                    ' try its other settings with use = "grid", or with one search each'
                )
            yield ((SEARCH, *name.split(".")), (SEARCH, "use")), message


def _find_learner_mistakes(candidate: Candidate) -> Iterator[Mistake]:
    """Find searched settings of a learner that no part uses."""
    cells: list[dict[str, Any]] = [{}]
    for name, values in candidate.grid.items():
        cells += [{name: value} for value in values if "decomposer" in name.split(".")]
    strategies = [candidate.build_classifier(cell) for cell in cells]
    for name in candidate.grid:
        keys = [_find_own_learners(strategy, name.split(".")) for strategy in strategies]
        if all(keys):
            sentence = (
                f"{keys[0]} brings the learners of all its parts, so that {name} in [search] "
                "changes nothing; search for their settings, or leave it out"
            )
            yield (tuple(keys[0].split(".")), (SEARCH, *name.split("."))), sentence


def _find_own_learners(strategy: Any, way: list[str]) -> str:
    """Return the key of a decomposer that brings its own learners above `way`; empty if none."""
    at = ""
    while way[0] == "learner" and isinstance(strategy, DivideAndConquerClassifier):
        if strategy.decomposer.brings_learners:
            return f"{at}decomposer"
        at, way, strategy = f"{at}learner.", way[1:], strategy.learner
    return ""
