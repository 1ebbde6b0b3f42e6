"""What comes out of a file: rows with labels, and what was found out about the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.numeric.array_types import IntArray, Matrix
from dcsvm.toolbox.table_schema import TableSchema

#: What one class is not enough for.
NEEDED = "a classifier needs two classes or more"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@attrs.frozen
class Fact:
    """What was found out about one column of a file, to be shown.

    `kind` is "number", "category", "target", "id", "constant", "empty" or "dropped".
    """

    column: str
    kind: str
    about: str = ""


@attrs.frozen(eq=False)
class Dataset:
    """Rows X (n, d) with labels y (n,); a set that was published in two halves keeps them."""

    title: str
    X: Matrix
    y: Any
    features: tuple[str, ...]
    published_test: IntArray | None = None
    schema: TableSchema | None = None
    facts: tuple[Fact, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.y)


def checked(data: Dataset) -> Dataset:
    """Refuse what nothing can be learned from, wherever it came from."""
    if data.n_rows == 0:
        raise DataError(f"{data.title} has a header but no rows")
    if data.X.shape[1] == 0:
        raise DataError(f"{data.title} has no features: {_why_none(data.facts)}")
    if (data.y == data.y[0]).all():
        raise DataError(f"{data.title} has one class only ({data.y[0]}): {NEEDED}")
    return data


def both_kinds(title: str, column: str) -> str:
    """What to say of a column of numbers, as somebody asks, that is a category as well."""
    return (
        f"{title}: column {column!r} cannot be listed in `numeric`: it is listed in "
        "`categorical`, or the file declares its levels"
    )


def check_learnable(data: Dataset, train: IntArray) -> None:
    """Refuse a split that leaves rows of one class only to learn from."""
    y = data.y[train]
    if (y == y[0]).all():
        raise DataError(
            f"{data.title}: the {len(y)} of {data.n_rows} rows left to learn from are all of "
            f"class {y[0]}, and other classes only among those to test on: {NEEDED}"
        )


def as_labels(texts: Sequence[Any]) -> Any:
    """Whole numbers where all labels are, otherwise the texts as they are.

    `007` stays a text, as does what no computer takes for a number of its own.
    """
    if all(_WHOLE.fullmatch(str(text)) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return np.array(texts, dtype=str)


def _why_none(facts: tuple[Fact, ...]) -> str:
    others = [f"{fact.column!r} ({fact.kind})" for fact in facts if fact.kind != "target"]
    if not others:
        return "no column is left beside the target"
    counts = any(fact.about.endswith("counts the rows") for fact in facts)
    way_out = "; list what counts the rows in `numeric` to learn from it" if counts else ""
    return f"no column is left beside the target; left out: {', '.join(others)}{way_out}"
