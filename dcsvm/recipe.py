"""Recipes: a TOML file that names data, a pipeline and what to compare it with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.composition import check_composition
from dcsvm.dataset import READERS
from dcsvm.embedded import EMBEDDED
from dcsvm.errors import DcsvmError, PluginError, RecipeError, did_you_mean
from dcsvm.registry import KINDS, RECIPE, Registry
from dcsvm.settings import check_value, component, setting, settings_of
from dcsvm.toml_lines import Lines
from dcsvm.toml_lines import Path as Key

QUICKSTART = "quickstart"


@component
class Data:
    """The table [data]: where rows come from and how their features are made comparable."""

    name: ClassVar[str] = "[data]"

    path: str | None = setting(None, help="a file, seen from the recipe's folder")
    use: str | None = setting(None, help="the name of an embedded set")
    target: str | None = setting(None, help="the column that holds the classes")
    rows: int | None = setting(None, at_least=10, help="how many, of a generated set")
    scale: Literal["minmax", "standard", "none"] = setting(
        "minmax", help="features to [0, 1], to mean 0 and deviation 1, or as they are"
    )


@component
class Split:
    """The table [split]: which rows are held out to measure on."""

    name: ClassVar[str] = "[split]"

    test: float | None = setting(None, above=0, below=1, help="share of the rows held out")
    seed: int = setting(0, at_least=0, help="of the split and of the models")


@attrs.frozen(eq=False)
class Candidate:
    """A pipeline under the name it has in the table of results."""

    name: str
    classifier: DivideAndConquerClassifier


@attrs.frozen(eq=False)
class Recipe:
    """A checked recipe. The first candidate is the recipe's own, the others are compared to it."""

    title: str
    about: str
    data: Data
    split: Split
    candidates: tuple[Candidate, ...]
    folder: Path


