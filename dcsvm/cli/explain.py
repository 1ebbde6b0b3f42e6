"""`dcsvm explain`: what a model consists of, and why it gives a row of a file its answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm.base.errors import UsageError
from dcsvm.cli.app import app, echo, echo_json, load_registry, report_errors
from dcsvm.cli.options import (
    AsJson,
    Debug,
    Decimal,
    Encoding,
    Header,
    ModelPath,
    PluginFiles,
    Raw,
)
from dcsvm.cli.text_tables import print_table

if TYPE_CHECKING:
    from dcsvm.experiments.predict.row_explanation import RowExplanation

#: Lines of a strategy are cut here; --json has all of it.
LONGEST_LINE = 120


@app.command()
def explain(
    model: ModelPath,
    data: Annotated[
        Path | None,
        typer.Argument(help="A data file with the columns of the model.", metavar="DATA"),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option("--row", metavar="N", help="Which row; the first one, 1, by default."),
    ] = None,
    header: Header = True,
    encoding: Encoding = None,
    decimal: Decimal = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Show a model's structure, parts and cost; with DATA, explain its answer for one row.

    An answer is explained by the row's values, its way through the model and its neighbours.
    """
    with report_errors(debug, raw=raw):
        if data is None and row is not None:
            raise UsageError("--row is the number of a row of DATA: name a data file")
        load_registry(plugin)
        from dcsvm.experiments.run.model_of_run import find_model_file

        file = find_model_file(model)
        if data is None:
            _show_model(file, as_json)
        else:
            writing = header, encoding, decimal
            _explain_row(file, data, 1 if row is None else row, writing, as_json)


def _show_model(file: Path, as_json: bool) -> None:
    from dcsvm.experiments.model_summary import summarize_model

    found = summarize_model(file)
    if as_json:
        echo_json(found)
    else:
        _print_model(found)


def _print_model(found: dict[str, Any]) -> None:
    from dcsvm.drawing import shorten

    for line in found["strategy"]:
        echo(line if len(line) <= LONGEST_LINE else shorten(line, LONGEST_LINE))
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


def _explain_row(
    file: Path,
    data: Path,
    row: int,
    writing: tuple[bool, str | None, str | None],
    as_json: bool,
) -> None:
    from dcsvm.datasets.data_file import check_file
    from dcsvm.experiments.predict.row_explanation import explain_row
    from dcsvm.persistence.model_file import load

    check_file(data)
    found = explain_row(load(file), data, row, *writing)
    if as_json:
        echo_json({"row": row, **_describe_answer(found)})
        return
    for line in found.lines():
        echo(line)


def _describe_answer(found: RowExplanation) -> dict[str, Any]:
    import attrs

    explanation = found.explanation
    return {
        "truth": found.truth,
        "answer": str(explanation.answer),
        "scores": {str(label): score for label, score in explanation.scores.items()},
        "effects": [attrs.asdict(each) for each in found.effects],
        "route": explanation.route,
        "reasons": explanation.reasons,
    }
