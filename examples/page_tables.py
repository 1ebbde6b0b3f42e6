"""The tables of a page in Markdown, to be read by heading, column and row."""

from __future__ import annotations

import re
from pathlib import Path

Row = dict[str, str]
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reproduction"


def read_rows(page: str, heading: str, number: int = 0) -> list[Row]:
    """The rows of one of the tables below a heading, by column; twice named columns get a "'"."""
    blocks = re.findall(r"(?:^\|.*\n?)+", _section(page, heading), flags=re.MULTILINE)
    head, _, *lines = [_cells(line) for line in blocks[number].splitlines()]
    names: list[str] = []
    for name in head:
        while name in names:
            name += "'"
        names.append(name)
    return [dict(zip(names, line, strict=True)) for line in lines]


def find_row(page: str, heading: str, number: int = 0, **wanted: str) -> Row:
    """The one row that has these values in these columns."""
    rows = [
        row
        for row in read_rows(page, heading, number)
        if all(row.get(column) == value for column, value in wanted.items())
    ]
    if len(rows) != 1:
        raise LookupError(f"{page}.md, {heading}: {len(rows)} rows have {wanted}")
    return rows[0]


def find_anchor(page: str, heading: str) -> str:
    """The anchor of a heading on the web."""
    title = _section(page, heading).partition("\n")[0].lower()
    return "".join(c for c in title if c.isalnum() or c in " -").replace(" ", "-")


def number_in(cell: str, place: int = 0) -> float:
    """One of the numbers of a cell, without marks and thousands' commas."""
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", cell)
    return float(numbers[place].replace(",", ""))


def _section(page: str, heading: str) -> str:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    found = [section for section in sections if section.startswith(heading)]
    if len(found) != 1:
        raise LookupError(f"{page}.md has {len(found)} headings that begin with {heading!r}")
    return found[0]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
