"""`dcsvm recipes`: list, show and copy recipes, start a new one, print their schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm.base.errors import UnknownNameError, UsageError, did_you_mean
from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, load_registry, report_errors, say
from dcsvm.cli.text_tables import print_table

if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry

recipes_app = typer.Typer(
    rich_markup_mode=None, help="List recipes; show, copy or start one; print their schema."
)
app.add_typer(recipes_app, name="recipes")

ORDER = (
    "of those to try, the first are meant for no more rows than needed: "
    "what goes further gives up more of an undivided model"
)
Name = Annotated[str, typer.Argument(help="A registered recipe.", metavar="NAME")]


@recipes_app.callback(invoke_without_command=True)
def recipes(
    context: typer.Context,
    rows: Annotated[int | None, typer.Option("--rows", min=1, help="How many you have.")] = None,
    features: Annotated[
        int | None, typer.Option("--features", min=1, help="How many you have.")
    ] = None,
    classes: Annotated[
        int | None, typer.Option("--classes", min=2, help="How many you have.")
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the recipes; with --rows, --features or --classes, those to try come first."""
    if context.invoked_subcommand is not None:
        context.obj = plugin
        return
    with report_errors(debug):
        registry = load_registry(plugin)
        given = {"rows": rows, "features": features, "classes": classes}
        listed = _list_recipes(registry, {key: n for key, n in given.items() if n is not None})
        if as_json:
            typer.echo(json.dumps(listed, indent=2))
            return
        judged = ("try it",) if any(given.values()) else ()
        fields = ("name", *judged, "suits", "about")
        print_table(fields, [[each[field] for field in fields] for each in listed], wrapped=2)
        if rows is not None:
            say(ORDER)


@recipes_app.command()
def show(
    context: typer.Context,
    name: Name,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the text of a recipe."""
    with report_errors(debug):
        text = _find_text(name, load_registry([*(context.obj or []), *(plugin or [])]))
        typer.echo(json.dumps({"name": name, "text": text}) if as_json else text.rstrip("\n"))


@recipes_app.command()
def copy(
    context: typer.Context,
    name: Name,
    file: Annotated[
        Path | None, typer.Argument(help="Default: NAME.toml here.", metavar="FILE")
    ] = None,
    plugin: PluginFiles = None,
    debug: Debug = False,
) -> None:
    """Copy a recipe to a file of your own; one that is there is never replaced."""
    with report_errors(debug):
        text = _find_text(name, load_registry([*(context.obj or []), *(plugin or [])]))
        place = file or Path(f"{name}.toml")
        write_new(place, text)
        say(f"next: change {place}, then: dcsvm run {place}")


@recipes_app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE")] = Path(
        "recipe.toml"
    ),
    debug: Debug = False,
) -> None:
    """Write a commented recipe to start from; an existing file is never overwritten."""
    with report_errors(debug):
        from dcsvm.experiments.scaffold import RECIPE

        write_new(file, RECIPE)
        say(f"next: name your file and its target in {file}, then: dcsvm run {file}")


@recipes_app.command()
def schema(context: typer.Context, plugin: PluginFiles = None, debug: Debug = False) -> None:
    """Print the JSON schema of recipes, including the components of all plugins."""
    with report_errors(debug):
        registry = load_registry([*(context.obj or []), *(plugin or [])])
        from dcsvm.experiments.recipe.json_schema import build_schema

        typer.echo(json.dumps(build_schema(registry), indent=2))


def write_new(place: Path, text: str) -> None:
    """Write a file that must not be there yet."""
    from dcsvm.persistence.atomic_write import write_atomically

    if place.exists():
        raise UsageError(f"{str(place)!r} is there already, and nothing was written over it")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, text)
    except OSError as error:
        raise UsageError(f"cannot write {str(place)!r}: {error.strerror}") from error


def _find_text(name: str, registry: Registry) -> str:
    from dcsvm.drive.registry import RECIPE

    offer = registry.offers.get((RECIPE, name))
    if offer is None:
        hint = did_you_mean(name, registry.names(RECIPE))
        raise UnknownNameError(f"no recipe is called {name!r}; {hint}")
    return str(offer.what)


def _list_recipes(registry: Registry, given: dict[str, int]) -> list[dict[str, Any]]:
    import tomllib

    from dcsvm.drive.registry import RECIPE
    from dcsvm.experiments.recipe.applicability import SIZES, describe_range, find_unsuitable, rank

    offers = [
        (tomllib.loads(offer.what).get("suits", {}), offer) for offer in registry.of_kind(RECIPE)
    ]
    if given:
        offers.sort(key=lambda each: (bool(find_unsuitable(each[0], given)), rank(each[0], given)))
    listed = []
    for suits, offer in offers:
        beyond = find_unsuitable(suits, given)
        listed.append(
            {
                "name": offer.name,
                "try it": "no: " + ", ".join(beyond) if beyond else "yes",
                "suits": ", ".join(
                    describe_range(key, suits[key]) for key in SIZES if key in suits
                ),
                "about": offer.summary,
                "distribution": offer.distribution,
            }
        )
    return listed
