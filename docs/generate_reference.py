"""Writes docs/reference from the code: python docs/generate_reference.py [--check]."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import runpy
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import typer
from typer.models import OptionInfo

import dcsvm
from dcsvm.base.component import Component, describe_allowed, settings_of
from dcsvm.cli import app
from dcsvm.drive.committee.group import Group
from dcsvm.drive.registry import KINDS, Offer, Registry, default_registry
from dcsvm.experiments.recipe import sections
from dcsvm.experiments.recipe.json_schema import build_schema
from dcsvm.inspection.component_description import describe
from dcsvm.numeric import Stored
from dcsvm.toolbox import Answers, Combination

HERE, COMMAND = Path(__file__).parent, "python docs/generate_reference.py"
#: The plain tables of a recipe by their keys.
TABLES: dict[str, Any] = {
    "data": sections.Data,
    "split": sections.Split,
    "search": sections.Search,
    "measure": sections.Measure,
    "suits": sections.Suits,
}
#: Modules with public names of their own.
MODULES = (
    "dcsvm.toolbox",
    "dcsvm.numeric",
    "dcsvm.drawing",
    "dcsvm.inspection",
    "dcsvm.model_selection",
    "dcsvm.datasets.loading",
    "dcsvm.testing",
    "dcsvm_plugins.decomposers.tree.region_bound",
    "dcsvm_plugins.decomposers.oblique_tree.leaf_complexity",
    "dcsvm_plugins.combiners.dag.margin_bounds",
)
#: The classes that plugins derive from or are given, for a section each.
CONTRACT: tuple[type, ...] = (
    *(Component, dcsvm.Decomposer, dcsvm.LocalLearner, dcsvm.Combiner, Combination),
    *(dcsvm.Router, dcsvm.LocalModel, Stored, dcsvm.Problem, dcsvm.Part, dcsvm.Task),
    *(dcsvm.Member, dcsvm.Division, dcsvm.Routing, dcsvm.Committee, Group, Answers),
)
#: What the names of types stand for.
ALIASES = {
    "BoolArray": "A NumPy array of booleans.",
    "FloatArray": "A NumPy array of floating-point numbers.",
    "Floats": "A NumPy array of float64.",
    "IntArray": "A NumPy array of whole numbers.",
    "Matrix": "Rows (n, d): a NumPy array of floats or a SciPy CSR matrix.",
    "Rows": "Rows (n, d): a NumPy array of floats or a SciPy CSR matrix.",
    "Step": "The number of a step of a plan.",
}
#: What the schema does not say of the keys that hold tables.
MEANINGS = {
    "decomposer": "how rows are divided: a name, or a table with the key `use` and settings",
    "learner": "what learns each part: a name, a table, or a nested strategy",
    "combiner": "how answers are put together: a name, or a table with the key `use` and settings",
    "compare": "strategies to compare by name, each a table with keys for strategy and search",
}


def main() -> None:
    stale = []
    for name, lines in pages().items():
        text = "\n".join(lines) + "\n"
        page = HERE / name
        if sys.argv[1:] != ["--check"]:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            stale.append(f"docs/{name}")
    if stale:
        sys.exit(f"{', '.join(stale)} out of date; write anew with: {COMMAND}")


def pages() -> dict[str, Iterator[str]]:
    """The lines of every generated page, by its place under docs."""
    return {
        "reference.md": contents(),
        "reference/commands.md": commands(),
        "reference/recipe_keys.md": recipe_keys(),
        "reference/components.md": components(),
        "reference/contract.md": contract(),
        "reference/laws.md": runpy.run_path(str(HERE / "laws_page.py"))["laws"](COMMAND),
        "reference/names.md": names(),
    }


def contents() -> Iterator[str]:
    yield from head("Reference", "Generated from the code; terms are defined in the")
    yield "[glossary](glossary.md)."
    yield from table("page", "contents")
    for page, about in {
        "Commands": "every command of `dcsvm` with its options",
        "Recipe keys": "every key of the recipe language",
        "Components": "every built-in component with its settings",
        "Contract": "every method of the classes of a plugin",
        "Laws": "what the conformance kit checks, and how many laws each component keeps",
        "Names": "every public name of the package `dcsvm` and of other modules",
    }.items():
        yield f"| [{page}](reference/{page.lower().replace(' ', '_')}.md) | {about} |"


def head(title: str, *lines: str) -> Iterator[str]:
    """The first lines of a page."""
    yield from (f"# {title}", "")
    yield f"Written by `{COMMAND}`; do not edit."
    yield from lines


def table(*titles: str) -> Iterator[str]:
    """The first lines of a table."""
    yield ""
    yield f"| {' | '.join(titles)} |"
    yield "|" + len(titles) * "---|"


def row(*cells: str) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def escaped(cell: str) -> str:
    """A cell's text, with what would end the cell or begin a tag made harmless."""
    return re.sub(r"(?<!\\)\|", r"\\|", cell).replace("<", "&lt;")


