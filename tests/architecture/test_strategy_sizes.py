"""Strategies of the literature stay short, name their papers, and need the open doors only."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins" / "dcsvm_plugins"
LIGHTGBM = ROOT / "examples" / "lightgbm_plugin"
#: What strategies may import of the core.
DOORS = {"dcsvm", "dcsvm.toolbox", "dcsvm.numeric"}
#: Strategies after a paper, in one file each, have at most so many lines of code.
MOST_LINES = 60
STRATEGIES = [
    *(f"decomposers/{name}" for name in ("balls", "bayesian_committee", "boosting", "cb_svm")),
    *(f"decomposers/{name}" for name in ("class_tree", "groups", "landmark_voronoi", "lsh")),
    *(f"decomposers/{name}" for name in ("mixture", "neighbours", "ordinal", "spill_forest")),
    *(f"learners/{name}" for name in ("fastfood", "lasvm", "logistic", "spsvm")),
    *(f"combiners/{name}" for name in ("class_path", "product", "weighted_sum")),
]


def count_code_lines(source: str) -> int:
    """The lines without docstrings, comments, imports and blank ones."""
    left_out = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(
        number not in left_out and bool(line.strip()) and not line.strip().startswith("#")
        for number, line in lines
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_is_short_and_names_its_paper(strategy: str) -> None:
    source = (PLUGINS / f"{strategy}.py").read_text()
    assert count_code_lines(source) <= MOST_LINES
    assert "References\n    ----------\n" in source


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_imports_the_open_doors_and_declared_libraries_only(strategy: str) -> None:
    source = (PLUGINS / f"{strategy}.py").read_text()
    assert find_strangers(source, declared_libraries(ROOT)) == set()


def test_a_wrapped_library_is_declared_by_its_distribution_and_short() -> None:
    source = (LIGHTGBM / "dcsvm_lightgbm.py").read_text()
    assert find_strangers(source, declared_libraries(LIGHTGBM)) == set()
    assert find_strangers(source, declared_libraries(ROOT)) == {"lightgbm"}
    recipe = re.search(r'^RECIPE = """\n.*?^"""\n', source, re.DOTALL | re.MULTILINE)
    assert recipe is not None
    assert count_code_lines(source.replace(recipe.group(), "")) <= MOST_LINES


def declared_libraries(folder: Path) -> set[str]:
    """The modules of the dependencies that a distribution always has, without extras."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[^\w-]", each)[0].lower() for each in project["dependencies"]}
    return {"sklearn" if name == "scikit-learn" else name for name in names}


def find_strangers(source: str, libraries: set[str]) -> set[str]:
    """The modules that are imported, anywhere in a file, and are neither open nor declared."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    allowed = libraries - {"dcsvm"} | set(sys.stdlib_module_names)
    return {each for each in found if each not in DOORS and each.partition(".")[0] not in allowed}


def test_strangers_are_found() -> None:
    source = (
        "import numpy.linalg, torch\nfrom dcsvm.base import part\nfrom . import near\nimport re"
    )
    assert find_strangers(source, declared_libraries(ROOT)) == {"torch", "dcsvm.base", "."}


def test_only_code_is_counted() -> None:
    source = '"""Text\nof two lines."""\nimport os\n\n# a comment\nx = 1\ny = """a\nb"""\n'
    assert count_code_lines(source) == 3
