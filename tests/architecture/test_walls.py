"""Who may import whom, and what the core must not know."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from source_code import parse_source

from dcsvm.drive.registry import KINDS, Offer, default_registry

#: All that a plugin may import of the core.
OPEN_TO_PLUGINS = {"dcsvm", "dcsvm.toolbox", "dcsvm.numeric", "dcsvm.drawing"}


def built_ins() -> list[Offer]:
    return [
        offer
        for offer in default_registry().offers.values()
        if offer.kind in KINDS and offer.what.__module__.startswith("dcsvm_plugins.")
    ]


def test_no_import_is_excused(repository: Path) -> None:
    contracts = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert len(contracts["contracts"]) == 3
    assert not [each["id"] for each in contracts["contracts"] if "ignore_imports" in each]


def test_plugins_import_nothing_of_the_core_but_its_four_doors(repository: Path) -> None:
    files = sorted((repository / "plugins").rglob("*.py"))
    assert {path.relative_to(repository).parts[1] for path in files} == {
        "dcsvm_plugins",
        "dcsvm_report",
    }
    strangers = {
        f"{path.relative_to(repository)} imports {module}"
        for path in files
        for module in imported(path)
        if module.partition(".")[0] == "dcsvm" and module not in OPEN_TO_PLUGINS
    }
    assert not strangers


def test_only_a_table_of_contents_imports_plugins(repository: Path) -> None:
    plugins = repository / "plugins"
    strangers = {
        f"{path.relative_to(repository)} imports {module}"
        for path in sorted(plugins.rglob("*.py"))
        for module in imported(path)
        if module.startswith("dcsvm_plugins")
        and path.name != "__init__.py"
        and not module.startswith(".".join(path.parent.relative_to(plugins).parts[:3]) + ".")
    }
    assert not strangers


@pytest.mark.slow
def test_the_core_never_compares_with_the_name_of_a_component(core: dict[str, ast.AST]) -> None:
    names = {offer.name for offer in built_ins()}
    assert {"tree", "kernel_svm", "route"} <= names
    found = {
        f"{where}:{node.lineno} compares with {value!r}"
        for where, tree in core.items()
        for node in ast.walk(tree)
        for value in compared_texts(node)
        if value in names
    }
    assert not found


def test_the_core_never_names_a_built_in_class_or_module(core: dict[str, ast.AST]) -> None:
    classes = {offer.what.__name__ for offer in built_ins()}
    assert {"Tree", "KernelSVM", "Route"} <= classes
    found = {
        f"{where} says {word}"
        for where, tree in core.items()
        for word in said(tree)
        if word in classes or "dcsvm_plugins" in word
    }
    assert not found


def test_comparisons_with_component_names_are_found() -> None:
    guilty = ast.parse("if name == 'tree' or name in ('route',) or isinstance(it, p.KernelSVM): 0")
    assert {text for node in ast.walk(guilty) for text in compared_texts(node)} == {
        "tree",
        "route",
    }
    assert "KernelSVM" in set(said(guilty))
    assert "dcsvm_plugins.learners" in set(said(ast.parse("load('dcsvm_plugins.learners')")))


@pytest.fixture(scope="module")
def core(repository: Path) -> dict[str, ast.AST]:
    return {
        str(path.relative_to(repository)): ast.parse(path.read_text())
        for path in sorted((repository / "dcsvm").rglob("*.py"))
    }


def imported(path: Path) -> set[str]:
    """The modules that a file imports, names of submodules taken from a package included."""
    modules: set[str] = set()
    for node in parse_source(path.read_text()).imports:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, f"{path} imports relatively"
            modules.add(node.module or "")
    return modules


def compared_texts(node: ast.AST) -> Iterator[str]:
    """The texts that a comparison, or a case of a match, holds something against."""
    sides: list[ast.AST] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.MatchValue):
        sides = [node.value]
    for side in sides:
        for inner in ast.walk(side):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value


def said(tree: ast.AST) -> Iterator[str]:
    """Every name, attribute and text of a module but its docstrings."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and id(node) not in prose:
            yield str(node.value)
