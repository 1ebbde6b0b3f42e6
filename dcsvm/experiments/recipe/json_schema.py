"""A JSON schema of recipes, so that editors can complete and check them."""

from __future__ import annotations

import typing
from typing import Any

import attrs

from dcsvm.base.component import options_of, settings_of, type_hints
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.experiments.recipe.component_reader import SEARCHED
from dcsvm.experiments.recipe.sections import CLASS_WEIGHT, Data, Measure, Search, Split, Suits

LIMITS = {
    "at_least": "minimum",
    "above": "exclusiveMinimum",
    "at_most": "maximum",
    "below": "exclusiveMaximum",
}
TYPES = {int: "integer", float: "number", bool: "boolean", str: "string", type(None): "null"}
CLASS_WEIGHTS: dict[str, Any] = {
    "description": "how much the rows of a class count; balanced: each class alike",
    "anyOf": [
        {"enum": ["none", "balanced"]},
        {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
    ],
}


def build_schema(registry: Registry) -> dict[str, Any]:
    """The schema of a recipe that may name what this registry offers."""
    pipeline: dict[str, Any] = {kind: {"$ref": f"#/$defs/{kind}"} for kind in KINDS}
    pipeline[CLASS_WEIGHT] = CLASS_WEIGHTS
    search = _describe_table(Search)
    search["properties"] |= {key: {"type": "object"} for key in SEARCHED}
    search["properties"][CLASS_WEIGHT] = {"type": "array", "items": CLASS_WEIGHTS}
    rival = _describe_object({**pipeline, "search": search})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a dcsvm recipe",
        **_describe_object(
            {
                "about": {"type": "string", "description": "one sentence on when to use it"},
                "name": {"type": "string", "description": "what results are called"},
                "suits": _describe_table(Suits),
                "extends": {"type": "string", "description": "a recipe to stand on"},
                "data": _describe_table(Data),
                "split": _describe_table(Split),
                **pipeline,
                "search": search,
                "measure": _describe_table(Measure),
                "compare": {"type": "object", "additionalProperties": rival},
            }
        ),
        "$defs": {kind: _describe_kind(kind, registry) for kind in KINDS},
    }


def _describe_kind(kind: str, registry: Registry) -> dict[str, Any]:
    """A component by its name, or a table with its settings; for a learner, a pipeline too."""
    offers = registry.of_kind(kind)
    choices = [{"enum": [offer.name for offer in offers]}]
    for offer in offers:
        table = _describe_table(offer.what)
        table["properties"]["use"] = {"const": offer.name}
        needed = [
            name
            for name, field in settings_of(offer.what).items()
            if field.default is attrs.NOTHING
        ]
        table["required"] = ["use", *needed]
        table["description"] = offer.summary
        choices.append(table)
    if kind == "learner":
        pipeline = _describe_object({each: {"$ref": f"#/$defs/{each}"} for each in KINDS})
        pipeline["required"] = list(KINDS)
        choices.append(pipeline)
    return {"anyOf": choices}


def _describe_table(cls: type) -> dict[str, Any]:
    return _describe_object({name: _describe_setting(cls, name) for name in settings_of(cls)})


def _describe_setting(cls: type, name: str) -> dict[str, Any]:
    field = settings_of(cls)[name]
    kind = field.metadata.get("kind")
    described = {"description": field.metadata["help"]} if field.metadata.get("help") else {}
    if kind:
        one = {"$ref": f"#/$defs/{kind}"}
        return {"anyOf": [one, {"type": "array", "items": one}], **described}
    limits = {LIMITS[word]: value for word, value in field.metadata.get("limits", {}).items()}
    options = [
        _describe_option(each, limits) for each in options_of(type_hints(cls).get(name, Any))
    ]
    known = [each for each in options if each is not None and each != {"type": "null"}]
    schema = known[0] if len(known) == 1 else {"anyOf": known}
    return {**(schema if known else {}), **described}


def _describe_option(option: Any, limits: dict[str, float]) -> dict[str, Any] | None:
    """The schema of one type; None for what no recipe can say, such as a function."""
    if option is Any:
        return {}
    if typing.get_origin(option) is typing.Literal:
        return {"const": typing.get_args(option)[0]}
    if option == list[str]:
        return {"type": ["array", "string"], "items": {"type": ["string", "integer"]}}
    origin = typing.get_origin(option) or option
    if origin in (list, tuple):
        return {"type": "array"}
    if origin is dict:
        return {"type": "object"}
    if origin not in TYPES:
        return None
    return {"type": TYPES[origin], **(limits if origin in (int, float) else {})}


def _describe_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}
