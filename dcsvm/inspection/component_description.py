"""Descriptions of registered components and recipes as plain data."""

import inspect
import json
from typing import Any

import attrs

from dcsvm.base.component import describe_allowed, settings_of
from dcsvm.drive.registry import KINDS, RECIPE, Offer


def describe(offer: Offer) -> dict[str, Any]:
    """Return what `dcsvm plugins show` prints.

    `yields` and `accepts` are empty if they depend on the settings, as for a sum.
    """
    described: dict[str, Any] = {
        "kind": offer.kind,
        "name": offer.name,
        "distribution": offer.distribution,
        "version": offer.version,
    }
    if offer.kind == RECIPE:
        return {**described, "about": offer.summary, "text": offer.what}
    described["about"] = _prose(offer.what)
    for word in ("yields", "accepts"):
        if hasattr(offer.what, word):
            words = getattr(offer.what, word)
            described[word] = sorted(words) if isinstance(words, frozenset) else []
    described["settings"] = [
        {
            "setting": name,
            "default": _in_toml(field.default),
            "allowed": describe_allowed(offer.what, name),
            "help": field.metadata.get("help", ""),
        }
        for name, field in (settings_of(offer.what) if offer.kind in KINDS else {}).items()
    ]
    return described


def _prose(cls: type) -> str:
    """Return a docstring up to its first section."""
    lines: list[str] = []
    for line in (inspect.getdoc(cls) or "").splitlines():
        if line.startswith("---"):
            del lines[-1]
            break
        lines.append(line)
    return "\n".join(lines).strip()


def _in_toml(default: Any) -> str:
    if default is attrs.NOTHING:
        return "required"
    if default is None:
        return "none"
    try:
        return json.dumps(default)
    except TypeError:
        return str(default)
