"""Ends a pytest run with the conformance checks of each component and the mutations caught."""

import pytest

from dcsvm.testing import summary
from dcsvm.testing.summary import pytest_runtest_logreport, pytest_runtest_setup  # noqa: F401

CAUGHT = pytest.StashKey[list]()


@pytest.fixture
def caught(pytestconfig):
    """The list of (component, mutation, law, sentence) that the run ends with."""
    return pytestconfig.stash.setdefault(CAUGHT, [])


def pytest_terminal_summary(terminalreporter, config):
    summary.pytest_terminal_summary(terminalreporter)
    caught = sorted(config.stash.get(CAUGHT, []))
    if caught:
        terminalreporter.section(f"{len(caught)} seeded bugs caught")
        titles = ["component", "bug", "caught by the law", "with the sentence"]
        for line in summary.table(titles, caught):
            terminalreporter.write_line(line)
