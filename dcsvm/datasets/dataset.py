"""Dataset: rows with labels, and what was inferred about the columns."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.numeric.array_types import IntArray, Matrix
from dcsvm.toolbox.table_schema import TableSchema

NEEDED = "a classifier needs two classes or more"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@attrs.frozen
class Fact:
    """What was inferred about one column of a file, for display.

    `kind` is "number", "category", "target", "id", "constant", "empty", "date" or "dropped".
    """

    column: str
    kind: str
    about: str = ""
    #: The words of a category that counted as missing, and how often they did.
    words: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    #: Those of them that may be levels.
    doubtful: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class Dataset:
    """Rows X (n, d) with labels y (n,), and the test rows if the set was published with some."""

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


def check_dataset(data: Dataset) -> Dataset:
    """Raise if a data set has no rows, no features or a single class."""
    if data.n_rows == 0:
        raise DataError(f"{data.title} has a header but no rows")
    if data.X.shape[1] == 0:
        raise DataError(f"{data.title} has no features: {_explain_no_features(data.facts)}")
    if (data.y == data.y[0]).all():
        raise DataError(f"{data.title} has one class only ({data.y[0]}): {NEEDED}")
    return data


def check_learnable(data: Dataset, train: IntArray) -> None:
    """Raise if the training rows of a split have a single class."""
    y = data.y[train]
    if (y == y[0]).all():
        raise DataError(
            f"{data.title}: all {len(y)} training rows (of {data.n_rows}) have class {y[0]}, and "
            f"only test rows have other classes: {NEEDED}"
        )


def parse_labels(texts: Sequence[Any]) -> Any:
    """Return labels as integers if all of them are, otherwise as strings; `007` is a string."""
    if all(_WHOLE.fullmatch(str(text)) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return np.array(texts, dtype=str)


def _explain_no_features(facts: tuple[Fact, ...]) -> str:
    others = [f"{fact.column!r} ({fact.kind})" for fact in facts if fact.kind != "target"]
    if not others:
        return "no column is left beside the target"
    counts = any(fact.about.endswith("counts the rows") for fact in facts)
    way_out = "; list what counts the rows in `numeric` to learn from it" if counts else ""
    return f"no column is left beside the target; left out: {', '.join(others)}{way_out}"
