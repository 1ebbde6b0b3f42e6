"""`dcsvm predict`: a model's answers for the rows of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcsvm.base.errors import DataError, UsageError
from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, load_registry, report_errors, say

if TYPE_CHECKING:
    from dcsvm.experiments.predict.predictor import Summary


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(help="A model file, or a run's folder.", metavar="MODEL")
    ],
    data: Annotated[
        Path, typer.Argument(help="A data file with the columns of the model.", metavar="DATA")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write here: .csv, .tsv, .jsonl, .npz, .parquet, .feather or .arrow; "
            "default: CSV on standard output.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="COLUMN", help="Copy this column beside the answers; repeatable."
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write the scores of the classes, too.")
    ] = False,
    header: Annotated[
        bool,
        typer.Option("--header/--no-header", help="Whether a text file begins with names."),
    ] = True,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Threads that answer; default: all cores."),
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Answer the rows of a file, however large; columns may come in any order."""
    with report_errors(debug):
        if as_json and out is None:
            raise UsageError("--json prints a summary: name a file for the answers with --out")
        summary = _predict(model, data, out, keep or [], scores, header, jobs, plugin)
        if as_json:
            typer.echo(json.dumps(_as_dict(summary), indent=2))
        _print_summary(summary, data, out)


def _predict(
    model: Path,
    data: Path,
    out: Path | None,
    keep: list[str],
    scores: bool,
    header: bool,
    jobs: int | None,
    plugin: list[Path] | None,
) -> Summary:
    from joblib import cpu_count
    from rich.console import Console

    from dcsvm.datasets.file_formats import check_file
    from dcsvm.experiments.model_summary import find_model_file
    from dcsvm.experiments.predict.answer_writers import check_out
    from dcsvm.experiments.predict.predictor import predict_file
    from dcsvm.experiments.progress import TerminalProgress
    from dcsvm.persistence.model_file import load
    from dcsvm.toolbox.unwrap import find_classifier

    load_registry(plugin)
    if out is not None:
        check_out(out)
    check_file(data)
    loaded = load(find_model_file(model))
    find_classifier(loaded).set_params(n_jobs=jobs or cpu_count())
    with TerminalProgress(Console(stderr=True)) as progress:
        progress.on_step_begin(f"answering {data.name}", data.stat().st_size)
        try:
            return predict_file(
                *(loaded, data, out),
                keep=keep,
                scores=scores,
                header=header,
                on_bytes=progress.on_rows_done,
            )
        except DataError as error:
            hint = " (--no-header)" if "`header = false`" in str(error) else ""
            raise DataError(f"{error}{hint}") from error


def _as_dict(summary: Summary) -> dict[str, object]:
    return {
        "n_rows": summary.n_rows,
        "n_labelled": summary.n_labelled,
        "accuracy": summary.accuracy,
        "n_unlearned": summary.n_unlearned,
        "unknown_levels": summary.unknown_levels,
    }


def _print_summary(summary: Summary, data: Path, out: Path | None) -> None:
    for column, count in summary.unknown_levels.items():
        one = count == 1
        found = "one value is a level" if one else f"{count} values are levels"
        say(
            f"warning: column {column!r}: {found} that the model never saw, and "
            f"{'counts' if one else 'count'} as none of those it knows"
        )
    if summary.n_strange_features:
        say(
            f"warning: {data} has features beyond those of the model "
            f"(up to {summary.n_strange_features} more); they were left out"
        )
    if summary.n_unlearned:
        one = summary.n_unlearned == 1
        rows = "one row is" if one else f"{summary.n_unlearned} rows are"
        say(
            f"warning: {rows} of a class that the model never learned, and "
            f"{'counts' if one else 'count'} as answered wrongly"
        )
    if summary.accuracy is not None:
        rows = f"the {summary.n_labelled} rows that came with their class"
        say(f"accuracy: {summary.accuracy:.4f} on {rows}")
    if out is not None:
        say(f"{summary.n_rows} rows answered: {out}")
