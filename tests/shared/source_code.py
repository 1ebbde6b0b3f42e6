"""What the house rules ask of a source file; it is parsed once, however many rules ask."""

import ast
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Function:
    """The name of a function, its first line, and how many lines it takes with its docstring."""

    name: str
    line: int
    length: int


@dataclass(frozen=True)
class SourceCode:
    """The docstring of a module, and its functions, classes and imports at any depth."""

    docstring: str | None
    functions: tuple[Function, ...]
    classes: tuple[str, ...]
    imports: tuple[ast.Import | ast.ImportFrom, ...]


@cache
def parse_source(text: str) -> SourceCode:
    """Parse the text of a module."""
    tree = ast.parse(text)
    functions, classes, imports = [], [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            functions.append(Function(node.name, node.lineno, length))
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
    return SourceCode(ast.get_docstring(tree), tuple(functions), tuple(classes), tuple(imports))
