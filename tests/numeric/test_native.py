"""Which implementation runs, and that a build without a compiler goes on without the library."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dcsvm.numeric
from dcsvm.numeric import native

BUILD = Path(native.__file__).with_name("build.py")


def implementation_with(**variables):
    """What a new process says that it runs."""
    root = str(Path(dcsvm.numeric.__file__).parents[2])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", "import dcsvm.numeric as n; print(n.implementation())"],
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_an_environment_variable_forces_numpy():
    assert implementation_with(DCSVM_NUMERIC="numpy") == "numpy"


def test_the_choice_can_be_told():
    assert native.implementation() in ("native", "numpy")
    with native.numpy_only():
        assert native.implementation() == "numpy"


def test_what_is_no_library_counts_as_none(tmp_path, monkeypatch):
    (tmp_path / "numeric_base.so").write_bytes(b"not a library")
    monkeypatch.setattr(native, "HERE", tmp_path)
    monkeypatch.delenv("DCSVM_NUMERIC", raising=False)
    assert native.load() is None


@pytest.fixture
def build():
    """The build hook's module, which no other code imports."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("native_build", BUILD)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("compiler", ["false", "no-such-compiler"])
def test_a_compiler_that_fails_leaves_no_library(build, tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    assert build.compile_libraries(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_platform_stands_in_the_wheels_tag(build):
    assert "-" not in build.platform_tag()
    assert "." not in build.platform_tag()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A copy of the sources and of one library built from them, of which native loads."""
    library = BUILD.with_name("numeric_base.so")
    if not library.exists():
        pytest.skip("the library was not built")
    for path in [*BUILD.parent.glob("*.[ch]"), BUILD, library]:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(native, "HERE", tmp_path)
    monkeypatch.delenv("DCSVM_NUMERIC", raising=False)
    return tmp_path


def test_a_library_of_the_sources_beside_it_is_taken(installed):
    assert native.load() is not None


def test_a_library_without_sources_beside_it_is_taken(installed):
    for path in installed.glob("*.[ch]"):
        path.unlink()
    assert native.load() is not None


@pytest.mark.parametrize("changed", ["smo.c", "numeric.h", "build.py"])
def test_a_library_of_older_sources_is_refused_with_a_warning(installed, changed):
    with (installed / changed).open("a") as file:
        file.write("\n")
    with pytest.warns(RuntimeWarning, match="built from different C sources .* reinstall dcsvm"):
        assert native.load() is None


def test_a_library_that_does_not_know_its_sources_is_refused(build, installed, monkeypatch):
    for path in installed.glob("*.[ch]"):
        path.unlink()
    (installed / "old.c").write_text("int dcsvm_level(void) { return 0; }")
    monkeypatch.setattr(build, "FLAGS", ["-fPIC"])
    monkeypatch.setattr(build, "HERE", installed)
    if not build.compile_libraries(installed):
        pytest.skip("no C compiler")
    with pytest.warns(RuntimeWarning, match="built from different C sources"):
        assert native.load() is None
