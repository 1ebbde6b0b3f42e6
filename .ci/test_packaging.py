"""Whatever way dcsvm is installed, the same components come with it."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from dcsvm import __version__
from dcsvm.drive.registry import default_registry

INFO = f"dcsvm-{__version__}.dist-info"
SOURCES = (".py", ".c", ".h", ".md", ".toml")
LARGEST, MOST_OTHERS = 2**17, 2**20  # bytes: of one file, and of all that is not a source
LIST = """
import json, dcsvm
from dcsvm.drive.registry import default_registry
registry = default_registry()
assert not registry.broken, registry.broken
print(json.dumps([dcsvm.__file__, sorted(map(list, registry.offers))]))
"""


def built(kind: str, source: Path, target: Path) -> Path:
    """Build a wheel or an sdist with the tools that are here, and return its path."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", target, source],
        check=True,
        capture_output=True,
    )
    (path,) = target.iterdir()
    return path


def libraries(names: Iterable[str]) -> set[str]:
    return {Path(name).name for name in names if name.endswith((".so", ".dylib", ".dll"))}


@pytest.fixture(scope="module")
def wheel(clean_copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", clean_copy, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(clean_copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", clean_copy, tmp_path_factory.mktemp("sdist"))


@pytest.mark.parametrize("way", ["wheel", "sdist", "folder", "editable"])
def test_every_way_to_install_lists_the_same_components(
    way: str, environment, clean_copy: Path, request: pytest.FixtureRequest
) -> None:
    what = {"folder": [str(clean_copy)], "editable": ["-e", str(clean_copy)]}.get(way)
    environment.install(*(what or [str(request.getfixturevalue(way))]))
    where, listed = json.loads(environment.python("-c", LIST))
    home = clean_copy if way == "editable" else environment.folder
    assert Path(where).is_relative_to(home)
    here = [
        key for key, offer in default_registry().offers.items() if offer.distribution == "dcsvm"
    ]
    assert listed == sorted(map(list, here))
    assert ["decomposer", "tree"] in listed


def test_the_wheel_holds_three_packages_and_nothing_else(wheel: Path, clean_copy: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names} == {
        "dcsvm",
        "dcsvm_plugins",
        "dcsvm_report",
        INFO,
    }
    assert {"dcsvm/py.typed", f"{INFO}/licenses/LICENSE"} <= names
    for root in ("dcsvm", "plugins/dcsvm_plugins", "plugins/dcsvm_report"):
        for path in (clean_copy / root).rglob("*"):
            if path.suffix in {".py", ".toml"}:
                assert str(path.relative_to(clean_copy)).removeprefix("plugins/") in names
    assert not [name for name in names if re.search(r"(^|/)tests?(/|_)", name)]


def test_the_wheel_serves_every_python_of_one_platform(wheel: Path) -> None:
    assert re.fullmatch(r"dcsvm-0\.1\.0-py3-none-(?!any).*\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert "numeric_base.so" in libraries(names)
    assert not [name for name in names if name.endswith((".c", ".h")) or "cmake" in name.lower()]


def test_the_wheel_says_who_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{INFO}/METADATA").decode()
        entry_points = archive.read(f"{INFO}/entry_points.txt").decode()
    assert "License-Expression: BSD-3-Clause" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert f"Version: {__version__}\n" in metadata
    assert "Provides-Extra: test" in metadata
    assert "Project-URL: Changelog, https://" in metadata
    assert "Requires-Dist: skops>=0.13; extra ==" in metadata
    assert not re.findall(r"^Requires-Dist: skops[^;]*$", metadata, re.MULTILINE)
    assert "dcsvm = dcsvm.cli:main" in entry_points
    assert "builtin_decomposers = dcsvm_plugins.decomposers" in entry_points


def test_the_sdist_can_be_tested_and_read(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        ".ci/run-lowest",
        ".github/SECURITY.md",
        "LICENSE",
        "README.md",
        "docs/design.md",
        "plugins/dcsvm_plugins/decomposers/tree/__init__.py",
        "tests/conftest.py",
        "dcsvm/numeric/native/smo.c",
        "dcsvm/numeric/native/CMakeLists.txt",
    } <= names
    assert not libraries(names)


def test_the_sdist_is_lean(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        sizes = {each.name: each.size for each in archive.getmembers()}
    assert not [name for name in sizes if name.endswith((".jsonl", ".so", ".pyc"))]
    assert max(sizes.values()) < LARGEST, max(sizes, key=sizes.__getitem__)
    assert sum(n for name, n in sizes.items() if not name.endswith(SOURCES)) < MOST_OTHERS
