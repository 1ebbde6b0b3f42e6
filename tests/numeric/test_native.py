"""Which implementation runs, which library is loaded; a compiler that fails stops the build."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dcsvm.numeric
from dcsvm.numeric import native

HERE = Path(native.__file__).parent
SOURCES = [*HERE.glob("*.[ch]"), HERE / "CMakeLists.txt", HERE / "fingerprint.py"]


def run_python(program, **variables):
    """What a new process prints."""
    root = str(Path(dcsvm.numeric.__file__).parents[2])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def test_an_environment_variable_forces_numpy():
    told = run_python(
        "import dcsvm.numeric as n; print(n.implementation())", DCSVM_NUMERIC="numpy"
    )
    assert told.stdout == "numpy\n"


FIT = """
import sys
from sklearn.datasets import load_iris
from dcsvm import DivideAndConquerClassifier
from dcsvm.numeric import native
print(native.describe_implementation(), file=sys.stderr)
for repetition in range(2):
    DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(*load_iris(return_X_y=True))
"""


@pytest.mark.slow
def test_the_first_fit_warns_once_where_the_library_is_missing_and_the_import_does_not(tmp_path):
    # Another folder of the package, without libraries.
    (tmp_path / "dcsvm" / "numeric").mkdir(parents=True)
    for folder in (Path(dcsvm.__file__).parent, HERE.parent):
        for path in folder.iterdir():
            place = tmp_path / path.relative_to(HERE.parents[2])
            if path.name not in ("numeric", "native", "__pycache__"):
                place.symlink_to(path)
    left_out = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(HERE, tmp_path / "dcsvm" / "numeric" / "native", ignore=left_out)
    paths = [tmp_path, HERE.parents[2] / "plugins", os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    told = subprocess.run(
        [sys.executable, "-W", "always", "-c", FIT],
        env={key: value for key, value in variables.items() if key != "DCSVM_NUMERIC"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    ).stderr
    first, warning = told.split("\n", 1)
    assert first == "numpy"
    assert warning.count("NumpyFallbackWarning: dcsvm runs on numpy") == 1
    assert "the compiled library is not installed; reinstall dcsvm with a C compiler" in warning


@pytest.mark.slow
def test_no_fit_warns_where_numpy_is_asked_for():
    assert run_python(FIT, DCSVM_NUMERIC="numpy").stderr == "numpy\n"


@pytest.mark.skipif(native.library is None, reason="the compiled library is not built")
def test_a_block_on_numpy_does_not_warn(recwarn):
    with native.numpy_only():
        native.warn_of_numpy()
    assert not recwarn.list


def test_the_instruction_set_can_be_told():
    with native.numpy_only():
        assert native.instruction_set() is None
        assert native.describe_implementation() == "numpy"
    if native.library is not None:
        assert native.instruction_set() in native.LEVELS
        assert native.describe_implementation() == f"native, {native.instruction_set()}"


def test_the_choice_can_be_told():
    assert native.implementation() in ("native", "numpy")
    with native.numpy_only():
        assert native.implementation() == "numpy"


def test_what_is_no_library_is_refused(tmp_path, monkeypatch):
    (tmp_path / "numeric_base.so").write_bytes(b"not a library")
    monkeypatch.setattr(native, "HERE", tmp_path)
    with pytest.raises(OSError, match="the compiled library cannot be loaded"):
        native.load()


def test_no_library_at_all_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "HERE", tmp_path)
    with pytest.raises(OSError, match="the compiled library is not installed"):
        native.load()


def build_library(folder, *options, **variables):
    """Run CMake on the sources in a folder, which is where the libraries go."""
    cmake = shutil.which("cmake")
    if not cmake:
        pytest.skip("needs CMake on the path")
    build = folder / "build"
    for command in (
        [cmake, "-S", folder, "-B", build, f"-DPython_EXECUTABLE={sys.executable}", *options],
        [cmake, "--build", build, "--parallel", "2"],
    ):
        done = subprocess.run(
            command, env={**os.environ, **variables}, capture_output=True, text=True
        )
        if done.returncode:
            break
    return done


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["/bin/false", "no-such-compiler"])
def test_a_compiler_that_fails_stops_the_build(sources, compiler):
    done = build_library(sources, CC=compiler)
    assert done.returncode
    assert "compiler" in done.stderr.lower()
    assert not list(sources.glob("*.so"))


@pytest.mark.slow
def test_an_error_in_a_source_stops_the_build_and_shows_the_compilers_words(sources):
    first = min(sources.glob("*.c"))  # which is compiled first, so little else is
    first.write_text("int broken(void) { return missing; }\n")
    done = build_library(sources)
    assert done.returncode
    assert "missing" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["-DCMAKE_OSX_ARCHITECTURES=x86_64;arm64"],
            "build one architecture at a time, not x86_64;arm64",
        ),
        (
            ["-DCMAKE_C_COMPILER_VERSION=8.5.0"],
            "dcsvm needs GCC 9 or Clang 14 or newer, not GNU 8.5.0; set CC, or DCSVM_BUILD=pure",
        ),
    ],
    ids=["two architectures", "an old compiler"],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(sources, options, sentence):
    if "VERSION" in options[0] and not shutil.which("gcc"):
        pytest.skip("needs GCC")
    # CMake takes a version that it is told, if it is told all that it would ask the compiler.
    defaults = [f"-DCMAKE_C_{each}_COMPUTED_DEFAULT=11" for each in ("STANDARD", "EXTENSIONS")]
    known = ["-DCMAKE_C_COMPILER_ID=GNU", "-DCMAKE_C_COMPILER_ID_RUN=1", *defaults, *options]
    done = build_library(sources, *(known if "VERSION" in options[0] else options))
    assert done.returncode
    assert sentence in " ".join(done.stderr.split())


@pytest.mark.skipif(sys.platform != "linux", reason="the names are those of glibc")
@pytest.mark.parametrize("library", sorted(HERE.glob("*.so")), ids=lambda path: path.stem)
def test_a_library_guards_its_stack_and_checks_the_sizes_of_copies(library):
    """Stack protector and _FORTIFY_SOURCE leave calls of glibc's checking functions."""
    names = library.read_bytes()
    if b"__asan_init" in names:
        pytest.skip("AddressSanitizer has checks of its own")
    assert b"\0__stack_chk_fail\0" in names
    assert re.search(rb"\0__(memcpy|memset|memmove)_chk\0", names)


