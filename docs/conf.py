"""How Sphinx makes a site of these pages: python -m sphinx -W -b html docs build/site."""

import re
from importlib.metadata import version as version_of

from sphinx.application import Sphinx

project = "dcsvm"
version = release = version_of("dcsvm")
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "dcsvm"
myst_heading_anchors = 3
exclude_patterns = ["build"]


def with_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """The tables of the index as Sphinx's tables of contents, so that the page stays plain."""
    if name != "index":
        return
    title, contents = "", []
    for line in source[0].splitlines():
        title = line.removeprefix("## ") if line.startswith("## ") else title
        link = re.match(r"\| \[[^]]+\]\(([^)]+)\.md\)", line)
        if link:
            contents.append((title, link[1]))
    for title in dict(contents):
        pages = "\n".join(page for under, page in contents if under == title)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_contents)
