"""What all tests share: where the repository is, how hypothesis searches, how a run ends."""

import gc
import os
import sys

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    # Tests start a hundred processes: what one has compiled, the next finds in __pycache__.
    sys.dont_write_bytecode = False

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each worker has a core: the threads of two BLAS libraries would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from pathlib import Path

import fuzzing
import hypothesis
import numpy as np
import pytest
from warm import warm_server

from dcsvm.numeric import native
from dcsvm.testing import summary
from dcsvm.testing.summary import pytest_runtest_setup  # noqa: F401

# Machines that test are busy, and a failure must come back when it is looked at again.
hypothesis.settings.register_profile("dcsvm", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dcsvm")


def pytest_configure(config: pytest.Config) -> None:
    """Keep a way to the terminal, as long as nothing is captured yet."""
    fuzzing.STDERR = os.dup(2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests, not garbage: ten thousand tests stay, and visiting them takes a second."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def check_descriptor(descriptor: int) -> None:
    """Raise as `fsync` would if this is not an open file."""
    os.fstat(descriptor)


@pytest.fixture(scope="session", autouse=True)
def no_disk() -> Iterator[None]:
    """Let `fsync` only check its descriptor: a run writes a dozen files, and none has to last."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", check_descriptor)
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def warm() -> Iterator[str]:
    """The address of a process that has imported dcsvm, from which commands are forked."""
    with warm_server() as address:
        yield address


@pytest.fixture(params=["native", "numpy"])
def either(request):
    """Run the test with the compiled library and with numpy."""
    if request.param == "numpy":
        with native.numpy_only():
            yield request.param
    else:
        if native.implementation() != "native":
            pytest.skip("the compiled library is not built here")
        yield request.param


@pytest.fixture(scope="session")
def dataset():
    """Arrays of a shared data set by its name; skips where it is absent."""

    def load(name):
        named = os.environ.get("DCSVM_DATA")
        beside = Path(__file__).resolve().parents[2] / "shared" / "data"
        path = (Path(named) if named else beside) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"no data set {path.name}; set DCSVM_DATA to the folder that has it")
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}

    return load


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
