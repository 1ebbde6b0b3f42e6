"""`dcsvm predict`: a model's answers for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcsvm.base.errors import DataError, UsageError
from dcsvm.cli.app import app, echo_json, load_registry, report_errors, say, use_cluster
from dcsvm.cli.options import (
    AsJson,
    Cluster,
    Debug,
    Decimal,
    Encoding,
    Header,
    ModelPath,
    PluginFiles,
    Raw,
    Tls,
)
from dcsvm.cli.quick_imports import import_quickly

if TYPE_CHECKING:
    from dcsvm.experiments.predict.predictor import Summary


@app.command()
def predict(
    model: ModelPath,
    data: Annotated[
        list[Path],
        typer.Argument(help="Data files with the columns of the model.", metavar="DATA..."),
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
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the probabilities of the classes, too.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            min=0.0,
            max=1.0,
            help="Of two classes, answer the rarer one from this probability on; default: as the "
            "model decides, for the likelier one if it has no threshold or costs of its own.",
        ),
    ] = None,
    header: Header = True,
    encoding: Encoding = None,
    decimal: Decimal = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Threads that answer; default: all cores."),
    ] = None,
    cluster: Cluster = None,
    cluster_tls: Tls = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Answer the rows of files, however large; columns may come in any order."""
    with report_errors(debug, raw=raw):
        if as_json and out is None:
            raise UsageError("--json prints a summary: name a file for the answers with --out")
        with use_cluster(cluster, jobs, cluster_tls):
            summary = _predict(
                *(model, data, out, keep or [], scores, probabilities, threshold, header),
                *(encoding, decimal),
                1 if cluster else jobs,
                plugin,
            )
        if as_json:
            echo_json(_as_dict(summary))
        _print_summary(summary, data, out)


def _predict(
    model: Path,
    data: list[Path],
    out: Path | None,
    keep: list[str],
    scores: bool,
    probabilities: bool,
    threshold: float | None,
    header: bool,
    encoding: str | None,
    decimal: str | None,
    jobs: int | None,
    plugin: list[Path] | None,
) -> Summary:
    with import_quickly():
        from joblib import cpu_count
        from rich.console import Console

        from dcsvm.datasets.data_file import check_file
        from dcsvm.experiments.predict.answer_writers import check_out
        from dcsvm.experiments.predict.predictor import predict_file
        from dcsvm.experiments.progress import TerminalProgress
        from dcsvm.experiments.run.model_of_run import find_model_file
        from dcsvm.persistence.model_file import load
        from dcsvm.toolbox.unwrap import find_classifier

        load_registry(plugin)

    if out is not None:
        check_out(out)
    for each in data:
        check_file(each)
    loaded = load(find_model_file(model))
    find_classifier(loaded).set_params(n_jobs=jobs or cpu_count())
    with TerminalProgress(Console(stderr=True)) as progress:
        title = data[0].name if len(data) == 1 else f"{len(data)} files"
        progress.on_step_begin(f"answering {title}", sum(each.stat().st_size for each in data))
        try:
            return predict_file(
                *(loaded, data, out),
                keep=keep,
                scores=scores,
                probabilities=probabilities,
                threshold=threshold,
                header=header,
                encoding=encoding,
                decimal=decimal,
                on_bytes=progress.on_rows_done,
            )
        except DataError as error:
            lines = [f"{each}{_suggest_option(each)}" for each in str(error).split("\n")]
            raise DataError("\n".join(lines)) from error


#: What an error in a file to predict advises, and the option that does it.
OPTIONS = {
    "`header = false`": "--no-header",
    "looks like UTF-8": "--encoding utf-8",
    '`encoding = "latin-1"`': "--encoding latin-1",
    '`encoding = "utf-16"`': "--encoding utf-16",
    '`decimal = "."`': "--decimal .",
    '`decimal = ","`': "--decimal ,",
}


def _suggest_option(sentence: str) -> str:
    return next((f" ({option})" for key, option in OPTIONS.items() if key in sentence), "")


def _as_dict(summary: Summary) -> dict[str, object]:
    shown = ("n_rows", "n_labelled", "accuracy", "n_unlearned", "unknown_levels")
    return {name: getattr(summary, name) for name in shown}


def _print_summary(summary: Summary, data: list[Path], out: Path | None) -> None:
    for column, count in summary.unknown_levels.items():
        one = count == 1
        found = "one value is a level" if one else f"{count} values are levels"
        example = summary.unknown_examples[column]
        say(
            f"warning: column {column!r}: {found} that the model never saw, and "
            f"{'counts' if one else 'count'} as none of those it knows: "
            f"{'' if one else 'such as '}{example}{_suggest_option(example)}"
        )
    for column, count in summary.gaps.items():
        found = "one value is" if count == 1 else f"{count} values are"
        say(
            f"warning: column {column!r}: {found} missing, and none was in training; what was "
            "usual there is filled in"
        )
    if summary.n_strange_features:
        say(
            f"warning: {' and '.join(map(str, data))} has features beyond those of the model "
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
