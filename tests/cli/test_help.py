"""`dcsvm --help` and `--version`: quick, plain, and for every command."""

import subprocess
import sys

import pytest

import dcsvm as package
from dcsvm.numeric import describe_implementation


def test_the_version_says_what_runs(dcsvm):
    said = dcsvm("--version").stdout
    assert said == f"dcsvm {package.__version__} ({describe_implementation()})\n"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["plugins"],
        ["plugins", "show"],
        ["recipes"],
        ["recipes", "show"],
        ["explain"],
    ],
)
def test_every_command_has_help(dcsvm, command):
    result = dcsvm(*command, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ")
    if command:
        for option in ("--plugin", "--json", "--debug"):
            assert option in result.stdout


def test_a_command_that_is_not_there_is_a_usage_error(dcsvm):
    result = dcsvm("rum")
    assert result.exit_code == 2
    assert "No such command 'rum'" in result.stderr


def test_jobs_below_one_are_a_usage_error(dcsvm):
    assert dcsvm("run", "--jobs", "0").exit_code == 2


def test_help_imports_nothing_heavy():
    heavy = "import sys; import dcsvm.cli; print({'sklearn', 'numpy', 'rich'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True)
    assert run.stdout == "set()\n"
