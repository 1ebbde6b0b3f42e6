"""Results and descriptions as aligned text on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from dcsvm.base.sanitized_text import escape_controls
from dcsvm.cli.app import echo

if TYPE_CHECKING:
    from dcsvm.experiments.run.run_forecast import RunPlan
    from dcsvm.experiments.run.runner import RunResult
    from dcsvm.experiments.run.search_result import SearchResult


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
            escape_controls(title),
            justify="right" if numbers and place else "left",
            no_wrap=place < len(header) - wrapped,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(escape_controls(str(value)) for value in row))
    with console.capture() as captured:
        console.print(table, markup=False)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


#: The measures that are shown, costs only where there are any: title, name, how it is written.
MEASURES = (
    ("accuracy", "test_accuracy", "{:.4f}"),
    ("  of always naming the largest class", "baseline_accuracy", "{:.4f}"),
    ("fit seconds", "fit_seconds", "{:.2f}"),
    ("search seconds", "search_seconds", "{:.2f}"),
    ("predict seconds", "predict_seconds", "{:.2f}"),
    ("parts", "n_parts", "{}"),
    ("kernel evaluations per row, mean", "kernel_evaluations_mean", "{:.1f}"),
    ("  times fewer than undivided", "nsv_ratio", "{:,.2f}"),
    ("kernel evaluations per row, max", "kernel_evaluations_max", "{:.0f}"),
    ("  each kernel value once, mean", "unique_kernel_evaluations_mean", "{:.1f}"),
    ("  each kernel value once, max", "unique_kernel_evaluations_max", "{:.0f}"),
    ("hyperplanes per row, mean", "hyperplanes_mean", "{:.1f}"),
    ("hyperplanes per row, max", "hyperplanes_max", "{:.0f}"),
)


UNMEASURED = "no rows were held out (test = 0), so nothing says how good the model is"


def print_result(result: RunResult) -> None:
    """Print the data, the settings and the measures of a run."""
    from dcsvm.experiments.run.run_messages import (
        compute_nsv_ratios,
        describe_decision,
        describe_rarest_class,
    )

    echo(f"{result.recipe}: {result.about}" if result.about else result.recipe)
    for line in _describe_data(result):
        echo(line)
    for each in result.trained:
        for found in each.found[-1:]:
            if found.leaderboard:
                print_leaderboard(found)
                continue
            values = ", ".join(f"{key} = {value}" for key, value in found.values.items())
            by = "" if found.scored_by == "accuracy" else f"by {found.scored_by}; "
            echo(f"{each.measures.model}: {values} ({by}{found.stopped})")
    echo()
    flat = [each.flatten() for each in result.measures]
    for own, ratio in zip(flat, compute_nsv_ratios(flat), strict=True):
        own["nsv_ratio"] = ratio
        own["missed"] = sum(own[f"recall.{name}"] == 0 for name in result.missed)
    lines = {
        name: [title, *(_format_number(each.get(name), form) for each in flat)]
        for title, name, form in _list_lines(result)
        if any(map(_is_shown(name), flat))
    }
    rows = [
        row
        for name, row in lines.items()
        if row[1:] != lines.get(_find_plain_measure(name), [""])[1:]
    ]
    print_table(("", *(each.model for each in result.measures)), rows, numbers=True)
    model = result.trained[0].model[-1]
    if not result.n_test:
        echo(UNMEASURED)
    for line in (describe_decision(model), *describe_rarest_class(result.rarest, model)):
        if line:
            echo(line)


def print_leaderboard(found: SearchResult) -> None:
    """Print the recipes of a portfolio with their scores and times, and why one was chosen."""
    from dcsvm.experiments.run.run_messages import list_leaderboard

    echo()
    print_table(*list_leaderboard(found), wrapped=1, numbers=True)
    echo(f"chosen: {found.chosen}")
    echo(found.stopped)


def _describe_data(result: RunResult) -> Iterator[str]:
    import attrs
    import numpy as np

    from dcsvm.experiments.run.run_messages import (
        describe_columns,
        describe_first_look,
        describe_rare_classes,
    )

    scaled = {
        "none": "features as they are",
        "minmax": "features scaled to [0, 1]",
        "robust": "features scaled to median 0 and quartiles 1 apart",
        "quantile": "features as ranks",
    }
    n_folds = len(np.unique(result.folds))
    rows = f"{result.n_train} rows to learn from, {result.n_test or 'none'} held out"
    if n_folds > 1:
        rows = f"{result.n_train} rows, each held out once in {n_folds} folds"
    yield (f"{result.data}: {rows}, {result.n_features} features, {result.n_classes} classes")
    yield from describe_columns([attrs.asdict(each) for each in result.dataset.facts])
    rare = describe_rare_classes(result.rare)
    if rare:
        yield rare
    for found in result.trained[0].found[-1:]:
        if found.leaderboard:
            yield from describe_first_look(result.dataset, found.scored_by)
    yield (
        f"{scaled.get(result.scale, 'features scaled to mean 0 and deviation 1')}, "
        f"seed {result.seed}, {_describe_jobs(result.n_jobs)}"
    )


def _describe_jobs(jobs: int) -> str:
    return f"{'one part' if jobs == 1 else f'up to {jobs} parts'} at a time"


def _list_lines(result: RunResult) -> list[tuple[str, str, str]]:
    """The lines of the table, with folds the spread below each score."""
    own = result.measures[0]
    scores = [name for name in own.more if name.startswith("test_")]
    more = [(name.removeprefix("test_").replace("_", " "), name, "{:.4f}") for name in scores]
    by_class = [*_list_rare_lines(result), *_list_missed_lines(result)]
    lines = [*MEASURES[:2], *by_class, *more, *MEASURES[2:]]
    found: list[tuple[str, str, str]] = []
    for line in lines:
        found.append(line)
        if line[1] in own.by_fold:
            n = len(own.by_fold[line[1]])
            found.append((f"  mean of {n} folds", f"{line[1]}_fold_mean", "{:.4f}"))
            found.append(("  deviation among them", f"{line[1]}_fold_std", "{:.4f}"))
    return found


def _list_rare_lines(result: RunResult) -> Iterator[tuple[str, str, str]]:
    """A line for each rare class that was tested: the share of its rows that was found."""
    from dcsvm.drawing import shorten
    from dcsvm.experiments.run.run_messages import LISTED, format_count

    for each in [rare for rare in result.rare if rare.tested][:LISTED]:
        title = f"  of the rare class {shorten(each.name)}"
        yield (
            f"{title} ({format_count(each.tested, 'row', 'rows')})",
            f"recall.{each.name}",
            "{:.4f}",
        )


def _list_missed_lines(result: RunResult) -> Iterator[tuple[str, str, str]]:
    """A line for each class, the largest first, that one of the models never answered rightly."""
    from dcsvm.drawing import shorten
    from dcsvm.experiments.run.run_messages import LISTED, format_count

    rare = {each.name for each in result.rare}
    missed = [(name, tested) for name, tested in result.missed.items() if name not in rare]
    for name, tested in missed[:LISTED]:
        title = f"  of class {shorten(name)} ({format_count(tested, 'row', 'rows')})"
        yield title, f"recall.{name}", "{:.4f}"
    if len(missed) > LISTED:
        yield "  classes never answered rightly", "missed", "{}"


def _is_shown(name: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a measure is printed: not if it is a cost of zero or an unknown one."""
    costs = ("search_seconds", "nsv_ratio", "hyperplanes", "kernel_evaluations")
    is_cost = any(word in name for word in costs)
    of_test = name in ("test_accuracy", "baseline_accuracy", "predict_seconds")
    return lambda found: (
        (not is_cost or bool(found.get(name))) and (not of_test or bool(found["n_test"]))
    )


