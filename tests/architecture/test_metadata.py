"""What package indexes and forges read: versions, floors, dependencies, addresses, citation."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from source_code import parse_source

import dcsvm

ROOT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = TABLE["project"]
EXTRAS = PROJECT["optional-dependencies"]
FORGE = PROJECT["urls"]["Homepage"]
OWN = {"dcsvm", "dcsvm_plugins", "dcsvm_report"}


def test_the_version_is_written_in_one_place() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    source = TABLE["tool"]["scikit-build"]["metadata"]["version"]["input"]
    assert f'__version__ = "{dcsvm.__version__}"' in (ROOT / source).read_text()


def test_the_changelog_and_the_citation_tell_the_version() -> None:
    releases = re.findall(r"^## (.+)$", (ROOT / "docs" / "changelog.md").read_text(), re.MULTILINE)
    assert next(name for name in releases if name != "Unreleased") == dcsvm.__version__
    citation = (ROOT / "docs" / "CITATION.cff").read_text()
    assert f"\nversion: {dcsvm.__version__}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert f"\nrepository-code: {FORGE}\n" in citation


def test_the_addresses_of_the_project_lead_to_files() -> None:
    for address in PROJECT["urls"].values():
        assert address.startswith(FORGE)
        _, _, path = address.partition("/blob/main/")
        assert (ROOT / path).exists()
    assert (ROOT / ".github" / "SECURITY.md").exists()


def test_the_classifiers_name_every_supported_python() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert len(named) >= 4


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~!\[; ]", each)[0].lower().replace("_", "-") for each in requirements}


def imported_by(*folders: str) -> set[str]:
    """The top packages that the files of these folders import, wherever they do it."""
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            for node in parse_source(path.read_text()).imports:
                if isinstance(node, ast.Import):
                    found |= {each.name.partition(".")[0] for each in node.names}
                elif node.module and not node.level:
                    found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - OWN


def undeclared(imported: set[str], declared: set[str], homes: Mapping[str, list[str]]) -> set[str]:
    return {
        name
        for name in imported
        if name in homes
        and not {each.lower().replace("_", "-") for each in homes[name]} & declared
    }


def test_everything_that_is_imported_is_declared() -> None:
    product = names_of([*PROJECT["dependencies"], *chain(*EXTRAS.values())])
    homes = packages_distributions()
    assert undeclared(imported_by("dcsvm", "plugins"), product, homes) == set()
    tools = names_of([*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["showcase"]])
    assert undeclared(imported_by("tests", ".ci"), tools, homes) == set()


def test_the_test_extra_holds_every_other_but_the_showcase() -> None:
    others = {each for name, lines in EXTRAS.items() if name != "showcase" for each in lines}
    assert others == set(EXTRAS["test"])


def test_the_extras_declare_the_same_lowest_versions() -> None:
    lines = {line for each in EXTRAS.values() for line in each}
    assert len(names_of(list(lines))) == len(lines)


def test_the_plugins_of_the_examples_are_tested_with_what_they_need() -> None:
    for path in (ROOT / "examples").glob("*/pyproject.toml"):
        needed = tomllib.loads(path.read_text())["project"]["dependencies"]
        assert {*needed} - {"dcsvm"} <= {*PROJECT["dependencies"], *EXTRAS["test"]}, path


def test_the_lowest_versions_are_installed_and_tested(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    for name in (".ci/run-lowest", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    python = tmp_path / "bin" / "python3.11"
    python.parent.mkdir()
    python.write_text(
        '#!/bin/sh\n[ "$*" = - ] && exec "$REAL" -\necho "python $*"\n'
        'case "$*" in "-m venv"*) mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; esac\n'
        'case "$*" in *"$FAILS"*) exit 1; esac\n'
    )
    python.chmod(0o755)
    path = f"{python.parent}:{os.environ['PATH']}"

    def run(*arguments: str, fails: str = "nothing") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", tmp_path / ".ci" / "run-lowest", *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": path, "REAL": sys.executable, "FAILS": fails},
        )

    said = run().stdout.splitlines()
    assert [line for line in said if "pip install" in line] == [
        "python -m pip install -q -e .[test]"
    ]
    assert [line.rpartition("worksteal ")[2] for line in said if "-m pytest" in line] == [
        "-m not slow",
        "-m slow tests/persistence tests/sklearn",
    ]
    pinned = (tmp_path / ".venv-lowest" / "lowest.txt").read_text().splitlines()
    assert names_of(pinned) == names_of(
        [*PROJECT["dependencies"], *EXTRAS["test"], *TABLE["build-system"]["requires"]]
    )
    assert all("==" in line for line in pinned)
    assert run("tests/numeric").stdout.endswith("worksteal tests/numeric\n")
    for fails in ("pip install", "not slow", "-m slow"):
        assert run(fails=fails).returncode == 1


def test_a_dependency_without_a_lowest_version_is_told(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "run-lowest").read_text()
    code = re.search(r"<<'EOF'\n(.*?)^EOF$", script, re.MULTILINE | re.DOTALL)
    assert code
    text = (ROOT / "pyproject.toml").read_text().replace('"attrs>=23.2"', '"attrs"')
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess.run(
            [sys.executable, "-c", code[1]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "no lowest version in 'attrs'" in caught.value.stderr
