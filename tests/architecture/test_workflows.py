"""The workflows of the forge parse, and name scripts, extras and folders that exist."""

import os
import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text())


def jobs() -> dict[str, dict]:
    return {
        f"{path.stem} {name}": job
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text())["jobs"].items()
    }


def commands() -> list[str]:
    return [step["run"] for job in jobs().values() for step in job["steps"] if "run" in step]


def test_every_job_runs_on_a_system_and_uses_released_actions() -> None:
    assert {"test lowest", "test newest", "release wheels", "release sdist"} <= set(jobs())
    for name, job in jobs().items():
        assert job["runs-on"], name
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"[\w/-]+@(release/)?v[\d.]+", step["uses"]), name


def test_commands_name_scripts_extras_and_folders_that_exist() -> None:
    text = "\n".join(commands())
    scripts = re.findall(r"^\.ci/[\w-]+", text, re.MULTILINE)
    assert {".ci/run", ".ci/run-lowest", ".ci/cross-compile"} == set(scripts)
    for script in (*scripts, ".ci/run-sanitizers"):
        assert os.access(ROOT / script, os.X_OK), script
    for extra in re.findall(r"\.\[(\w+)\]", text):
        assert extra in TABLE["project"]["optional-dependencies"]
    for folder in re.findall(r"-b html (\w+)", text):
        assert (ROOT / folder).is_dir()


def test_every_supported_python_is_tested() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(TABLE["project"]["classifiers"]))
    assert jobs()["test newest"]["strategy"]["matrix"]["python"] == named


def test_wheels_are_built_once_for_each_platform() -> None:
    systems = jobs()["release wheels"]["strategy"]["matrix"]["system"]
    for kind in ("ubuntu-latest", "arm", "macos", "windows"):
        assert any(kind in system for system in systems), kind
    assert TABLE["tool"]["cibuildwheel"]["build"] == "cp311-*"  # one wheel serves every Python
