"""Results and descriptions as aligned text on standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from dcsvm.run import Result


def print_table(header: tuple[str, ...], rows: list[list[str]], numbers: bool = False) -> None:
    """Print aligned columns: wrapped to a terminal's width, and never cut where it is piped."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=100_000)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    last = len(header) - 1
    for place, title in enumerate(header):
        justify = "right" if numbers and place else "left"
        table.add_column(title, justify=justify, no_wrap=place != last or numbers)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(str(value) for value in row))
    with console.capture() as captured:
        console.print(table, markup=False)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


def print_result(result: Result) -> None:
    scaled = {"none": "features as they are", "minmax": "features scaled to [0, 1]"}
    typer.echo(f"{result.recipe}: {result.about}" if result.about else result.recipe)
    typer.echo(
        f"{result.data}: {result.n_train} rows to learn from, {result.n_test} held out, "
        f"{result.n_features} features, {result.n_classes} classes"
    )
    typer.echo(
        f"{scaled.get(result.scale, 'features scaled to mean 0 and deviation 1')}, "
        f"seed {result.seed}, up to {result.n_jobs} parts at a time\n"
    )
    lines = [
        ("accuracy", "test_accuracy", "{:.4f}"),
        ("fit seconds", "fit_seconds", "{:.2f}"),
        ("predict seconds", "predict_seconds", "{:.2f}"),
        ("parts", "n_parts", "{}"),
        ("kernel evaluations per row, mean", "kernel_evaluations_mean", "{:.1f}"),
        ("kernel evaluations per row, max", "kernel_evaluations_max", "{:.0f}"),
        ("  each support vector once, mean", "unique_kernel_evaluations_mean", "{:.1f}"),
        ("  each support vector once, max", "unique_kernel_evaluations_max", "{:.0f}"),
    ]
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


def _number(value: float, form: str) -> str:
    return "unknown" if value != value else form.format(value)


def print_described(described: dict[str, Any]) -> None:
    if described["kind"] == "recipe":
        typer.echo(described["text"].rstrip("\n"))
        return
    title = f"{described['name']}: a {described['kind']} of {described['distribution']}"
    typer.echo(f"{title} {described['version']}".rstrip())
    typer.echo(f"\n{described['about']}\n")
    for word in ("yields", "accepts"):
        if word in described:
            typer.echo(f"{word}: {', '.join(described[word]) or 'depends on its settings'}\n")
    if described["settings"]:
        fields = ("setting", "default", "allowed", "help")
        print_table(fields, [[each[key] for key in fields] for each in described["settings"]])
    else:
        typer.echo("no settings")
