"""`dcsvm explain`: why a model gives one row of a file its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcsvm.cli.app import app, echo, echo_json, load_registry, report_errors
from dcsvm.cli.options import AsJson, Debug, Header, ModelPath, PluginFiles, Raw


@app.command()
def explain(
    model: ModelPath,
    data: Annotated[
        Path, typer.Argument(help="A data file with the columns of the model.", metavar="DATA")
    ],
    row: Annotated[
        int, typer.Option("--row", metavar="N", help="Which row; the first one is 1.")
    ] = 1,
    header: Header = True,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Explain the answer for one row: its values, its way through the model, its neighbours."""
    with report_errors(debug, raw=raw):
        load_registry(plugin)
        import attrs

        from dcsvm.datasets.file_formats import check_file
        from dcsvm.experiments.predict.row_explanation import explain_row
        from dcsvm.experiments.run.model_of_run import find_model_file
        from dcsvm.persistence.model_file import load

        check_file(data)
        found = explain_row(load(find_model_file(model)), data, row, header)
        if as_json:
            told = found.explanation
            shown = {"route": told.route, "reasons": told.reasons}
            scores = {str(label): score for label, score in told.scores.items()}
            effects = [attrs.asdict(each) for each in found.effects]
            answer = {"row": row, "truth": found.truth, "answer": str(told.answer)}
            echo_json({**answer, "scores": scores, "effects": effects, **shown})
            return
        for line in found.lines():
            echo(line)
