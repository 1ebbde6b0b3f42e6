"""Whether the first line of a text file names its columns, or is a row already."""

from __future__ import annotations

from collections.abc import Sequence

from dcsvm.datasets.raw_table import judge
from dcsvm.numeric.text_fields import NUMBER, OTHER

ADVICE = "say `header = false` if it is a row"


def mistake_of_header(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What is strange about names of columns, given some rows; empty if nothing is.

    Numbers can be names, such as years. Names that are values of their own columns cannot.
    """
    kinds = [judge(field)[0] for field in fields]
    if all(kind == NUMBER for kind in kinds):
        return f"the first line holds numbers, not the names of columns; {ADVICE}"
    texts = [place for place, kind in enumerate(kinds) if kind == OTHER]
    repeated = [place for place in texts if _is_value(fields[place], place, rows)]
    if repeated and (NUMBER in kinds or len(repeated) == len(texts)):
        found = f"{fields[repeated[0]]!r} is a value of column {repeated[0] + 1}"
        return f"the first line looks like a row, not like the names of columns: {found}; {ADVICE}"
    return ""


def _is_value(field: str, place: int, rows: Sequence[Sequence[str]]) -> bool:
    return any(len(row) > place and row[place].strip(" \t") == field for row in rows)
