"""Ends a pytest run with the conformance checks of each component and the mutations caught."""

from dcsvm.testing import summary
from dcsvm.testing.summary import pytest_runtest_logreport, pytest_runtest_setup  # noqa: F401

CAUGHT: list[tuple[str, str, str, str]] = []


def pytest_terminal_summary(terminalreporter):
    summary.pytest_terminal_summary(terminalreporter)
    if CAUGHT:
        terminalreporter.section(f"mutations caught: {len(CAUGHT)}")
        titles = ["component", "mutation", "caught by", "with the sentence"]
        for line in summary.table(titles, sorted(CAUGHT)):
            terminalreporter.write_line(line)
