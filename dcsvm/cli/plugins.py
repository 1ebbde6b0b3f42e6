"""`dcsvm plugins`: list and show components, start a new plugin."""

import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from dcsvm.base.errors import UnknownNameError, UsageError, did_you_mean
from dcsvm.cli.app import app, echo, echo_json, load_registry, report_errors, say
from dcsvm.cli.completion import complete_offers
from dcsvm.cli.options import AsJson, Debug, PluginFiles
from dcsvm.cli.recipes import write_new
from dcsvm.cli.text_tables import print_table

plugins_app = typer.Typer(
    rich_markup_mode=None, help="List the components that plugins offer; show or start one."
)
app.add_typer(plugins_app, name="plugins")


@plugins_app.callback(invoke_without_command=True)
def plugins(
    context: typer.Context,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the components and recipes that plugins offer, and the numeric implementation."""
    if context.invoked_subcommand is not None:
        context.obj = plugin
        return
    with report_errors(debug):
        registry = load_registry(plugin)
        from dcsvm.numeric import describe_implementation

        numeric = describe_implementation()
        offers = [offer for kind in _list_kinds() for offer in registry.of_kind(kind)]
        fields = ("kind", "name", "distribution", "version", "summary")
        rows = [{field: getattr(offer, field) for field in fields} for offer in offers]
        if as_json:
            broken = [
                {"plugin": each.plugin, "distribution": each.distribution, "reason": each.reason}
                for each in registry.broken
            ]
            found = {"offers": rows, "broken": broken, "numeric": numeric}
            echo_json(found)
        else:
            print_table(fields, [list(row.values()) for row in rows], wrapped=1)
            say(f"numeric implementation: {numeric}")


@plugins_app.command()
def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="A component or recipe.", metavar="NAME", autocompletion=complete_offers
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="decomposer, learner, combiner or recipe; default: any."),
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the settings of a component, or the text of a recipe."""
    with report_errors(debug):
        registry = load_registry([*(context.obj or []), *(plugin or [])])
        from dcsvm.inspection.component_description import describe

        kinds = _list_kinds() if kind is None else [kind]
        offers = [registry.offers[each, name] for each in kinds if (each, name) in registry.offers]
        if not offers:
            names = {known for each, known in registry.offers if each in kinds}
            what = "component or recipe" if kind is None else kind
            raise UnknownNameError(f"no {what} is called {name!r}; {did_you_mean(name, names)}")
        described = [describe(offer) for offer in offers]
        if as_json:
            echo_json(described)
            return
        for each in described:
            _print_description(each)


@plugins_app.command()
def init(
    name: Annotated[str, typer.Argument(help="In lower case: halves.", metavar="NAME")],
    kind: Annotated[
        Literal["decomposer", "learner", "combiner"],
        typer.Option("--kind", help="The kind of component."),
    ] = "decomposer",
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to write; default: ./dcsvm-NAME.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a working plugin to start from: a module, its tests and a pyproject.toml."""
    with report_errors(debug):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise UsageError(
                "a plugin's name must consist of lower case letters, digits and underscores, "
                f"got {name!r}"
            )
        from dcsvm.drive.registry import default_registry
        from dcsvm.experiments.scaffold import build_plugin_files

        taken = default_registry().offers.get((kind, name))
        if taken is not None:
            raise UsageError(
                f"a {kind} called {name!r} already exists in {taken.distribution}; "
                "choose another name"
            )
        place = folder or Path(f"dcsvm-{name.replace('_', '-')}")
        for file, text in build_plugin_files(name, kind).items():
            write_new(place / file, text)
        here = place if place.is_absolute() else f"./{place}"
        say(f"next: python -m pytest {here}, then: pip install {here}")


def _list_kinds() -> list[str]:
    from dcsvm.drive.registry import KINDS, RECIPE, REPORT

    return [*KINDS, RECIPE, REPORT]


def _print_description(described: dict[str, Any]) -> None:
    if described["kind"] == "recipe":
        echo(described["text"].rstrip("\n"))
        return
    title = f"{described['name']}: a {described['kind']} of {described['distribution']}"
    echo(f"{title} {described['version']}".rstrip())
    echo(f"\n{_wrap(described['about'])}\n")
    for word in ("yields", "accepts"):
        if word in described:
            echo(f"{word}: {', '.join(described[word]) or 'depends on its settings'}\n")
    if described["settings"]:
        fields = ("setting", "default", "allowed", "help")
        rows = [[each[key] for key in fields] for each in described["settings"]]
        print_table(fields, rows, wrapped=2)
    else:
        echo("no settings")


def _wrap(prose: str) -> str:
    """Wrap paragraphs to the width of the terminal; leave them alone if the output is piped."""
    if not sys.stdout.isatty():
        return prose
    width = shutil.get_terminal_size().columns
    return "\n\n".join(textwrap.fill(each, width) for each in prose.split("\n\n"))
