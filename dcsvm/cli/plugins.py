"""`dcsvm plugins`: what is there to build recipes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dcsvm.base.errors import UnknownNameError, did_you_mean
from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, registry_with, speaking
from dcsvm.cli.text_tables import print_described, print_table

plugins_app = typer.Typer(
    rich_markup_mode=None, help="List the components and recipes that plugins offer."
)
app.add_typer(plugins_app, name="plugins")


@plugins_app.callback(invoke_without_command=True)
def plugins(
    context: typer.Context,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the components and recipes that plugins offer."""
    if context.invoked_subcommand is not None:
        context.obj = plugin
        return
    with speaking(debug):
        registry = registry_with(plugin)
        offers = [offer for kind in _kinds() for offer in registry.of_kind(kind)]
        fields = ("kind", "name", "distribution", "version", "summary")
        rows = [{field: getattr(offer, field) for field in fields} for offer in offers]
        if as_json:
            broken = [
                {"plugin": each.plugin, "distribution": each.distribution, "reason": each.reason}
                for each in registry.broken
            ]
            typer.echo(json.dumps({"offers": rows, "broken": broken}, indent=2))
        else:
            print_table(fields, [list(row.values()) for row in rows], wrapped=1)


@plugins_app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A component or recipe.", metavar="NAME")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="decomposer, learner, combiner or recipe; default: any."),
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the settings of a component, or the text of a recipe."""
    with speaking(debug):
        registry = registry_with([*(context.obj or []), *(plugin or [])])
        from dcsvm.cli.describe import describe

        kinds = _kinds() if kind is None else [kind]
        offers = [registry.offers[each, name] for each in kinds if (each, name) in registry.offers]
        if not offers:
            names = {known for each, known in registry.offers if each in kinds}
            what = "component or recipe" if kind is None else kind
            raise UnknownNameError(f"no {what} is called {name!r}; {did_you_mean(name, names)}")
        described = [describe(offer) for offer in offers]
        if as_json:
            typer.echo(json.dumps(described, indent=2))
            return
        for each in described:
            print_described(each)


def _kinds() -> list[str]:
    from dcsvm.drive.registry import KINDS, RECIPE

    return [*KINDS, RECIPE]
