"""Writes docs/reference.md from the code: python docs/generate_reference.py [--check]."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

import dcsvm
from dcsvm.registry import KINDS, Offer, default_registry
from dcsvm.settings import allowed, settings_of

PAGE = Path(__file__).parent / "reference.md"
COMMAND = "python docs/generate_reference.py"


def main() -> None:
    text = "\n".join(page()) + "\n"
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"docs/reference.md is out of date; write it anew with: {COMMAND}")


def page() -> Iterator[str]:
    """The lines of the reference."""
    yield "# Reference"
    yield ""
    yield f"Written by `{COMMAND}`; do not edit. The words are explained in the"
    yield "[glossary](glossary.md). On the command line, `dcsvm plugins` lists what is installed"
    yield "and `dcsvm plugins show NAME` prints one component, those of other distributions too."
    yield ""
    yield "## Names of `dcsvm`"
    yield ""
    yield "| name | what it is |"
    yield "|---|---|"
    for name in dcsvm.__all__:
        yield f"| `{name}{signature(getattr(dcsvm, name))}` | {summary(getattr(dcsvm, name))} |"
    yield ""
    yield "## Components"
    for kind in KINDS:
        for offer in default_registry().of_kind(kind):
            if offer.distribution == "dcsvm":
                yield from section(offer)


def section(offer: Offer) -> Iterator[str]:
    """What one component is, what it fits with, and its settings."""
    yield ""
    yield f"### {offer.kind} `{offer.name}`"
    yield ""
    yield offer.summary
    for sentence in fits(offer.what):
        yield ""
        yield sentence
    if settings_of(offer.what):
        yield ""
        yield "| setting | default | allowed | |"
        yield "|---|---|---|---|"
    for name, field in settings_of(offer.what).items():
        default = "required" if field.default is attrs.NOTHING else f"`{field.default!r}`"
        yield f"| `{name}` | {default} | {allowed(offer.what, name)} | {field.metadata['help']} |"


def fits(cls: Any) -> Iterator[str]:
    """What a decomposer yields, or a combiner works with; a sum yields what its summands do."""
    for verb, words in (("Yields", "yields"), ("Works with", "accepts")):
        value = getattr(cls, words, None)
        if isinstance(value, frozenset):
            yield f"{verb}: {', '.join(sorted(value))}."


def signature(what: Any) -> str:
    """How a function is called; classes and aliases are only named."""
    if not inspect.isfunction(what):
        return ""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(what).parameters.values()
    return "({})".format(", ".join(stars.get(each.kind, "") + each.name for each in parameters))


def summary(what: Any) -> str:
    """The first sentence of a docstring, or where an alias has none, what it stands for."""
    if isinstance(what, str):
        return f"`{what}`".replace("|", "\\|")
    return (inspect.getdoc(what) or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    main()
