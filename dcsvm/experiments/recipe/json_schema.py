"""A JSON schema of recipes, so that editors can complete and check them."""

import typing
from typing import Any, get_args

import attrs

from dcsvm.base.component import options_of, settings_of, type_hints
from dcsvm.drive.decision_thresholds import BEST, SCORES
from dcsvm.drive.registry import KINDS, Registry
from dcsvm.drive.validation import Method
from dcsvm.experiments.recipe.component_reader import SEARCHED
from dcsvm.experiments.recipe.sections import (
    CLASS_WEIGHT,
    COSTS,
    PROBABILITY,
    THRESHOLD,
    Data,
    Measure,
    Search,
    Split,
    Suits,
)

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

PROBABILITIES: dict[str, Any] = {
    "description": "where probabilities come from; auto: from the models, or else learned from "
    "rows that they were not trained on",
    "enum": list(get_args(Method)),
}
THRESHOLDS: dict[str, Any] = {
    "description": "of two classes, answer the rarer one from this probability on; best: the one "
    "with the best score on rows held out",
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"enum": ["none", *(BEST + score for score in SCORES)]},
    ],
}
COST: dict[str, Any] = {"type": "number", "minimum": 0}
COST_TABLES: dict[str, Any] = {
    "description": "what it costs to miss a row of a class, or tables of that by the class "
    "that is answered; the class of least expected cost is",
    "anyOf": [
        {"enum": ["none"]},
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [COST, {"type": "object", "additionalProperties": COST}]
            },
        },
    ],
}


def build_schema(registry: Registry) -> dict[str, Any]:
    """The schema of a recipe that may name what this registry offers."""
    strategy: dict[str, Any] = {kind: {"$ref": f"#/$defs/{kind}"} for kind in KINDS}
    strategy[CLASS_WEIGHT] = CLASS_WEIGHTS
    strategy |= {PROBABILITY: PROBABILITIES, THRESHOLD: THRESHOLDS, COSTS: COST_TABLES}
    search = _describe_table(Search)
    search["properties"] |= {key: {"type": "object"} for key in SEARCHED}
    for key in (CLASS_WEIGHT, PROBABILITY, THRESHOLD, COSTS):
        search["properties"][key] = {"type": "array", "items": strategy[key]}
    rival = _describe_object({**strategy, "search": search})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a dcsvm recipe",
        **_describe_object(
            {
                "about": {"type": "string", "description": "one sentence on when to use it"},
                "name": {"type": "string", "description": "what results are called"},
                "suits": _describe_table(Suits),
                "auto": {
                    "type": "number",
                    "description": "its place in the portfolio of auto; without: not in it",
                },
                "extends": {"type": "string", "description": "a recipe to stand on"},
                "data": _describe_table(Data),
                "split": _describe_table(Split),
                **strategy,
                "search": search,
                "measure": _describe_table(Measure),
                "compare": {"type": "object", "additionalProperties": rival},
            }
        ),
        "$defs": {kind: _describe_kind(kind, registry) for kind in KINDS},
    }


def _describe_kind(kind: str, registry: Registry) -> dict[str, Any]:
    """A component by its name, or a table with its settings; for a learner, a strategy too."""
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
        inner: dict[str, Any] = {each: {"$ref": f"#/$defs/{each}"} for each in KINDS}
        strategy = _describe_object({**inner, PROBABILITY: PROBABILITIES})
        strategy["required"] = list(KINDS)
        choices.append(strategy)
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
