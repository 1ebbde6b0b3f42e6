"""Recipes on top of recipes: `extends` and values of the command line, with their places."""

from __future__ import annotations

import copy
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from dcsvm.base.errors import RecipeError, UsageError, did_you_mean
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.file_formats import NEED_TARGET, READERS, find_suffix
from dcsvm.drive.registry import KINDS, RECIPE, Registry
from dcsvm.experiments.recipe.sections import Data
from dcsvm.experiments.recipe.toml_lines import Key, LineIndex

SEARCH = "search"
DATA_OPTION, TARGET_OPTION = "--data", "--target"


@attrs.frozen
class Place:
    """Where a value was given: the layer's rank, source and line.

    The rank of the command line is -1, of the recipe's own text 0, of what it extends 1 and more.
    """

    rank: int
    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


@attrs.frozen
class LayeredRecipe:
    """A recipe's table and the place of every key in it."""

    source: str
    table: dict[str, Any]
    places: dict[Key, Place]

    def find_place(self, key: Key) -> Place:
        """Return the place of a key, or of the innermost enclosing table that has one."""
        while key and key not in self.places:
            key = key[:-1]
        return self.places.get(key, Place(0, self.source))

    def merge_over(self, below: LayeredRecipe) -> LayeredRecipe:
        """Merge this table over another, key by key.

        A component with the key `use` replaces the one below, and so does another data source;
        otherwise settings are merged. A value that is set here is no longer searched for.
        """
        result = LayeredRecipe(self.source, copy.deepcopy(below.table), dict(below.places))
        for key in sorted(self.table, key=lambda key: key == SEARCH):
            _put(result, (key,), self.table, result.table)
        result.places.update(self.places)
        return result

    def extract_rival(self, name: str, *, without: frozenset[str]) -> LayeredRecipe:
        """The table `compare.name` on top of the rest of this one, as a recipe of its own."""
        at: Key = ("compare", name)
        table = self.table["compare"][name]
        own = {key[2:]: place for key, place in self.places.items() if key[:2] == at}
        mine = LayeredRecipe(self.source, table, own)
        rest = {key: value for key, value in self.table.items() if key not in without}
        places = {key: at for key, at in self.places.items() if key and key[0] not in without}
        return mine.merge_over(LayeredRecipe(self.source, rest, places))


def parse_override(given: str) -> LayeredRecipe:
    """The layer of one `key=value`; a value that is not TOML is taken as a text.

    `--data FILE`, `--target COLUMN` and others, as one text each, are short for such values.
    """
    option, space, rest = given.partition(" ")
    if space and option in SHORT:
        key, parsed = SHORT[option](rest)
        words, source = tuple(key.split(".")), f"{option} {rest}"
    else:
        words, parsed = _parse_pair(given)
        source = f"--set {given}"
    table: dict[str, Any] = {}
    inner = table
    for word in words[:-1]:
        inner = inner.setdefault(word, {})
    inner[words[-1]] = parsed
    place = Place(-1, source)
    places: dict[Key, Place] = {words[:size]: place for size in range(1, len(words) + 1)}
    return LayeredRecipe(place.source, table, places)


def _parse_pair(given: str) -> tuple[tuple[str, ...], Any]:
    key, equals, value = given.partition("=")
    words = tuple(word.strip() for word in key.split("."))
    if not equals or not all(words):
        raise UsageError(f"--set takes key=value, such as learner.C=10, not {given!r}")
    try:
        return words, tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return words, value.strip()


def _expand_data(name: str) -> tuple[str, Any]:
    embedded = name in EMBEDDED and not Path(name).exists()
    return ("data.use" if embedded else "data.path"), name


def _expand_target(name: str) -> tuple[str, Any]:
    return "data.target", int(name) if re.fullmatch(r"-?[0-9]{1,9}", name) else name


#: Options of the command line that are short for a value of the recipe.
SHORT: dict[str, Callable[[str], tuple[str, Any]]] = {
    DATA_OPTION: _expand_data,
    TARGET_OPTION: _expand_target,
    "--seconds": lambda seconds: ("search.seconds", float(seconds)),
    "--score": lambda name: ("search.score", name),
}


