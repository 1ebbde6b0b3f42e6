"""Reading a table as a Dataset: column references, types, and errors by line."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.column_types import FEW_LEVELS, ColumnReader
from dcsvm.datasets.dataset import ColumnRoles, Dataset, Fact, build_conflict_error, parse_labels
from dcsvm.datasets.raw_table import Table, parse_field
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.text_fields import NUMBER
from dcsvm.toolbox.table_schema import Column, TableSchema

Reference = str | int


def read_table(table: Table, target: Reference | None, roles: ColumnRoles) -> Dataset:
    """Read a whole table."""
    place = _find_target(table, target)
    categories = {_find_column(table, each, "categorical") for each in roles.categorical}
    dropped = {_find_column(table, each, "drop") for each in roles.drop}
    numbers = {_find_column(table, each, "numeric") for each in roles.numeric}
    if place in dropped:
        raise DataError(
            f"{table.title}: {table.names[place]!r} is the target and cannot be dropped"
        )
    categories |= set(table.levels)
    if numbers & categories:
        raise build_conflict_error(table.title, table.names[min(numbers & categories)])
    columns = {
        j: ColumnReader(table, j, j == place or j in categories, j in categories, j in numbers)
        for j in range(len(table.names))
        if j not in dropped
    }
    _read_columns(table, columns)
    again = {
        j: ColumnReader(table, j, is_text=True)
        for j, column in columns.items()
        if column.is_text_after_all
    }
    padded = {j: text for j in again if columns[j].is_code and (text := columns[j].padded)}
    if again:  # the first block looked like numbers: read the whole column as text
        _read_columns(table, again)
        columns.update(again)
    _check_columns(table, columns, place, roles.allow_missing)
    for j, text in padded.items():
        kind = "an id" if columns[j].kind == "id" else "a category"
        warnings.warn(
            f"{table.title}: column {table.names[j]!r} has numbers with leading zeros, such as "
            f"{text!r}, and is read as {kind}; list it in `categorical`, `numeric` or `drop`",
            stacklevel=2,
        )
    return _build_dataset(table, columns, place, dropped)


def _find_target(table: Table, target: Reference | None) -> int:
    if target is None:
        if table.ends_with_target:
            return len(table.names) - 1
        raise DataError(
            f"{table.title}: the target column is not given; available: {', '.join(table.names)}"
        )
    return _find_column(table, target, "the target")


def _find_column(table: Table, reference: Reference, role: str) -> int:
    """Return the index of a column by its name or its number: 1 is the first, -1 the last."""
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


def _read_columns(table: Table, columns: dict[int, ColumnReader]) -> None:
    for block in table.blocks():
        for column in columns.values():
            column.add(block)


def _check_columns(
    table: Table, columns: dict[int, ColumnReader], target: int, allow_missing: bool
) -> None:
    """Raise for the mistake on the earliest line, or for an unusable column."""
    mistakes = []
    for j, column in columns.items():
        if j != target:
            mistakes += column.mistakes(allow_missing)
        elif column.first_missing is not None:
            message = f"the target {column.name!r} is missing{_note_measurements(column)}"
            mistakes.append((column.first_missing, message))
    if mistakes:
        place, message = min(mistakes)
        raise DataError(f"{table.where(place)}: {message}")
    for j, column in columns.items():
        if j != target:
            column.check_usable()


def _note_measurements(column: ColumnReader) -> str:
    """Return a note if the target holds many different numbers, or fractions."""
    parsed = [parse_field(text) for text in column.levels]
    numbers = [number for kind, number in parsed if kind == NUMBER]
    if len(numbers) < max(FEW_LEVELS, len(parsed)):
        return ""
    many = len(numbers) > (column.n_rows - column.n_missing) / 2
    if not many and all(number.is_integer() for number in numbers):
        return ""
    return f"; its {len(numbers)} different numbers look like measurements, not like classes"


def _build_dataset(
    table: Table, columns: dict[int, ColumnReader], target: int, dropped: set[int]
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
        tuple(fact.column for fact in facts if fact.kind in ("constant", "empty", "dropped")),
    )
    labels = _read_labels(table, columns[target])
    X: FloatArray = np.empty((len(labels), len(features)))
    for place, j in enumerate(features):
        X[:, place] = columns.pop(j).as_feature()
    return Dataset(table.title, X, labels, schema.names, schema=schema, facts=tuple(facts))


def _read_labels(table: Table, column: ColumnReader) -> Any:
    classes = parse_labels(list(column.levels))
    if len(classes) > max(20, column.n_rows / 2):
        raise DataError(
            f"{table.title}: the target {column.name!r} has {len(classes)} different values in "
            f"{column.n_rows} rows; a classifier needs classes, not quantities or names"
        )
    return classes[column.all_codes()] if len(classes) else np.zeros(0, dtype=int)
