"""Every library that this processor can run, and an installation without any, agree."""

import ctypes
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from dual_formulas import exact_rbf, gap

from dcsvm.numeric import Kernel, native
from dcsvm.numeric.expansion.expansion import evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import vote, walk
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve
from dcsvm_plugins.learners.kernel_svm.gram import rbf_gram
from dcsvm_plugins.learners.kernel_svm.large_solver import solve_large

ROOT = Path(__file__).resolve().parents[2]


def levels():
    """The instruction sets for which there is a library that runs here."""
    base = native.HERE / "numeric_base.so"
    best = ctypes.CDLL(str(base)).dcsvm_level() if base.exists() else -1
    return [level for level in native.LEVELS[: best + 1] if library_file(level).exists()]


def library_file(level):
    return native.HERE / f"numeric_{level}.so"


@pytest.fixture
def use(monkeypatch):
    """Let one of the libraries serve, or numpy."""

    def switch(level):
        library = None
        if level != "numpy":
            library = native.set_signatures(ctypes.CDLL(str(library_file(level))))
        monkeypatch.setattr(native, "library", library)

    return switch


def rows(count=300, features=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, features))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=count) > 0, 1.0, -1.0)


def test_all_libraries_for_this_processor_are_built():
    if native.implementation() != "native":
        pytest.skip("the compiled library is not built here")
    assert levels()[0] == "base"
    best = ctypes.CDLL(str(library_file("base"))).dcsvm_level()
    assert levels() == list(native.LEVELS[: best + 1])


@pytest.mark.slow
@pytest.mark.parametrize("level", [*native.LEVELS, "numpy"])
def test_every_library_solves_and_predicts_alike(use, level):
    if level not in [*levels(), "numpy"]:
        pytest.skip(f"no library for {level}, or this processor cannot run it")
    X, y = rows()
    K = exact_rbf(X, 0.5)
    use("numpy")
    expected = {C: solve(K, y, C, tol=1e-5) for C in (0.1, 10.0, 1e3)}
    random = np.random.default_rng(1)
    coefficients, biases = random.normal(size=(300, 2)), random.normal(size=3)
    arguments = (Kernel("rbf", gamma=0.5), X, coefficients, biases, [100, 120, 80])
    plain = prepare(*arguments)
    decisions, votes, walks = evaluate(plain, X), vote(plain, X), walk(plain, X)

    use(level)
    for C, reference in expected.items():
        for solution in (
            solve(rbf_gram(X, 0.5), y, C, tol=1e-5),
            solve_large(Kernel("rbf", gamma=0.5), X, y, C, tol=1e-5),
        ):
            assert gap(K, y, solution.alphas, C) < 1e-5
            assert solution.objective == pytest.approx(reference.objective, rel=1e-7)
            assert solution.bias == pytest.approx(reference.bias, abs=1e-4)
    packed = prepare(*arguments)
    np.testing.assert_allclose(evaluate(packed, X), decisions, rtol=1e-9, atol=1e-10)
    for precision in ("float64", "float32"):
        np.testing.assert_array_equal(vote(packed, X, precision=precision), votes)
        np.testing.assert_array_equal(walk(packed, X, precision=precision), walks)


ASK = """
import numpy as np
import dcsvm.numeric as numeric
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve
X = np.random.default_rng(0).normal(size=(60, 3))
y = np.where(X[:, 0] > 0, 1.0, -1.0)
solution = solve(numeric.Kernel("rbf")(X), y, 10.0)
print(numeric.__file__, numeric.implementation(), solution.converged, solution.objective)
"""


def build_wheel(folder, **variables):
    """Build a wheel of a copy of the sources with the tools that are here."""
    for tool in ("build", "scikit_build_core"):
        pytest.importorskip(tool)
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    left_out = shutil.ignore_patterns("*.so", "__pycache__")
    for name in ("dcsvm", "plugins"):
        shutil.copytree(ROOT / name, source / name, ignore=left_out)
    return subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source],
        env={**os.environ, **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("false"), reason="needs a program that fails")
def test_a_wheel_is_not_built_where_the_compiler_fails(tmp_path):
    built = build_wheel(tmp_path, CC=shutil.which("false"), DCSVM_BUILD="")
    assert built.returncode
    assert "is not able to compile a simple test program" in " ".join(built.stdout.split())
    assert not list(tmp_path.glob("*.whl"))


@pytest.mark.slow
def test_without_native_code_if_asked_for_the_package_installs_and_numpy_serves(tmp_path):
    built = build_wheel(tmp_path, DCSVM_BUILD="pure")
    assert built.returncode == 0, built.stdout
    installed = tmp_path / "installed"
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]
        archive.extractall(installed)
    environment = os.environ | {"PYTHONPATH": str(installed)}
    asked = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    place, implementation, converged, objective = asked.stdout.split()
    assert place.startswith(str(installed))
    assert (implementation, converged) == ("numpy", "True")
    X = np.random.default_rng(0).normal(size=(60, 3))
    here = solve(Kernel("rbf")(X), np.where(X[:, 0] > 0, 1.0, -1.0), 10.0)
    assert float(objective) == pytest.approx(here.objective, rel=1e-5)
