"""`dcsvm compare`: runs side by side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dcsvm.base.errors import UsageError
from dcsvm.cli.app import app, echo, echo_json, report_errors
from dcsvm.cli.options import AsJson, Debug, Raw
from dcsvm.cli.text_tables import print_table

#: Values of recipes are shown up to so many letters.
MOST_LETTERS = 60


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.", metavar="RUN RUN...")],
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Compare runs: measures, what differs in recipes and choices, and McNemar's test."""
    with report_errors(debug, raw=raw):
        if len(runs) < 2:
            raise UsageError("compare takes two runs or more")
        from dcsvm.experiments.comparison import compare_runs

        found = compare_runs(runs)
        if as_json:
            echo_json(found.as_dict())
            return
        numbers = [[key, *map(_format_number, values)] for key, values in found.metrics.items()]
        print_table(("", *found.runs), numbers, numbers=True)
        echo()
        if found.differences:
            rows = [[key, *map(_describe, values)] for key, values in found.differences.items()]
            print_table(("in the recipe", *found.runs), rows)
        else:
            echo("the recipes are the same")
        echo()
        if found.chosen:
            rows = [[key, *map(_describe, values)] for key, values in found.chosen.items()]
            print_table(("chosen by the search", *found.runs), rows)
            echo()
        for sentence in found.cut_short:
            echo(sentence)
        for test in found.tests:
            echo(f"{test['first']} (first), {test['second']} (second): {test['statement']}")


def _describe(value: Any) -> str:
    """A value in few words; --json has all of it."""
    from dcsvm.drawing import shorten

    return shorten(_name(value), MOST_LETTERS)


def _name(value: Any) -> str:
    """A value as text; of components and strategies, such as those of a blend, their names."""
    if isinstance(value, list):
        return f"[{', '.join(map(_name, value))}]"
    if not isinstance(value, Mapping):
        return str(value)
    if "use" in value:
        return str(value["use"])
    if {"decomposer", "learner"} <= value.keys():
        return f"{_name(value['decomposer'])} with {_name(value['learner'])}"
    return ", ".join(f"{key}={_name(each)}" for key, each in value.items())


def _format_number(value: Any) -> str:
    if value is None:
        return "not measured"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}".rstrip("0").rstrip(".")
