"""The example plugin next to dcsvm in a fresh environment: installed, listed, used, checked."""

from pathlib import Path

import pytest
from installation import create_environment

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "third_party_plugin"
LISTING = """
from dcsvm.drive.registry import default_registry
for offer in default_registry().of_kind("decomposer"):
    print(offer.name, offer.distribution, offer.version, offer.what.__module__)
import dcsvm; print(dcsvm.__file__)
"""
USE = """
import dcsvm
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
clf = dcsvm.DivideAndConquerClassifier("cells", "kernel_svm", "route", random_state=0).fit(X, y)
print(len(clf.ledger_), clf.score(X, y) > 0.9)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run Python in a fresh environment in which both distributions are installed."""
    environment = create_environment(tmp_path_factory.mktemp("third_party") / "environment")
    environment.install(str(ROOT), str(EXAMPLE))
    return environment.python


def test_the_example_is_a_complete_distribution_under_sixty_lines():
    files = sorted(path for path in EXAMPLE.iterdir() if path.suffix in {".py", ".toml"})
    assert [path.name for path in files] == ["dcsvm_cells.py", "pyproject.toml", "test_cells.py"]
    assert sum(len(path.read_text().splitlines()) for path in files) < 60


@pytest.mark.slow
def test_a_fresh_environment_lists_it_beside_the_built_in_ones(python):
    lines = python("-c", LISTING).splitlines()
    assert "cells dcsvm-cells 0.1.0 dcsvm_cells" in lines
    assert "whole dcsvm 0.1.0 dcsvm_plugins.decomposers.whole" in lines
    assert "environment" in lines[-1]


@pytest.mark.slow
def test_it_works_in_a_pipeline(python):
    assert python("-c", USE) == "4 True\n"


@pytest.mark.slow
def test_its_own_test_runs_every_law_and_tells_how_many(python):
    output = python(
        *("-m", "pytest", "-q", "-p", "dcsvm.testing.summary", "-p", "no:cacheprovider"),
        str(EXAMPLE / "test_cells.py"),
    )
    title, line = output[output.index("kind ") :].splitlines()[:2]
    assert title.split() == ["kind", "name", "checks", "failed", "skipped"]
    kind, name, checks, failed, skipped = line.split()
    assert (kind, name, failed) == ("decomposer", "cells", "0")
    assert f"{checks} passed, {skipped} skipped" in output
    assert int(checks) > 20