# Commands ---------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    yield from head("Commands", "Data go to standard output, messages to standard error. Exit")
    yield "codes: 0 done, 1 the run failed, 2 wrong usage or a bad recipe, 3 a plugin is missing"
    yield "or broken, 4 bad data, 5 finished but partial, 130 interrupted. Every command has"
    yield "`--help`; `dcsvm --install-completion` makes the shell complete commands and options."
    for path, function in every_command(app, "dcsvm"):
        yield ""
        yield f"## `{path}`"
        yield ""
        yield summary(function) or "Divide-and-conquer kernel classifiers."
        parameters = list(parameters_of(function))
        if parameters:
            yield from table("argument or option", "allowed", "default", "")
        for cells in parameters:
            yield row(*cells)


def every_command(group: typer.Typer, path: str) -> Iterator[tuple[str, Any]]:
    """Every command's path and function, the group's own first."""
    if group.registered_callback is not None:
        yield path, group.registered_callback.callback
    for command in group.registered_commands:
        assert command.callback is not None
        yield f"{path} {command.name or command.callback.__name__}", command.callback
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from every_command(inner.typer_instance, f"{path} {inner.name}")


def parameters_of(function: Any) -> Iterator[tuple[str, str, str, str]]:
    """How each parameter is written, what it takes, its default and its meaning."""
    hints = typing.get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if typing.get_origin(hints[name]) is not typing.Annotated:
            continue  # typer's own context
        kind, info = typing.get_args(hints[name])[:2]
        # The first name given to an option stands where its default would.
        first = info.default if isinstance(info, OptionInfo) else info.metavar or name.upper()
        names = "/".join([str(first), *(info.param_decls or ())]).split("/")
        written = " or ".join(f"`{each}`" for each in names)
        default = parameter.default
        if default is inspect.Parameter.empty:
            shown = "required"
        else:
            shown = "" if default is None or default is False else f"`{default}`"
        yield written, taken(kind, info.min), shown, info.help or ""


def taken(kind: Any, least: float | None) -> str:
    """What the value of an option may be, in words; nothing for one that takes no value."""
    if typing.get_origin(kind) is list:
        return f"{taken(typing.get_args(kind)[0], least)}, repeatable"
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(f"`{each}`" for each in typing.get_args(kind))
    if type(None) in typing.get_args(kind):
        return taken(typing.get_args(kind)[0], least)
    words = {bool: "", int: "a whole number", str: "a text", Path: "a path", float: "a number"}
    return words[kind] if least is None else f"{words[kind]} of at least {least}"


# Recipe keys ------------------------------------------------------------------------------------


def recipe_keys() -> Iterator[str]:
    yield from head("Recipe keys", "A recipe is a TOML file. `dcsvm recipes schema` prints a JSON")
    yield "schema for editors. An error names the file, the line and the nearest key."
    yield ""
    yield "## The recipe itself"
    yield from table("key", "allowed", "")
    schema = build_schema(built_in())
    for key, value in schema["properties"].items():
        yield row(f"`{key}`", kind_of(key, value), value.get("description") or meaning(key))
    for key, cls in TABLES.items():
        yield ""
        yield f"## `[{key}]`"
        yield ""
        yield meaning(key)[0].upper() + meaning(key)[1:] + "."
        yield from table("key", "default", "allowed", "")
        for name, field in settings_of(cls).items():
            yield row(
                f"`{name}`", default_of(field), describe_allowed(cls, name), field.metadata["help"]
            )
        for name, value in schema["properties"][key]["properties"].items():
            if name not in settings_of(cls):
                nested = value.get("type") == "object"
                kind = "a table of settings, each a list" if nested else "a list"
                yield row(f"`{name}`", "none", kind, "values to try")
    yield ""
    yield "## `[compare.NAME]`"
    yield ""
    yield "A strategy to compare with. Keys that are not given are those of the recipe."
    yield from table("key", "")
    for key, value in schema["properties"]["compare"]["additionalProperties"][
        "properties"
    ].items():
        yield row(f"`{key}`", value.get("description") or f"as in the recipe: {meaning(key)}")


def meaning(key: str) -> str:
    """What a key that holds a table is for: the sentence of the class that reads it."""
    if key in MEANINGS:
        return MEANINGS[key]
    return summary(TABLES[key]).partition(": ")[2].rstrip(".")


