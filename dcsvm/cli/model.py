"""`dcsvm model`: what a model file holds."""

from typing import Any

import typer

from dcsvm.cli.app import app, echo, echo_json, load_registry, report_errors
from dcsvm.cli.options import AsJson, Debug, ModelPath, PluginFiles, Raw
from dcsvm.cli.text_tables import print_table

model_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Inspect a model file.")
app.add_typer(model_app, name="model")


@model_app.command()
def inspect(
    model: ModelPath,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Show a model's structure, its parts and what a prediction costs."""
    with report_errors(debug, raw=raw):
        load_registry(plugin)
        from dcsvm.experiments.model_summary import summarize_model
        from dcsvm.experiments.run.model_of_run import find_model_file

        found = summarize_model(find_model_file(model))
        if as_json:
            echo_json(found)
        else:
            _print(found)


def _print(found: dict[str, Any]) -> None:
    for line in found["strategy"]:
        echo(line)
    echo(
        f"\n{found['features']} features; {len(found['classes'])} classes: "
        f"{', '.join(found['classes'])}\n"
    )
    if found["decision"]:
        echo(f"{found['decision']}\n")
    fields = ("depth", "kind", "parts", "rows", "smallest", "largest", "support vectors")
    rows = [[str(each[field]) for field in fields] for each in found["parts"]]
    print_table(fields, rows, numbers=True)
    echo()
    for title, value in found["size"].items():
        echo(f"{title}: {'unknown' if value is None else f'{value:,.0f}'}")
    echo(f"written by dcsvm {found['dcsvm']} with scikit-learn {found['scikit-learn']}")
