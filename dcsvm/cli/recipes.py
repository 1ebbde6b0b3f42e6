"""`dcsvm recipes`: list, show and copy recipes, start a new one, print their schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm.base.errors import DataError, UnknownNameError, UsageError, did_you_mean
from dcsvm.cli.app import app, echo, echo_json, load_registry, report_errors, say
from dcsvm.cli.completion import complete_recipes
from dcsvm.cli.data_hints import suggest_options
from dcsvm.cli.options import AsJson, Debug, PluginFiles
from dcsvm.cli.text_tables import print_table

if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry

recipes_app = typer.Typer(
    rich_markup_mode=None, help="List recipes; show, copy or start one; print their schema."
)
app.add_typer(recipes_app, name="recipes")

ORDER = (
    "of those to try, auto and what it tries come first; the others begin with those meant for "
    "no more rows than needed: what goes further gives up more of an undivided model"
)
#: The recipe through whose [data] a file is read: it takes gaps.
AUTO = "auto"
Name = Annotated[
    str,
    typer.Argument(help="A registered recipe.", metavar="NAME", autocompletion=complete_recipes),
]


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
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Take these numbers from a data file."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="COLUMN", help="The column of it with the classes, if not guessed."
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="data.KEY=VALUE", help="How to read it; repeatable."),
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the recipes; with --data, or --rows, --features, --classes, those to try first."""
    if context.invoked_subcommand is not None:
        context.obj = plugin
        return
    with report_errors(debug):
        registry = load_registry(plugin)
        given = {"rows": rows, "features": features, "classes": classes}
        gaps = 0
        if data is not None:
            try:
                found, gaps = _measure_file(registry, data, target, values or [])
            except DataError as error:
                raise suggest_options(error) from error
            say(f"{data}: " + ", ".join(f"{n:,} {key}" for key, n in found.items()))
            given = {key: found[key] if n is None else n for key, n in given.items()}
        elif target is not None or values:
            raise UsageError("--target and --set say how to read --data: give the file, too")
        known = {key: n for key, n in given.items() if n is not None}
        listed = _list_recipes(registry, known, None if data is None else gaps)
        if as_json:
            echo_json(listed)
            return
        judged = ("try it",) if known else ()
        fields = ("name", *judged, "suits" if data is None else "why", "about")
        print_table(fields, [[each[field] for field in fields] for each in listed], wrapped=2)
        if given["rows"] is not None:
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
        echo(json.dumps({"name": name, "text": text}) if as_json else text.rstrip("\n"))


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
        from dcsvm.experiments.scaffold import read_recipe

        write_new(file, read_recipe())
        say(f"next: name your file and its target in {file}, then: dcsvm run {file}")


@recipes_app.command()
def schema(context: typer.Context, plugin: PluginFiles = None, debug: Debug = False) -> None:
    """Print the JSON schema of recipes, including the components of all plugins."""
    with report_errors(debug):
        registry = load_registry([*(context.obj or []), *(plugin or [])])
        from dcsvm.experiments.recipe.json_schema import build_schema

        echo_json(build_schema(registry))


def write_new(place: Path, text: str) -> None:
    """Write a new file; raise UsageError if it exists."""
    from dcsvm.persistence.atomic_write import write_atomically

    if place.exists():
        raise UsageError(f"{str(place)!r} exists already, and was not overwritten")
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


def _measure_file(
    registry: Registry, path: Path, target: str | None, values: list[str]
) -> tuple[dict[str, int], int]:
    """Return the sizes of a data file, and how many of its columns have gaps."""
    import numpy as np

    from dcsvm.experiments.recipe import find_recipe, parse_override
    from dcsvm.experiments.run.load_data import guess_target, load

    layers = [parse_override(each).table for each in values]
    if any(set(each) != {"data"} for each in layers):
        raise UsageError("--set of recipes takes keys of [data] only, such as data.decimal=,")
    if target is None and not any("target" in each["data"] for each in layers):
        target, why = guess_target(
            path, {key: v for each in layers for key, v in each["data"].items()}
        )
        if target is not None:
            say(f"assumed: the target is {target!r}, {why}; --target names another column")
    wanted = [f"--data {path}", *([] if target is None else [f"--target {target}"]), *values]
    found = load(find_recipe(AUTO, registry, wanted).data)
    sizes = {
        "rows": found.n_rows,
        "features": found.X.shape[1],
        "classes": len(np.unique(found.y)),
    }
    chosen = [each["data"]["missing"] for each in layers if "missing" in each["data"]]
    if chosen and chosen[-1] != "error":  # whatever the recipe says
        return sizes, 0
    features = [each for each in found.facts if each.kind not in ("empty", "target")]
    return sizes, sum("missing" in each.about for each in features)


def _list_recipes(
    registry: Registry, given: dict[str, int], gaps: int | None
) -> list[dict[str, Any]]:
    """Describe all recipes, the best for these sizes first; `gaps` is None without a file."""
    import tomllib

    from dcsvm.drive.registry import RECIPE
    from dcsvm.experiments.recipe.applicability import (
        SIZES,
        describe_range,
        explain,
        find_unsuitable,
    )

    offers = [(tomllib.loads(offer.what), offer) for offer in registry.of_kind(RECIPE)]
    if given:
        offers.sort(key=lambda each: _judge(each[0], given))
    joining = [offer.name for recipe, offer in offers if _joins(recipe, given)]
    listed = []
    for recipe, offer in offers:
        suits = recipe.get("suits", {})
        beyond = find_unsuitable(suits, given)
        tried = joining if _chooses(recipe) else []
        place = joining.index(offer.name) + 1 if offer.name in joining else 0
        needs = gaps if recipe.get("data", {}).get("missing", "error") == "error" else 0
        why = {} if gaps is None else {"why": explain(suits, given, tried, place, needs or 0)}
        listed.append(
            {
                "name": offer.name,
                "try it": "no: " + ", ".join(beyond) if beyond else "yes",
                **why,
                "suits": ", ".join(
                    describe_range(key, suits[key]) for key in SIZES if key in suits
                ),
                "about": offer.summary,
                "distribution": offer.distribution,
            }
        )
    return listed


def _chooses(recipe: dict[str, Any]) -> bool:
    """Whether a recipe tries those of the portfolio."""
    return bool(recipe.get("search", {}).get("use") == "portfolio")


def _joins(recipe: dict[str, Any], given: dict[str, int]) -> bool:
    from dcsvm.experiments.recipe.applicability import find_unsuitable

    return "auto" in recipe and not find_unsuitable(recipe.get("suits", {}), given)


def _judge(recipe: dict[str, Any], given: dict[str, int]) -> tuple[Any, ...]:
    """A sort key: suitable recipes first, of these the portfolio's in its order."""
    from dcsvm.experiments.recipe.applicability import find_unsuitable, rank

    suits = recipe.get("suits", {})
    place = 0.0 if _chooses(recipe) else float(recipe.get("auto", "inf"))
    return bool(find_unsuitable(suits, given)), place, rank(suits, given)