def kind_of(key: str, schema: dict[str, Any]) -> str:
    if key in KINDS:
        return f"a {key}, see [components](components.md)"
    if "anyOf" in schema:
        return " or ".join(kind_of(key, each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    named = {"string": "a text", "object": "a table", "number": "a number"}
    return named.get(schema.get("type", ""), "any value")


def default_of(field: Any) -> str:
    if field.default is attrs.NOTHING:
        return "required"
    return "none" if field.default is None else f"`{json.dumps(field.default)}`"


# Components -------------------------------------------------------------------------------------


def built_in() -> Registry:
    """What this distribution offers by itself, whatever else is installed."""
    registry = Registry()
    offers = default_registry().offers.items()
    registry.offers.update({key: each for key, each in offers if each.distribution == "dcsvm"})
    return registry


def components() -> Iterator[str]:
    yield from head("Components", "`dcsvm plugins` lists what is installed, those of other")
    yield "distributions too, and `dcsvm plugins show NAME` prints one."
    for kind in KINDS:
        yield ""
        yield f"## {kind.capitalize()}s"
        for offer in built_in().of_kind(kind):
            yield from component_section(offer)


def component_section(offer: Offer) -> Iterator[str]:
    """What one component is, what it fits with, and its settings."""
    yield from ("", f"### {offer.kind} `{offer.name}`", "", escaped(offer.summary))
    facts = describe(offer)
    for verb, words in (("Yields", "yields"), ("Works with", "accepts")):
        if words in facts:
            yield ""
            yield f"{verb}: {', '.join(facts[words]) or 'depends on its settings'}."
    if facts["settings"]:
        yield from table("setting", "default", "allowed", "")
    for each in facts["settings"]:
        default = each["default"]
        default = default if default in ("required", "none") else f"`{default}`"
        yield row(f"`{each['setting']}`", default, each["allowed"], each["help"])


# Contract ---------------------------------------------------------------------------------------


def contract() -> Iterator[str]:
    yield from head(
        "The contract", "Every attribute and method of the classes that plugins derive"
    )
    yield "from or are given: who calls it, when, and with which shapes. Arguments must not be"
    yield "modified unless a method says so."
    for cls in CONTRACT:
        yield from ("", f"## `{cls.__name__}`", "")
        yield from described(cls)
        for name, value in own_attributes(cls):
            yield from ("", f"### `{cls.__name__}.{name}`", "", value)


def described(cls: Any) -> Iterator[str]:
    """The docstring of a class without its examples, its parameters as they stand there."""
    text = re.split(r"^(?:Examples|References)\n-+$", inspect.getdoc(cls) or "", flags=re.M)[0]
    about, _, parameters = text.partition("\nParameters\n----------\n")
    yield escaped(about.strip())
    if parameters:
        yield from ("", "```text", parameters.strip(), "```")


def own_attributes(cls: Any) -> Iterator[tuple[str, str]]:
    """The public attributes of a class with their comments, then methods with their docstrings."""
    comments = re.compile(r"((?:^    #:.*\n)+)    (\w+)\b", re.MULTILINE)
    for found in comments.finditer(inspect.getsource(cls)):
        yield found[2], " ".join(re.sub(r"^\s*#: ?", "", found[1], flags=re.MULTILINE).split())
    for name, value in vars(cls).items():
        if not name.startswith("_") and (function := function_of(value)) is not None:
            text = escaped(inspect.getdoc(function) or "")
            # Headings of numpydoc would be headings of the page.
            text = re.sub(r"^(\w+)\n-{3,}$", r"**\1**", text, flags=re.MULTILINE)
            attribute = isinstance(value, property | functools.cached_property)
            called = "" if attribute else signature(function, defaults=True)
            yield name + re.sub(r"\((self|cls)(, )?", "(", called), text


def function_of(value: Any) -> Any:
    """The function of a method or a property; None for anything else."""
    if isinstance(value, property | functools.cached_property):
        return value.fget if isinstance(value, property) else value.func
    value = value.__func__ if isinstance(value, classmethod) else value
    return value if inspect.isfunction(value) else None


# Names ------------------------------------------------------------------------------------------


def names() -> Iterator[str]:
    yield from head("Names of `dcsvm`", "`help(dcsvm.NAME)` shows parameters and an example.")
    yield from names_of(dcsvm)
    for name in MODULES:
        module = importlib.import_module(name)
        yield ""
        yield f"## `{name}`"
        yield ""
        yield summary(module)
        yield from names_of(module)


def names_of(module: Any) -> Iterator[str]:
    """A table of a module's public names."""
    yield from table("name", "what it is")
    for name in module.__all__:
        what = getattr(module, name)
        yield row(f"`{name}{signature(what)}`", ALIASES.get(name) or summary(what))


def signature(what: Any, defaults: bool = False) -> str:
    """How a function is called; classes and aliases are only named."""
    if not inspect.isfunction(what):
        return ""
    plain = [
        each.replace(annotation=each.empty, default=each.default if defaults else each.empty)
        for each in inspect.signature(what).parameters.values()
    ]
    return f"({', '.join(map(str, plain))})"


def summary(what: Any) -> str:
    """The first sentence of a docstring, or where an alias has none, what it stands for."""
    if isinstance(what, str):
        return f"`{what}`"
    if isinstance(what, dict | frozenset):
        return f"A constant: {', '.join(f'`{each}`' for each in sorted(what))}."
    if get_origin(what) is Literal:
        return f"One of {', '.join(f'`{each!r}`' for each in get_args(what))}."
    return (inspect.getdoc(what) or "").partition("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    main()
