"""Results and descriptions as aligned text on standard output."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from dcsvm.run import Result
    from dcsvm.run.plan import Plan


def print_table(
    header: tuple[str, ...], rows: list[list[str]], *, wrapped: int = 0, numbers: bool = False
) -> None:
    """Print aligned columns: never cut where the output is piped.

    On a terminal, the last `wrapped` columns give way to the others where space is scarce.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=100_000)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for place, title in enumerate(header):
        table.add_column(
            title,
            justify="right" if numbers and place else "left",
            no_wrap=place < len(header) - wrapped,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(str(value) for value in row))
    with console.capture() as captured:
        console.print(table, markup=False)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


def print_result(result: Result) -> None:
    jobs = "one part" if result.n_jobs == 1 else f"up to {result.n_jobs} parts"
    scaled = {
        "none": "features as they are",
        "minmax": "features scaled to [0, 1]",
        "robust": "features scaled to median 0 and quartiles 1 apart",
    }
    typer.echo(f"{result.recipe}: {result.about}" if result.about else result.recipe)
    typer.echo(
        f"{result.data}: {result.n_train} rows to learn from, {result.n_test} held out, "
        f"{result.n_features} features, {result.n_classes} classes"
    )
    typer.echo(
        f"{scaled.get(result.scale, 'features scaled to mean 0 and deviation 1')}, "
        f"seed {result.seed}, {jobs} at a time"
    )
    for each in result.trained:
        for found in each.found[-1:]:
            values = ", ".join(f"{key} = {value}" for key, value in found.values.items())
            typer.echo(f"{each.measures.model}: {values} ({found.stopped})")
    typer.echo()
    lines = [
        ("accuracy", "test_accuracy", "{:.4f}"),
        ("fit seconds", "fit_seconds", "{:.2f}"),
        ("search seconds", "search_seconds", "{:.2f}"),
        ("predict seconds", "predict_seconds", "{:.2f}"),
        ("parts", "n_parts", "{}"),
        ("kernel evaluations per row, mean", "kernel_evaluations_mean", "{:.1f}"),
        ("kernel evaluations per row, max", "kernel_evaluations_max", "{:.0f}"),
        ("  each support vector once, mean", "unique_kernel_evaluations_mean", "{:.1f}"),
        ("  each support vector once, max", "unique_kernel_evaluations_max", "{:.0f}"),
    ]
    if not any(each.search_seconds for each in result.measures):
        lines = [line for line in lines if line[1] != "search_seconds"]
    if any(each.hyperplanes_max for each in result.measures):
        lines.append(("hyperplanes per row, mean", "hyperplanes_mean", "{:.1f}"))
        lines.append(("hyperplanes per row, max", "hyperplanes_max", "{:.0f}"))
    print_table(
        ("", *(each.model for each in result.measures)),
        [
            [title, *(_number(getattr(each, field), form) for each in result.measures)]
            for title, field, form in lines
        ],
        numbers=True,
    )


def print_plan(plan: Plan) -> None:
    folds = f" in {plan.folds} folds" if plan.folds > 1 else ""
    typer.echo(plan.recipe)
    typer.echo(
        f"{plan.data}: {plan.rows} rows, {plan.features} features, {plan.classes} classes; "
        f"{plan.n_train} rows to learn from, {plan.n_test} held out{folds}"
    )
    typer.echo(f"up to {plan.jobs} parts at a time; later stages are not foreseen\n")
    lines = [
        ("parts", "parts", "{}"),
        ("  of one class only", "homogeneous", "{}"),
        ("rows of the smallest", "smallest", "{}"),
        ("rows of the median", "median", "{}"),
        ("rows of the largest", "largest", "{}"),
        ("combinations to try", "combinations", "{}"),
        ("megabytes, about", "megabytes", "{:.0f}"),
        ("seconds, about", "seconds", "{:.1f}"),
    ]
    print_table(
        ("", *(each.model for each in plan.candidates)),
        [
            [title, *(_number(getattr(each, field), form) for each in plan.candidates)]
            for title, field, form in lines
        ],
        numbers=True,
    )


def _number(value: float, form: str) -> str:
    return "unknown" if value != value else form.format(value)


def print_described(described: dict[str, Any]) -> None:
    if described["kind"] == "recipe":
        typer.echo(described["text"].rstrip("\n"))
        return
    title = f"{described['name']}: a {described['kind']} of {described['distribution']}"
    typer.echo(f"{title} {described['version']}".rstrip())
    typer.echo(f"\n{_fitted(described['about'])}\n")
    for word in ("yields", "accepts"):
        if word in described:
            typer.echo(f"{word}: {', '.join(described[word]) or 'depends on its settings'}\n")
    if described["settings"]:
        fields = ("setting", "default", "allowed", "help")
        rows = [[each[key] for key in fields] for each in described["settings"]]
        print_table(fields, rows, wrapped=2)
    else:
        typer.echo("no settings")


def _fitted(prose: str) -> str:
    """Paragraphs broken anew to a terminal's width, and left as they are where it is piped."""
    if not sys.stdout.isatty():
        return prose
    width = shutil.get_terminal_size().columns
    return "\n\n".join(textwrap.fill(each, width) for each in prose.split("\n\n"))
