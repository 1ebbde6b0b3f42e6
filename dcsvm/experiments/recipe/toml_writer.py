"""Recipes written as TOML, with every setting spelled out."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dcsvm.base.component import settings_of
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import KINDS
from dcsvm.experiments.recipe.reader import Candidate, Recipe
from dcsvm.experiments.recipe.sections import CLASS_WEIGHT, COSTS, PROBABILITY, THRESHOLD

#: Keys at the top that are left out where all strategies have the default.
DEFAULTS = ((CLASS_WEIGHT, None), (PROBABILITY, "off"), (THRESHOLD, None), (COSTS, None))

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def serialize_recipe(recipe: Recipe) -> str:
    """The recipe as TOML, with every setting written out; settings that are none are left out."""
    own, *rivals = recipe.candidates
    table: dict[str, Any] = {"name": own.name, "about": recipe.about}
    if recipe.auto is not None:
        table["auto"] = recipe.auto
    shown = [
        (key, default)
        for key, default in DEFAULTS
        if any(getattr(each.classifier, key) != default for each in recipe.candidates)
    ]
    table |= _serialize_choices(own, shown)
    for key in ("suits", "data", "split", "measure"):
        settings = _serialize_settings(getattr(recipe, key))
        if settings:
            table[key] = settings
    table.update(serialize_classifier(own.classifier))
    if own.grid or recipe.search.use == "portfolio":
        table["search"] = {**_serialize_settings(recipe.search), **_serialize_grid(own)}
    for rival in rivals:
        kept = serialize_classifier(rival.classifier) | _serialize_choices(rival, shown)
        if rival.grid:
            kept["search"] = _serialize_grid(rival)
        table.setdefault("compare", {})[rival.name] = kept
    if rivals and not own.grid and any(rival.grid for rival in rivals):
        table["search"] = _serialize_settings(recipe.search)
    return to_toml(table)


def _serialize_choices(candidate: Candidate, keys: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    given = {key: getattr(candidate.classifier, key) for key, _ in keys}
    return {key: "none" if value is None else value for key, value in given.items()}


def to_toml(table: Mapping[str, Any]) -> str:
    """A table as TOML: plain values first, then the tables in it, each with its header."""
    return "\n".join(_format_table(table, ())).strip() + "\n"


def _format_table(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    plain = [
        f"{_format_key(key)} = {_format_value(table[key])}" for key in table if key not in inner
    ]
    header = [f"[{'.'.join(map(_format_key, at))}]"] if at and (plain or not inner) else []
    lines = [*header, *plain, ""] if header or plain else []
    for key, value in inner.items():
        lines += _format_table(value, (*at, key))
    return lines


def _format_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _format_text(key)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _format_text(value)
    if isinstance(value, Mapping):
        pairs = (f"{_format_key(key)} = {_format_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_format_value, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return repr(value)


def _format_text(text: str) -> str:
    # JSON's escapes are TOML's, but for one character that TOML wants escaped, too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def serialize_classifier(classifier: DivideAndConquerClassifier) -> dict[str, Any]:
    """The three components of a strategy as tables of a recipe."""
    return {kind: _serialize_component(getattr(classifier, kind)) for kind in KINDS}


def serialize_learner(classifier: DivideAndConquerClassifier) -> dict[str, Any]:
    """A strategy as a learner of another one: its components, and its probabilities if any."""
    probable = classifier.probability != "off"
    own = {PROBABILITY: classifier.probability} if probable else {}
    return {**own, **serialize_classifier(classifier)}


def _serialize_component(component: Any) -> dict[str, Any]:
    if isinstance(component, DivideAndConquerClassifier):
        return serialize_learner(component)
    if isinstance(component, str):
        return {"use": component}
    return {"use": component.name, **_serialize_settings(component)}


def _serialize_settings(table: Any) -> dict[str, Any]:
    return {
        name: _serialize_setting(getattr(table, name), field.metadata.get("kind"))
        for name, field in settings_of(type(table)).items()
        if getattr(table, name) is not None
    }


def _serialize_setting(value: Any, kind: str | None) -> Any:
    if kind and isinstance(value, tuple | list):
        return [_serialize_component(each) for each in value]
    return _serialize_component(value) if kind else value


def _serialize_grid(candidate: Candidate) -> dict[str, Any]:
    """The values to try, as tables in tables."""
    grid: dict[str, Any] = {}
    for name, values in candidate.grid.items():
        *way, last = name.split(".")
        table = grid
        for word in way:
            table = table.setdefault(word, {})
        table[last] = values
    return grid
