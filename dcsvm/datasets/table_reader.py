"""From blocks of a table to a matrix: columns are gathered, and what they hold is found out."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.column_types import FEW_LEVELS, Gathered
from dcsvm.datasets.dataset import Dataset, Fact, as_labels, both_kinds
from dcsvm.datasets.raw_table import Table, judge
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.text_fields import NUMBER
from dcsvm.toolbox.table_schema import Column, TableSchema

Reference = str | int


def gather(
    table: Table,
    target: Reference | None,
    categorical: Sequence[Reference] = (),
    drop: Sequence[Reference] = (),
    numeric: Sequence[Reference] = (),
    allow_missing: bool = False,
) -> Dataset:
    """Read a whole table as rows to learn from; parameters as in `dcsvm.datasets.loading.read`."""
    place = target_place(table, target)
    categories = {_place(table, each, "categorical") for each in categorical}
    dropped = {_place(table, each, "drop") for each in drop}
    numbers = {_place(table, each, "numeric") for each in numeric}
    if place in dropped:
        raise DataError(
            f"{table.title}: {table.names[place]!r} is the target and cannot be dropped"
        )
    categories |= set(table.levels)
    if numbers & categories:
        raise DataError(both_kinds(table.title, table.names[min(numbers & categories)]))
    columns = {
        j: Gathered(table, j, j == place or j in categories, j in categories, j in numbers)
        for j in range(len(table.names))
        if j not in dropped
    }
    _read(table, columns)
    again = {
        j: Gathered(table, j, is_text=True)
        for j, column in columns.items()
        if column.is_text_after_all
    }
    padded = {j: text for j in again if columns[j].is_code and (text := columns[j].padded)}
    if again:  # what began as numbers goes on as text: read from the beginning as text
        _read(table, again)
        columns.update(again)
    _raise_first(table, columns, place, allow_missing)
    for j, text in padded.items():
        _warn_of_code(columns[j], text)
    return _dataset(table, columns, place, dropped)


def target_place(table: Table, target: Reference | None) -> int:
    """Which column holds the classes."""
    if target is None:
        if table.ends_with_target:
            return len(table.names) - 1
        raise DataError(
            f"{table.title}: which column holds the classes? Name it as the target; "
            f"available: {', '.join(table.names)}"
        )
    return _place(table, target, "the target")


def _place(table: Table, reference: Reference, role: str) -> int:
    """The place of a column by its name or its number: 1 is the first, -1 the last."""
    if isinstance(reference, int):
        n = len(table.names)
        if not 1 <= abs(reference) <= n:
            raise DataError(
                f"{table.title} has no column number {reference}, which [data] names as {role}; "
                f"it has {n}, and the first is 1"
            )
        return reference - 1 if reference > 0 else n + reference
    if reference not in table.names:
        several = [each.strip() for each in reference.split(",")]
        hint = did_you_mean(reference, table.names)
        if len(several) > 1 and set(several) <= {*table.names}:
            hint = f"several are a list: {json.dumps(several, ensure_ascii=False)}"
        raise DataError(
            f"{table.title} has no column {reference!r}, which [data] names as {role}; {hint}"
        )
    return table.names.index(reference)


def _read(table: Table, columns: dict[int, Gathered]) -> None:
    for block in table.blocks():
        for column in columns.values():
            column.add(block)


def _raise_first(
    table: Table, columns: dict[int, Gathered], target: int, allow_missing: bool
) -> None:
    """Raise the mistake on the earliest line, of all columns."""
    mistakes = []
    for j, column in columns.items():
        if j != target:
            mistakes += column.mistakes(allow_missing)
        elif column.first_missing is not None:
            sentence = f"the target {column.name!r} is missing{_if_measured(column)}"
            mistakes.append((column.first_missing, sentence))
    if mistakes:
        place, sentence = min(mistakes)
        raise DataError(f"{table.where(place)}: {sentence}")
    for j, column in columns.items():
        if j != target:
            column.refuse()


def _warn_of_code(column: Gathered, text: str) -> None:
    kind = "an id" if column.kind == "id" else "a category"
    warnings.warn(
        f"{column.table.title}: column {column.name!r} has numbers with leading zeros, such as "
        f"{text!r}, and is taken for {kind}; list it in `categorical`, in `numeric` or in `drop` "
        "to say what it is",
        stacklevel=2,
    )


def _if_measured(column: Gathered) -> str:
    """What to add where a target holds measurements: many different numbers, or fractions."""
    judged = [judge(text) for text in column.levels]
    numbers = [number for kind, number in judged if kind == NUMBER]
    if len(numbers) < max(FEW_LEVELS, len(judged)):
        return ""
    many = len(numbers) > (column.n_rows - column.n_missing) / 2
    if not many and all(number.is_integer() for number in numbers):
        return ""
    return f"; its {len(numbers)} different numbers look like measurements, not like classes"


def _dataset(
    table: Table, columns: dict[int, Gathered], target: int, dropped: set[int]
) -> Dataset:
    kinds = {j: "target" if j == target else columns[j].kind for j in columns}
    features = [j for j, kind in kinds.items() if kind in ("number", "category")]
    facts = [
        Fact(name, "dropped") if j in dropped else Fact(name, kinds[j], columns[j].about)
        for j, name in enumerate(table.names)
    ]
    schema = TableSchema(
        tuple(Column(columns[j].name, columns[j].final_levels) for j in features),
        table.names[target],
        tuple(table.names[j] for j, kind in kinds.items() if kind == "id"),
        tuple(
            name for j, name in enumerate(table.names) if kinds.get(j, "") not in _NAMED_ELSEWHERE
        ),
    )
    labels = _labels(table, columns[target])
    X: FloatArray = np.empty((len(labels), len(features)))
    for place, j in enumerate(features):
        X[:, place] = columns.pop(j).as_feature()
    return Dataset(table.title, X, labels, schema.names, schema=schema, facts=tuple(facts))


_NAMED_ELSEWHERE = ("number", "category", "target", "id")


def _labels(table: Table, column: Gathered) -> Any:
    classes = as_labels(list(column.levels))
    n_rows = column.n_rows
    if len(classes) > max(20, n_rows / 2):
        raise DataError(
            f"{table.title}: the target {column.name!r} has {len(classes)} different values in "
            f"{n_rows} rows; a classifier needs classes, not quantities or names"
        )
    codes = column.all_codes()
    return classes[codes] if len(classes) else np.zeros(0, dtype=int)
