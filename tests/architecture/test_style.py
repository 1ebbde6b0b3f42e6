"""The house rules that a machine can check: lint, format, types, lengths, first sentences."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [name for name in ("dcsvm", "plugins", "examples", "docs") if (ROOT / name).is_dir()]
SOURCES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LONGEST_MODULE = 400
LONGEST_FUNCTION = 70


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", *FOLDERS, "tests"),
        ("ruff", "format", "--check", *FOLDERS, "tests"),
        ("mypy",),
    ],
    ids=["lint", "format", "types"],
)
def test_the_checkers_are_content(command: tuple[str, ...]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_functions_are_short(path: Path) -> None:
    long = {
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    }
    assert not long


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=short)
def test_modules_open_with_one_sentence(path: Path) -> None:
    prose = ast.get_docstring(ast.parse(path.read_text()))
    assert prose, "the module has no docstring"
    first = " ".join(prose.partition("\n\n")[0].split())
    assert re.fullmatch(r"[A-Za-z`].*\.", first), f"not a sentence: {first!r}"
    assert not re.search(r"[a-z)]\. [A-Z]", first), f"more than one sentence: {first!r}"


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = re.compile(r"utils?|common|helpers?|manager|misc", re.IGNORECASE)
    assert not [short(path) for path in [*SOURCES, *TESTS] if vague.fullmatch(path.stem)]


def test_no_code_reads_or_writes_pickles() -> None:
    pickles = re.compile(r"^\s*(import|from) (c?pickle|dill|shelve|marshal)\b", re.MULTILINE)
    assert not [short(path) for path in SOURCES if pickles.search(path.read_text())]


def test_the_top_level_holds_only_what_it_should() -> None:
    allowed = {
        *("pyproject.toml", "README.md", "LICENSE"),
        *("dcsvm", "plugins", "examples", "tests", "docs"),
    }
    made_by_tools = {"build", "dist", "runs", "__pycache__"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert not found - allowed - made_by_tools
    assert allowed - found <= {"examples"}