def find_text(name: str, folder: Path, registry: Registry) -> tuple[str, str, Path] | None:
    """Return the text, title and folder of a recipe file, or else of a registered recipe."""
    path = folder / name
    if find_suffix(path) in READERS:
        quoted = shlex.quote(name)
        target = " --target COLUMN" if find_suffix(path) in NEED_TARGET else ""
        raise RecipeError(
            f"{name!r} is a data file, not a recipe: dcsvm recipes --data {quoted}{target} lists "
            f"the recipes for it, and dcsvm run RECIPE --data {quoted}{target} runs one"
        )
    offer = registry.offers.get((RECIPE, name))
    if offer is not None and not path.is_file():
        return offer.what, name, Path()
    if path.is_dir():
        raise RecipeError(f"recipe {str(path)!r} is a directory, not a TOML file")
    if not path.exists():
        return None
    try:
        return path.read_text(encoding="utf-8"), str(path), path.parent
    except UnicodeDecodeError as error:
        raise RecipeError(f"recipe {str(path)!r} is not text in UTF-8: {error.reason}") from error
    except OSError as error:
        raise RecipeError(f"recipe {str(path)!r} cannot be read: {error.strerror}") from error


def parse_layers(
    text: str, source: str, folder: Path, registry: Registry, above: tuple[str, ...] = ()
) -> LayeredRecipe:
    """Parse a recipe and merge it over those that it extends; `above` are the ones before it."""
    table = _parse_toml(text, source)
    rank = len(above)
    lines = LineIndex(text).line_of
    own = LayeredRecipe(
        source, table, {key: Place(rank, source, line) for key, line in lines.items()}
    )
    _anchor(table, folder)
    name = table.pop("extends", None)
    if name is None:
        return own
    place = own.find_place(("extends",))
    if not isinstance(name, str):
        raise RecipeError(f"{place}: extends must be the name of a recipe, got {name!r}")
    found = find_text(name, folder, registry)
    if found is None:
        hint = did_you_mean(name, registry.names(RECIPE))
        raise RecipeError(
            f"{place}: extends: no recipe file or registered recipe is called {name!r}; {hint}"
        )
    if found[1] in (*above, source):
        circle = " -> ".join((*above, source, found[1]))
        raise RecipeError(f"{place}: circular extends: {circle}")
    parent = parse_layers(*found, registry, (*above, source))
    for own_key in ("name", "auto"):
        parent.table.pop(own_key, None)
    return own.merge_over(parent)


def _parse_toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(_format_toml_error(source, text, str(error))) from error
    except RecursionError:
        raise RecipeError(f"{source}: not a recipe: it is nested too deeply") from None


def _format_toml_error(source: str, text: str, message: str) -> str:
    """Turn tomllib's `Invalid value (at line 3, column 5)` into `source:3:5: ...`."""
    what, _, place = message.removesuffix(")").rpartition(" (at ")
    found = re.fullmatch(r"line (\d+), column (\d+)", place)
    where = f"{found[1]}:{found[2]}" if found else str(text.count("\n") + 1)
    return f"{source}:{where}: not TOML: {what[:1].lower()}{what[1:]}"


def _anchor(table: dict[str, Any], folder: Path) -> None:
    """Resolve the data path relative to the folder of the recipe."""
    data = table.get("data")
    if isinstance(data, dict) and isinstance(data.get("path"), str):
        data["path"] = str(folder / data["path"])


def _put(result: LayeredRecipe, key: Key, given: Any, below: Any) -> None:
    """Put the value at a key on top of what is below; `given` and `below` are its tables."""
    value, word = given[key[-1]], key[-1]
    old = below.get(word)
    if key[-1] in KINDS and isinstance(old, str):
        old = below[word] = {"use": old}
    if isinstance(value, dict) and isinstance(old, dict) and not _replaces(key, value, old):
        if key == ("data",) and {"path", "use"} & value.keys():
            for name in [name for name in old if name not in Data.lasting]:
                _forget(result, (*key, name), old)
        for inner in value:
            _put(result, (*key, inner), value, old)
        return
    _forget(result, key, below)
    below[word] = copy.deepcopy(value)
    if key[0] != SEARCH:
        _end_search(result, key)


def _replaces(key: Key, value: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a component is replaced, so that the settings of the old one no longer apply."""
    if key[-1] not in KINDS or key[0] == SEARCH:
        return False
    # A strategy in a component's place has no `use`; a setting of the same name is there before.
    return "use" in value or ("use" in old and bool(value.keys() & KINDS.keys() - old.keys()))


def _forget(result: LayeredRecipe, key: Key, table: dict[str, Any]) -> None:
    table.pop(str(key[-1]), None)
    for known in [known for known in result.places if known[: len(key)] == key]:
        del result.places[known]


def _end_search(result: LayeredRecipe, key: Key) -> None:
    table: Any = result.table.get(SEARCH)
    for word in key[:-1]:
        table = table.get(word) if isinstance(table, dict) else None
    if isinstance(table, dict) and key[-1] in table:
        _forget(result, (SEARCH, *key), table)
