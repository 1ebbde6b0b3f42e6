"""The example plugin around LightGBM: its own tests pass, and its recipe runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "lightgbm_plugin"


def run(*arguments: str, cwd: Path) -> str:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_lightgbm_keeps_the_laws(tmp_path: Path) -> None:
    output = run(
        "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", str(EXAMPLE), cwd=tmp_path
    )
    assert " failed" not in output
    assert int(output.splitlines()[-1].split()[0]) > 25


@pytest.mark.slow
def test_its_recipe_runs(tmp_path: Path) -> None:
    plugin = ["--plugin", str(EXAMPLE / "dcsvm_lightgbm.py")]
    run("dcsvm", "run", "tree_of_lightgbm", *plugin, "--out", "run", cwd=tmp_path)
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["test_accuracy"] > 0.93
