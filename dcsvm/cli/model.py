"""`dcsvm model`: what a model file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, load_registry, report_errors
from dcsvm.cli.text_tables import print_table

model_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Inspect a model file.")
app.add_typer(model_app, name="model")


@model_app.command()
def inspect(
    model: Annotated[
        Path, typer.Argument(help="A model file, or a run's folder.", metavar="MODEL")
    ],
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show a model's structure, its parts and what a prediction costs."""
    with report_errors(debug):
        load_registry(plugin)
        from dcsvm.experiments.model_summary import find_model_file, summarize_model

        found = summarize_model(find_model_file(model))
        if as_json:
            typer.echo(json.dumps(found, indent=2))
        else:
            _print(found)


def _print(found: dict[str, Any]) -> None:
    for line in found["pipeline"]:
        typer.echo(line)
    typer.echo(
        f"\n{found['features']} features; {len(found['classes'])} classes: "
        f"{', '.join(found['classes'])}\n"
    )
    fields = ("depth", "kind", "parts", "rows", "smallest", "largest", "support vectors")
    rows = [[str(each[field]) for field in fields] for each in found["parts"]]
    print_table(fields, rows, numbers=True)
    typer.echo()
    for title, value in found["size"].items():
        typer.echo(f"{title}: {'unknown' if value is None else f'{value:,.0f}'}")
    typer.echo(f"written by dcsvm {found['dcsvm']} with scikit-learn {found['scikit-learn']}")
