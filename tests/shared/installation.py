"""Fresh environments to install into, and clean copies of the repository to install from."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

#: What a build or a test run leaves behind, and what no installation needs.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "runs"
)


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees every library of this one, but none of its dcsvm."""

    folder: Path

    def python(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run its interpreter, expect success, and return what was printed."""
        run = subprocess.run(
            [str(self.folder / "bin" / "python"), *arguments],
            cwd=cwd or self.folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def install(self, *arguments: str) -> None:
        """Install with pip, without looking anything up and, to be quick, without compiling."""
        self.python("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", *arguments)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return create_environment(tmp_path / "environment")


def create_environment(folder: Path) -> Environment:
    """Create a virtual environment in a folder that does not exist."""
    venv.create(folder, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    here = folder / "lib" / version / "site-packages"
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "dcsvm" not in each.name and each.name != "__pycache__":
            (here / each.name).symlink_to(each)
    return Environment(folder)


@pytest.fixture(scope="session")
def clean_copy(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository without what tools leave behind, but with what was compiled in place."""
    copy = tmp_path_factory.mktemp("repository") / "copy"
    shutil.copytree(repository, copy, ignore=LEFT_OUT)
    return copy


def clean_environment() -> dict[str, str]:
    """The environment variables without those that would let another dcsvm in, or a compiler."""
    unwanted = ("PYTHON", "DCSVM_", "PYTEST_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    pip = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
    return kept | pip | {"DCSVM_BUILD": "pure"}