def _find_plain_measure(name: str) -> str:
    """The measure that says the same as one of distinct kernel values, where none repeats."""
    return name.removeprefix("unique_") if name.startswith("unique_") else ""


def print_plan(plan: RunPlan) -> None:
    folds = f" in {plan.folds} folds" if plan.folds > 1 else ""
    echo(plan.recipe)
    echo(
        f"{plan.data}: {plan.rows} rows, {plan.features} features, {plan.classes} classes; "
        f"{plan.n_train} rows to learn from, {plan.n_test or 'none'} held out{folds}"
    )
    if plan.portfolio:
        echo(f"tries {', '.join(plan.portfolio)}")
    if (
        plan.portfolio and len(plan.candidates) == 1
    ):  # which model it will be, and so its parts, is what the search finds out
        seconds = plan.candidates[0].seconds
        echo(
            f"{_describe_jobs(plan.jobs)}\n\nseconds, about {seconds:.0f}: the time for all of it"
        )
        return
    echo(f"{_describe_jobs(plan.jobs)}; parts of later stages, if any, are not foreseen\n")
    lines = [
        ("parts", "parts", "{}"),
        ("  of one class only", "homogeneous", "{}"),
        ("rows of the smallest", "smallest", "{}"),
        ("rows of the median", "median", "{}"),
        ("rows of the largest", "largest", "{}"),
        ("combinations to try, at most", "combinations", "{}"),
        ("megabytes, about", "megabytes", "{:.0f}"),
    ]
    rows = [
        [title, *(_format_number(getattr(each, field), form) for each in plan.candidates)]
        for title, field, form in lines
    ]
    durations = [each.seconds for each in plan.candidates]
    rows.append(["seconds, about", *("under 1" if n < 1 else f"{n:.0f}" for n in durations)])
    print_table(("", *(each.model for each in plan.candidates)), rows, numbers=True)
    echo("\nseconds of searching and training: measuring and the report come on top")


def _format_number(value: float | None, form: str) -> str:
    return "unknown" if value is None or value != value else form.format(value)
