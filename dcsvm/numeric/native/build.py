"""Compiles the C sources beside this file, as a hook of the build and as a script.

Where no compiler is found, or it fails, the build goes on without the libraries and the numpy
implementation of the same algorithms serves.
"""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
# By its path: where a package is built, it cannot be imported yet.
fingerprint = runpy.run_path(str(HERE / "fingerprint.py"))["fingerprint"]

# Exact enough to keep every result the same from run to run: sums are never reordered.
FLAGS = [
    *("-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=fast"),
    *("-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-ffinite-math-only"),
]

# One library per instruction set, chosen when the package is imported. (One library with
# function multiversioning would do, but compilers lower wide vector types before they clone.)
LEVELS = {"base": "", "avx2": "-march=haswell", "avx512": "-march=skylake-avx512"}


class NativeBuildHook(BuildHookInterface[Any]):
    """Puts the compiled libraries into the wheel and names the platform in its tag."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in place before the files of the wheel are collected."""
        libraries = compile_libraries()
        if not libraries:
            self.app.display_warning("dcsvm: no C compiler; the numpy implementation will serve")
            return
        for library in libraries:
            build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"


def compile_libraries(folder: Path = HERE) -> list[Path]:
    """Compile one library per instruction set; gives those that came out, maybe none."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if not compiler or sys.platform == "win32":
        return []
    levels = LEVELS if platform.machine() in ("x86_64", "AMD64") else {"base": ""}
    built = []
    for level, architecture in levels.items():
        target = folder / f"numeric_{level}.so"
        if compile_one(compiler, target, architecture.split()):
            built.append(target)
        elif level == "base":
            return []
    return built


def compile_one(compiler: str, target: Path, architecture: list[str]) -> bool:
    """Compile all sources to one library, written aside and then renamed."""
    sources = sorted(str(path) for path in HERE.glob("*.c"))
    built_from = f"-DDCSVM_SOURCES={fingerprint(HERE)}u"
    with tempfile.TemporaryDirectory(dir=target.parent) as aside:
        made = Path(aside) / target.name
        options = [*FLAGS, built_from, *architecture, "-shared"]
        command = [*compiler.split(), *options, *sources, "-lm"]
        try:
            done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
        except OSError:
            return False
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return False
        made.replace(target)
    return True


def platform_tag() -> str:
    """The platform as it stands in a wheel's name."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


if __name__ == "__main__":
    print("\n".join(str(path) for path in compile_libraries()) or "no compiler")
