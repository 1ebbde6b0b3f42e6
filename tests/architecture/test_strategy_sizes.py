"""Strategies of the literature stay short, and name their papers."""

import ast
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins" / "dcsvm_plugins"
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


def test_only_code_is_counted() -> None:
    source = '"""Text\nof two lines."""\nimport os\n\n# a comment\nx = 1\ny = """a\nb"""\n'
    assert count_code_lines(source) == 3
