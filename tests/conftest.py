"""What all tests share: where the repository is, how hypothesis searches, how a run ends."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each worker has a core: the threads of two BLAS libraries would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import fuzzing
import hypothesis
import pytest

from dcsvm.testing import summary
from dcsvm.testing.summary import pytest_runtest_setup  # noqa: F401

# Machines that test are busy, and a failure must come back when it is looked at again.
hypothesis.settings.register_profile("dcsvm", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dcsvm")


def pytest_configure(config: pytest.Config) -> None:
    """Keep a way to the terminal, as long as nothing is captured yet."""
    fuzzing.STDERR = os.dup(2)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]


#: (component, bug, law, sentence) of every seeded bug that the conformance kit caught.
CAUGHT: list[tuple[str, str, str, str]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test recorded; with several workers this runs in the one that prints."""
    summary.pytest_runtest_logreport(report)
    properties = dict(report.user_properties)
    if report.when == "call" and "seeded bug caught" in properties:
        CAUGHT.append(tuple(properties["seeded bug caught"]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with the conformance checks of each component and the seeded bugs caught."""
    summary.pytest_terminal_summary(terminalreporter)
    if CAUGHT:
        terminalreporter.section(f"{len(CAUGHT)} seeded bugs caught")
        titles = ["component", "bug", "caught by the law", "with the sentence"]
        for line in summary.table(titles, sorted(CAUGHT)):
            terminalreporter.write_line(line)
