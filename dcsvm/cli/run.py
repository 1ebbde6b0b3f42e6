"""`dcsvm run`: a recipe from data to measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, registry_with, say, speaking
from dcsvm.tables import print_result

if TYPE_CHECKING:
    from dcsvm.progress import TerminalProgress
    from dcsvm.run import Result


@app.command()
def run(
    recipe: Annotated[
        str | None,
        typer.Argument(
            help="A recipe file, or the name of a registered recipe.", metavar="RECIPE"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.dcsvm", help="Save the model here.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Parts trained at the same time; default: all cores."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the recipe's seed.")
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Run a recipe: read data, train, measure on held-out rows. Without RECIPE: the quickstart."""
    with speaking(debug):
        from rich.console import Console

        from dcsvm.progress import TerminalProgress

        with TerminalProgress(Console(stderr=True)) as progress:
            progress.step_begins("starting")
            result = _run(recipe, out, jobs, seed, plugin, progress)
        if as_json:
            typer.echo(json.dumps(result.as_dict(), indent=2))
        else:
            print_result(result)
        say(_what_next(out, is_quickstart=recipe in (None, "quickstart")))


def _run(
    recipe: str | None,
    out: Path | None,
    jobs: int | None,
    seed: int | None,
    files: list[Path] | None,
    progress: TerminalProgress,
) -> Result:
    from joblib import cpu_count

    from dcsvm.interruption import interruptible
    from dcsvm.recipe import find_recipe
    from dcsvm.run import check_writable, run_recipe

    found = find_recipe(recipe, registry_with(files))
    if out is not None:
        check_writable(out)
    result = interruptible(
        lambda: run_recipe(found, seed=seed, n_jobs=jobs or cpu_count(), audience=progress)
    )
    if out is not None:
        from dcsvm.store import save

        progress.step_begins("saving the model")
        save(result.model, out)
    return result


def _what_next(out: Path | None, is_quickstart: bool) -> str:
    if is_quickstart:
        return (
            "next: dcsvm plugins show quickstart > mine.toml, "
            "put your CSV file there, then: dcsvm run mine.toml"
        )
    if out is None:
        return "next: --out model.dcsvm keeps the model"
    return f"next: in Python, dcsvm.load({str(out)!r}).predict(X) answers new rows"