def find_recipe(name: str | None, registry: Registry) -> Recipe:
    """Read the recipe file at that path, or the registered recipe of that name."""
    name = QUICKSTART if name is None else name
    path = Path(name)
    offer = registry.offers.get((RECIPE, name))
    if offer is not None and not path.is_file():
        return parse(offer.what, name, Path(), registry)
    if path.is_dir():
        raise RecipeError(f"recipe {name!r} is a directory, not a TOML file")
    if not path.exists():
        hint = did_you_mean(name, registry.names(RECIPE))
        raise RecipeError(f"no recipe file or registered recipe is called {name!r}; {hint}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError(f"recipe {name!r} is not text in UTF-8: {error.reason}") from error
    except OSError as error:
        raise RecipeError(f"recipe {name!r} cannot be read: {error.strerror}") from error
    return parse(text, name, path.parent, registry)


def parse(text: str, source: str, folder: Path, registry: Registry) -> Recipe:
    """Check a recipe's text and build what it names; all its mistakes come in one error."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(_not_toml(source, text, str(error))) from error
    except RecursionError:
        raise RecipeError(f"{source}: not a recipe: it is nested too deeply") from None
    reader = _Reader(source, text, registry)
    recipe = reader.recipe(table, folder)
    reader.raise_mistakes()
    return recipe


def _not_toml(source: str, text: str, message: str) -> str:
    """Turn tomllib's `Invalid value (at line 3, column 5)` into `source:3:5: ...`."""
    what, _, place = message.removesuffix(")").rpartition(" (at ")
    found = re.fullmatch(r"line (\d+), column (\d+)", place)
    where = f"{found[1]}:{found[2]}" if found else str(text.count("\n") + 1)
    return f"{source}:{where}: not TOML: {what[:1].lower()}{what[1:]}"


class _Reader:
    """Reads one recipe and remembers every mistake with its line."""

    KEYS = ("about", "name", "data", "split", *KINDS, "compare")

    def __init__(self, source: str, text: str, registry: Registry) -> None:
        self.source = source
        self.lines = Lines(text)
        self.registry = registry
        self.mistakes: dict[str, tuple[int, DcsvmError]] = {}

    def recipe(self, table: dict[str, Any], folder: Path) -> Recipe:
        self._check_keys((), table, self.KEYS, "a recipe")
        name = self._text(table, "name", Path(self.source).stem)
        about = self._text(table, "about", "")
        data = self._plain(Data, "data", table)
        self._check_data(data, "data" in table)
        split = self._plain(Split, "split", table)
        candidates = [Candidate(name, self._pipeline((), table))]
        others = table.get("compare", {})
        if not isinstance(others, dict):
            self._complain(("compare",), RecipeError("compare must hold tables, one per rival"))
            others = {}
        candidates += [self._rival(rival, table, other) for rival, other in others.items()]
        return Recipe(self.source, about, data, split, tuple(candidates), folder)

    def raise_mistakes(self) -> None:
        """Raise all mistakes as one error, in the order of their lines."""
        if self.mistakes:
            ordered = sorted(self.mistakes, key=lambda message: self.mistakes[message][0])
            broken = any(isinstance(error, PluginError) for _, error in self.mistakes.values())
            raise (PluginError if broken else RecipeError)("\n".join(ordered))

    def _complain(self, key: Key, error: DcsvmError) -> None:
        line = self.lines.of(key)
        where = self.source if line is None else f"{self.source}:{line}"
        self.mistakes.setdefault(f"{where}: {error}", (line or 0, error))

    def _text(self, table: dict[str, Any], key: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            self._complain((key,), RecipeError(f"{key} must be a text, not {value!r}"))
        return str(value)

    def _check_keys(self, at: Key, table: Any, known: Any, title: str) -> None:
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known)
                self._complain((*at, key), RecipeError(f"{title} has no key {key!r}; {hint}"))

    def _plain(self, cls: type, key: str, recipe: dict[str, Any]) -> Any:
        """Read a table of plain values, such as [data]."""
        table = recipe.get(key, {})
        if not isinstance(table, dict):
            self._complain((key,), RecipeError(f"{key} must be a table, not {table!r}"))
            return cls()
        self._check_keys((key,), table, settings_of(cls), f"[{key}]")
        return cls(**self._checked_values((key,), cls, table))

    def _checked_values(self, at: Key, cls: Any, table: dict[str, Any]) -> dict[str, Any]:
        good = {}
        for key in table.keys() & settings_of(cls).keys():
            try:
                check_value(cls, key, table[key])
                good[key] = table[key]
            except DcsvmError as error:
                self._complain((*at, key), error)
        return good

    def _check_data(self, data: Data, given: bool) -> None:
        if (data.path is None) == (data.use is None):
            what = "[data] needs one of the keys 'path' and 'use'"
            self._complain(("data",), RecipeError(what if given else f"[data] is missing: {what}"))
        elif data.path is not None:
            self._check_file(data)
        elif data.use not in EMBEDDED:
            hint = did_you_mean(str(data.use), EMBEDDED)
            message = f"no embedded data set is called {data.use!r}; {hint}"
            self._complain(("data", "use"), RecipeError(message))
        elif data.rows is not None and not EMBEDDED[data.use].generated:
            message = f"[data]: rows can be asked of a generated set only, not of {data.use!r}"
            self._complain(("data", "rows"), RecipeError(message))

    def _check_file(self, data: Data) -> None:
        suffix = Path(str(data.path)).suffix.lower()
        if suffix not in READERS:
            known = ", ".join(READERS)
            message = f"[data]: no reader knows the ending {suffix!r}; available: {known}"
            self._complain(("data", "path"), RecipeError(message))
        if suffix == ".csv" and data.target is None:
            message = "[data] needs the key 'target': the column that holds the classes"
            self._complain(("data",), RecipeError(message))
        if data.rows is not None:
            message = "[data]: rows can be asked of a generated set only, not of a file"
            self._complain(("data", "rows"), RecipeError(message))

    def _rival(self, name: str, recipe: dict[str, Any], table: Any) -> Candidate:
        """A pipeline to compare with: what its table leaves out is as in the recipe's own."""
        at: Key = ("compare", name)
        if not isinstance(table, dict):
            self._complain(at, RecipeError(f"[compare.{name}] must be a table, not {table!r}"))
            table = {}
        self._check_keys(at, table, KINDS, f"[compare.{name}]")
        return Candidate(name, self._pipeline(at, table, recipe))

    def _pipeline(self, at: Key, table: Any, fallback: Any = None) -> DivideAndConquerClassifier:
        """Build the three components of a table, checking that they fit."""
        parts: dict[str, Any] = {}
        for kind in KINDS:
            if kind in table:
                parts[kind] = self._component(kind, (*at, kind), table[kind])
            elif fallback is not None and kind in fallback:
                parts[kind] = self._component(kind, (kind,), fallback[kind])
            elif fallback is None:
                title = _title((*at, kind))
                self._complain(at, RecipeError(f"{title} is missing: name a {kind}"))
        if parts.get("decomposer") is not None and parts.get("combiner") is not None:
            try:
                check_composition(parts["decomposer"], parts["combiner"], self.registry)
            except DcsvmError as error:
                place = "combiner" if "combiner" in table else "decomposer"
                self._complain((*at, place), error)
        return DivideAndConquerClassifier(**parts)

    def _component(self, kind: str, at: Key, given: Any) -> Any:
        """Build one component from its name or table; None where it is mistaken."""
        table = {"use": given} if isinstance(given, str) else given
        if not isinstance(table, dict):
            message = f"a {kind} is a name, or a table with the key 'use', not {given!r}"
            return self._complain(at, RecipeError(message))
        if kind == "learner" and "use" not in table and table.keys() & KINDS.keys():
            self._check_keys(at, table, KINDS, _title(at))
            return self._pipeline(at, table)
        if not isinstance(table.get("use"), str):
            message = f"{_title(at)} needs the key 'use': the name of a {kind}"
            return self._complain((*at, "use"), RecipeError(message))
        try:
            cls = self.registry.get(kind, table["use"])
        except DcsvmError as error:
            return self._complain((*at, "use"), error)
        before = len(self.mistakes)
        settings = self._settings(at, cls, {key: table[key] for key in table if key != "use"})
        if len(self.mistakes) > before:
            return None
        try:
            return self.registry.resolve(kind, self.registry.build(kind, cls.name, **settings))
        except DcsvmError as error:
            return self._complain(at, error)

    def _settings(self, at: Key, cls: Any, table: dict[str, Any]) -> dict[str, Any]:
        known = settings_of(cls)
        for key in table:
            if key not in known:
                message = f"{cls.name} has no setting {key!r}; {did_you_mean(key, known)}"
                self._complain((*at, key), RecipeError(message))
        settings = self._checked_values(at, cls, table)
        for key in settings:
            kind = known[key].metadata.get("kind")
            if kind and isinstance(table[key], list):
                settings[key] = tuple(
                    self._component(kind, (*at, key, number), each)
                    for number, each in enumerate(table[key])
                )
            elif kind:
                settings[key] = self._component(kind, (*at, key), table[key])
        return settings


def _title(at: Key) -> str:
    return f"[{'.'.join(map(str, at))}]"