@pytest.fixture
def sources(tmp_path):
    """A copy of the C sources and of what builds them."""
    for path in SOURCES:
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.fixture
def installed(sources, monkeypatch):
    """A copy of the sources and of one library built from them, of which native loads."""
    library = HERE / "numeric_base.so"
    if not library.exists():
        pytest.skip("the library was not built")
    shutil.copy(library, sources)
    monkeypatch.setattr(native, "HERE", sources)
    return sources


def test_a_library_of_the_sources_beside_it_is_taken(installed):
    assert native.load() is not None


def test_a_library_without_sources_beside_it_is_taken(installed):
    for path in installed.glob("*.[ch]"):
        path.unlink()
    assert native.load() is not None


@pytest.mark.parametrize("changed", ["smo.c", "numeric.h", "CMakeLists.txt"])
def test_a_library_of_older_sources_is_refused(installed, changed):
    with (installed / changed).open("a") as file:
        file.write("\n")
    with pytest.raises(OSError, match="built from different C sources"):
        native.load()


def test_a_library_that_does_not_know_its_sources_is_refused(installed):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    for path in installed.glob("*.[ch]"):
        path.unlink()
    old = installed / "old.c"
    old.write_text("int dcsvm_level(void) { return 0; }")
    library = installed / "numeric_base.so"
    subprocess.run([compiler, "-shared", "-fPIC", old, "-o", library], check=True)
    with pytest.raises(OSError, match="built from different C sources"):
        native.load()
