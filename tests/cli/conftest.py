"""What tests of the command line share: a runner with a fresh registry, and small plugins."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest
import typer.main
from typer.testing import CliRunner

from dcsvm.cli import app
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.run import changed_inputs

IRIS_PIPELINE = """
[data]
use = "iris"

[decomposer]
use = "class_pairs"

[learner]
use = "kernel_svm"

[combiner]
use = "vote"
"""

PLUGIN = """
import numpy as np
from dcsvm import Decomposer, component, hookimpl, part, setting


@component
class Halves(Decomposer):
    "Two random halves."

    name = "NAME"
    yields = frozenset({"subsets"})

    def divide(self, problem):
        order = problem.seed.generator().permutation(problem.n_rows)
        yield [part(half) for half in np.array_split(order, 2)]


@hookimpl
def dcsvm_decomposers():
    return [Halves]
"""


@pytest.fixture(autouse=True)
def fresh_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every test starts in an empty folder, and no plugin outlives its test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DCSVM_LOAD_PLUGINS", raising=False)
    default_registry.cache_clear()
    yield
    default_registry.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """Build the commands and digest our own sources once; each takes as long as a small fit."""
    digest_sources = changed_inputs._digest_sources
    ours = {name: digest_sources(name) for name in ("dcsvm", "dcsvm_plugins")}

    def digest_others(module: str) -> str:
        return ours.get(module.partition(".")[0]) or digest_sources(module)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(typer.main.get_command))
        patch.setattr(changed_inputs, "_digest_sources", digest_others)
        yield


#: The modules whose tests look at figures or compare every byte of a report.
WITH_FIGURES = {"test_report", "test_same_bytes", "test_shipped_recipes"}


@pytest.fixture(autouse=True)
def empty_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures empty where no test looks at them: they take most of a small run's time."""
    if request.module.__name__.rpartition(".")[2] not in WITH_FIGURES:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_nothing)


def write_nothing(figure: Any, file: IO[str], **options: Any) -> None:
    """Write a figure that was drawn as an SVG without its content."""
    file.write('<svg viewBox="0 0 1 1"></svg>')


@pytest.fixture
def iris_pipeline() -> str:
    """A recipe for one SVM per pair of iris species."""
    return IRIS_PIPELINE


@pytest.fixture
def plugin_text() -> str:
    """A plugin module with one decomposer, called NAME."""
    return PLUGIN


@pytest.fixture
def dcsvm(monkeypatch: pytest.MonkeyPatch):
    """Run the command line in this process: `dcsvm("run", "iris.toml").stdout`."""
    # However slow the machine is, no line of progress is among what a test expects.
    monkeypatch.setattr("dcsvm.experiments.progress.FIRST_SECONDS", math.inf)

    def run(*arguments: str):
        return CliRunner().invoke(app, [str(each) for each in arguments])

    return run


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[[str], str]:
    """Write a recipe, `recipe.toml` in the current folder, and return its name."""

    def write(text: str) -> str:
        (tmp_path / "recipe.toml").write_text(text)
        return "recipe.toml"

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Install a distribution of one plugin module, as pip would, for the time of a test."""

    def install_distribution(name: str, source: str, version: str = "1.2") -> None:
        site = tmp_path / f"site_{name}"
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[dcsvm]\n{name}_entry = module_of_{name}\n")
        (site / f"module_of_{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(site))

    return install_distribution
