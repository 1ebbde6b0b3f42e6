"""The table of conformance checks at the end of a pytest run."""

import subprocess
import sys

import pytest

from dcsvm.testing import summary

TESTS = '''
import pytest
from dcsvm.testing import Check

def right(component):
    """all is well"""

def wrong(component):
    """nothing is well"""
    raise ValueError("never")

CHECKS = [
    Check("learner", "first", None, right),
    Check("learner", "first", None, wrong),
    Check("decomposer", "another", None, right),
]

@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conforms(check):
    check()

def test_nothing_to_do_with_it():
    pass
'''


def run_pytest(folder, *options):
    (folder / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.slow
def test_a_run_ends_with_the_checks_of_each_component(tmp_path):
    lines = run_pytest(tmp_path, "-p", "dcsvm.testing.summary")
    title = next(number for number, line in enumerate(lines) if "conformance checks" in line)
    assert lines[title + 1 : title + 4] == [
        "kind        name     checks  failed  skipped",
        "decomposer  another       1       0        0",
        "learner     first         2       1        0",
    ]
    assert any(
        "learner first breaks a law: nothing is well. But it raised ValueError: never" in line
        for line in lines
    )


def test_a_run_without_checks_has_no_table(monkeypatch):
    monkeypatch.setattr(summary, "_ran", {})
    summary.pytest_terminal_summary(None)


def test_texts_stand_left_and_numbers_right():
    lines = summary.table(["name", "count"], [("a", 5), ("longer", 1000)])
    assert lines == ["name    count", "a           5", "longer   1000"]
