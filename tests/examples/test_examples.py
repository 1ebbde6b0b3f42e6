"""Every example runs as it stands, warns of nothing and learns something."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
RECIPES = sorted(EXAMPLES.glob("*.toml"))


def run(*arguments, cwd):
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_there_are_examples():
    assert len(SCRIPTS) >= 3
    assert len(RECIPES) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_prints_good_accuracies(script, tmp_path):
    result = run(script, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    accuracies = [float(number) for number in re.findall(r"accuracy (\d\.\d+)", result.stdout)]
    assert accuracies
    assert min(accuracies) > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_runs_and_learns(recipe, tmp_path):
    result = run("-m", "dcsvm", "run", recipe, "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert all(each["test_accuracy"] > 0.9 for each in json.loads(result.stdout)["models"])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_how_to_run_it(script):
    assert f"python examples/{script.name}\n" in script.read_text()
