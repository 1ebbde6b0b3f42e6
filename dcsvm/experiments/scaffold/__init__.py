"""The recipe and the plugin that `dcsvm recipes init` and `dcsvm plugins init` write."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template


def read_recipe() -> str:
    """Return the text of a commented recipe."""
    return (files(__name__) / "recipe.toml").read_text(encoding="utf-8")


def build_plugin_files(name: str, kind: str) -> Mapping[str, str]:
    """Return the text of each file of a new plugin with one component of that kind."""
    words = {
        "name": name,
        "dashed": name.replace("_", "-"),
        "title": "".join(word.capitalize() for word in name.split("_")),
        "kind": kind,
    }
    templates = {
        f"dcsvm_{name}.py": f"{kind}.py.txt",
        f"test_{name}.py": "test.py.txt",
        "pyproject.toml": "pyproject.toml.txt",
        "README.md": "README.md.txt",
    }
    return {
        file: Template((files(__name__) / each).read_text(encoding="utf-8")).substitute(words)
        for file, each in templates.items()
    }
