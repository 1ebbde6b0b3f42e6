"""The house rules that no linter knows: lengths, names, first sentences."""

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from source_code import parse_source

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [name for name in ("dcsvm", "plugins", "examples", "docs") if (ROOT / name).is_dir()]
SOURCES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PRODUCT = [path for path in SOURCES if path.relative_to(ROOT).parts[0] in ("dcsvm", "plugins")]
LONGEST_MODULE = 400
LONGEST_FUNCTION = 70
MEDIAN_FUNCTION = 7


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_are_short() -> None:
    lengths = {short(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert not {path: lines for path, lines in lengths.items() if lines > LONGEST_MODULE}


def test_functions_are_short() -> None:
    lengths = dict(function_lengths(SOURCES))
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION}


def test_half_of_all_functions_have_seven_lines_or_fewer() -> None:
    assert median(lines for _, lines in function_lengths(PRODUCT)) <= MEDIAN_FUNCTION


def function_lengths(paths: list[Path]) -> Iterator[tuple[str, int]]:
    """Every function with the lines that it takes, its docstring included."""
    for path in paths:
        for function in parse_source(path.read_text()).functions:
            yield f"{short(path)}:{function.line} {function.name}", function.length


def test_modules_open_with_one_sentence() -> None:
    faults = {short(path): fault_of_first_sentence(path) for path in [*SOURCES, *TESTS]}
    assert not {path: fault for path, fault in faults.items() if fault}


def fault_of_first_sentence(path: Path) -> str:
    """What is wrong with the sentence that opens a module; nothing if it is fine."""
    prose = parse_source(path.read_text()).docstring
    if not prose:
        return "the module has no docstring"
    first = " ".join(prose.partition("\n\n")[0].split())
    if not re.fullmatch(r"[A-Za-z`].*\.", first):
        return f"not a sentence: {first!r}"
    if re.search(r"[a-z)]\. [A-Z]", first):
        return f"more than one sentence: {first!r}"
    return ""


def test_the_first_sentence_is_looked_at(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    for text, fault in [
        ('"""One `a.b` sentence."""', ""),
        ("x = 1", "the module has no docstring"),
        ('"""No sentence"""', "not a sentence: 'No sentence'"),
        ('"""Is one. Is two."""', "more than one sentence: 'Is one. Is two.'"),
    ]:
        module.write_text(text)
        assert fault_of_first_sentence(module) == fault


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = re.compile(r"utils?|common|helpers?|manager|misc", re.IGNORECASE)
    assert not [short(path) for path in [*SOURCES, *TESTS] if vague.fullmatch(path.stem)]


def test_no_code_reads_or_writes_pickles() -> None:
    pickles = re.compile(r"^\s*(import|from) (c?pickle|dill|shelve|marshal)\b", re.MULTILINE)
    found = {short(path) for path in SOURCES if pickles.search(path.read_text())}
    assert found == {
        "dcsvm/drive/job_serialization.py"
    }  # between processes, as joblib does; no file


def test_the_top_level_holds_only_what_it_should() -> None:
    allowed = {
        *("pyproject.toml", "README.md", "LICENSE"),
        *("dcsvm", "plugins", "examples", "tests", "docs"),
    }
    made_by_tools = {"PKG-INFO", "build", "dist", "runs", "__pycache__"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert not found - allowed - made_by_tools
    assert allowed - found <= {"examples"}
