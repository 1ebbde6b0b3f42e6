"""The core without its plugins: it imports, its own tests pass with fakes, its errors help."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EMPTY_HANDED = """
import dcsvm
from dcsvm.base.errors import PluginError
from dcsvm.drive.registry import default_registry

assert not default_registry().offers and not default_registry().broken
assert [getattr(dcsvm, name) for name in dcsvm.__all__]
for ask in (
    lambda: dcsvm.build("decomposer", "tree"),
    lambda: dcsvm.DivideAndConquerClassifier().fit([[0.0], [1.0]], [0, 1]),
):
    try:
        ask()
    except PluginError as error:
        print(error.exit_code, error)
"""

#: The tests that get by with fakes.
FOLDERS = [
    f"tests/{name}"
    for name in (
        *("base", "datasets", "drawing", "drive", "experiments", "inspection"),
        *("model_selection", "persistence", "testing", "toolbox"),
    )
]


@pytest.fixture(scope="module")
def core_only(clean_copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository without plugins/ and without the entry points that lead there."""
    copy = tmp_path_factory.mktemp("core") / "only"
    shutil.copytree(clean_copy, copy)
    shutil.rmtree(copy / "plugins")
    project = copy / "pyproject.toml"
    text = project.read_text()
    stripped = re.sub(r"\[project\.entry-points\.dcsvm\]\n(.+\n)+", "", text)
    stripped = re.sub(r'packages = \["dcsvm", .*\]', 'packages = ["dcsvm"]', stripped)
    assert stripped != text
    assert not re.search("builtin_|plugins/", stripped.partition("[tool.ruff]")[0])
    project.write_text(stripped)
    return copy


@pytest.mark.slow
def test_the_core_alone_imports_and_says_what_is_missing(environment, core_only: Path) -> None:
    environment.install(str(core_only))
    said = environment.python("-c", EMPTY_HANDED).splitlines()
    assert said == ["3 no decomposer is called 'tree'; available: none"] * 2


@pytest.mark.slow
def test_the_tests_of_the_core_pass_without_plugins(environment, core_only: Path) -> None:
    environment.install("-e", str(core_only))
    # The numeric core is below everything and knows of no component; odd files
    # meet nothing that the other tests of reading and storing do not: once is enough.
    options = ("-q", "--assert=plain", "-k", "not fuzz")  # rewriting asserts takes as long as them
    said = environment.python("-m", "pytest", *options, *FOLDERS, cwd=core_only)
    passed = re.search(r"(\d+) passed", said)
    assert passed, said
    skipped = re.search(r"(\d+) skipped", said)
    assert int(passed[1]) > 4 * int(skipped[1] if skipped else 0), said


@pytest.mark.slow
def test_an_empty_environment_variable_disables_all_plugins() -> None:
    run = subprocess.run(
        [sys.executable, "-c", EMPTY_HANDED],
        env=os.environ | {"DCSVM_LOAD_PLUGINS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    said = run.stdout.splitlines()
    assert said == ["3 no decomposer is called 'tree'; available: none"] * 2
