"""Pytest plugin that prints the number of conformance checks of each component.

Load it with `pytest -p dcsvm.testing.summary`, or import its two hooks in a conftest.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dcsvm.testing.checks import Check

_ran: Counter[tuple[str, str]] = Counter()
_failed: Counter[tuple[str, str]] = Counter()
_skipped: Counter[tuple[str, str]] = Counter()


def pytest_runtest_logreport(report: Any) -> None:
    """Count a test of a check after its call."""
    found = dict(report.user_properties).get("conformance check of")
    if report.when == "call" and found is not None:
        component = (found[0], found[1])
        _ran[component] += not report.skipped
        _failed[component] += int(report.failed)
        _skipped[component] += int(report.skipped)


def pytest_runtest_setup(item: Any) -> None:
    """Mark the tests that have a check as a parameter."""
    for value in getattr(getattr(item, "callspec", None), "params", {}).values():
        if isinstance(value, Check):
            item.user_properties.append(("conformance check of", (value.kind, value.name)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table at the end of the output."""
    if _ran:
        terminalreporter.section("conformance checks")
        for line in table(["kind", "name", "checks", "failed", "skipped"], counts()):
            terminalreporter.write_line(line)


def counts() -> list[tuple[str, str, int, int, int]]:
    """Return kind, name, and numbers of checks run, failed and skipped for every component."""
    return [
        (*component, _ran[component], _failed[component], _skipped[component])
        for component in sorted(_ran)
    ]


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return lines with aligned columns: strings to the left, numbers to the right."""
    cells = [list(titles), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    to_the_right = [
        all(isinstance(row[column], int) for row in rows) for column in range(len(titles))
    ]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_the_right, strict=True)
        ).rstrip()
        for row in cells
    ]
