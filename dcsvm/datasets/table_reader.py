"""Reading a table as a Dataset: all columns by their types, with errors by line."""

import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.column_roles import (
    ColumnRoles,
    Reference,
    build_conflict_error,
    find_column,
    find_target,
)
from dcsvm.datasets.column_types import FEW_LEVELS, ColumnReader
from dcsvm.datasets.dataset import Dataset, Fact, parse_labels
from dcsvm.datasets.date_columns import DatedTable
from dcsvm.datasets.field_parsing import DOUBTFUL, MISSING, parse_field
from dcsvm.datasets.raw_table import Table
from dcsvm.numeric.array_types import BoolArray, FloatArray
from dcsvm.numeric.mapped_rows import BLOCK_ROWS, MappedRows
from dcsvm.numeric.text_fields import NUMBER
from dcsvm.toolbox.table_schema import Column, TableSchema

#: Mistakes that are listed; of more, the number is told.
MOST_TOLD = 10


def read_table(
    table: Table, target: Reference | None, roles: ColumnRoles, spill: Path | None = None
) -> Dataset:
    """Read a whole table; with a folder to `spill` to, the features stay in a file there."""
    table.tells_all = True
    place = find_target(table, target)
    categories = {find_column(table, each, "categorical") for each in roles.categorical}
    dropped = {find_column(table, each, "drop") for each in roles.drop}
    numbers = {find_column(table, each, "numeric") for each in roles.numeric}
    if place in dropped:
        raise DataError(
            f"{table.title}: {table.names[place]!r} is the target and cannot be dropped"
        )
    others = categories | dropped | numbers
    listed = {find_column(table, each, "dates") for each in roles.dates}
    _check_dates(table, listed, place, others)
    dates = sorted(listed | (table.typed_dates - others - {place}))
    if dates:
        table = DatedTable(table, dates, roles.day_first)
        dropped |= set(dates)
        numbers |= set(table.sources)
    categories |= set(table.levels)
    if numbers & categories:
        raise build_conflict_error(table.title, table.names[min(numbers & categories)])
    columns = {
        j: ColumnReader(
            table, j, j == place or j in categories, j in categories, j in numbers, spill
        )
        for j in range(len(table.names))
        if j not in dropped
    }
    _read_columns(table, columns)
    misread = [j for j, column in columns.items() if column.is_text_after_all]
    padded = {j: text for j in misread if columns[j].is_code and (text := columns[j].padded)}
    again = {j: ColumnReader(table, j, is_text=True, spill=spill) for j in misread}
    if again:  # the first block looked like numbers: read the whole column as text
        _read_columns(table, again)
        columns.update(again)
    _check_columns(table, columns, place, roles)
    for j, text in padded.items():
        kind = "an id" if columns[j].kind == "id" else "a category"
        warnings.warn(
            f"{table.title}: column {table.names[j]!r} has numbers with leading zeros, such as "
            f"{text!r}, and is read as {kind}; list it in `categorical`, `numeric` or `drop`",
            stacklevel=2,
        )
    return _build_dataset(table, columns, place, dropped, spill, roles.drop_unlabelled)


def _check_dates(table: Table, dates: set[int], target: int, others: set[int]) -> None:
    """Raise if a date column is something else, too."""
    for place in sorted(dates):
        name = table.names[place]
        if place == target:
            raise DataError(f"{table.title}: {name!r} is the target and cannot be in `dates`")
        if place in others or place in table.levels:
            raise DataError(
                f"{table.title}: column {name!r} cannot be listed in `dates`: it is listed in "
                "`categorical`, `drop` or `numeric`, too, or the file declares its levels"
            )


def _read_columns(table: Table, columns: dict[int, ColumnReader]) -> None:
    for block in table.blocks():
        for column in columns.values():
            column.add(block)


def _check_columns(
    table: Table, columns: dict[int, ColumnReader], target: int, roles: ColumnRoles
) -> None:
    """Raise for all invalid fields, by line, and for all unusable columns."""
    gaps = [] if roles.allow_missing else _find_gaps([columns[j] for j in columns if j != target])
    mistakes = [*gaps, *table.mistakes]
    for j, column in columns.items():
        if j != target:
            mistakes += column.mistakes()
        elif column.first_missing is not None and not (
            roles.drop_unlabelled and column.n_missing < column.n_rows
        ):
            mistakes.append((column.first_missing, _describe_unlabelled(table, column)))
    found = [f"{table.where(place)}: {message}" for place, message in sorted(mistakes)]
    features = [column for j, column in columns.items() if j != target]
    found += _describe_dates(table, [column for column in features if column.has_dates])
    found += filter(None, (column.find_unusable() for column in features))
    if len(found) > MOST_TOLD:
        found = [*found[:MOST_TOLD], f"{table.title}: {len(found) - MOST_TOLD} more such mistakes"]
    if found:
        raise DataError("\n".join(found))


def _describe_dates(table: Table, columns: list[ColumnReader]) -> list[str]:
    """Return a message for the columns that look like dates and are not listed, if any."""
    if not columns:
        return []
    known = table.dates if isinstance(table, DatedTable) else []
    first, several = columns[0], len(columns) > 1
    where, text = table.where(first.level_places[0]), next(iter(first.levels))
    others = ", ".join(repr(each.name) for each in columns[1:])
    also = f", and so {'do' if len(columns) > 2 else 'does'} {others}" if several else ""
    said = f"{where}: {text!r} in column {first.name!r} looks like a date or a time{also}; "
    use = "to learn from its year, month, day, weekday and seconds, or"
    if not several and not known:
        return [f"{said}list the column in `dates` {use} in `drop`"]
    names = [table.names[place] for place in known] + [each.name for each in columns]
    dates = json.dumps(names, ensure_ascii=False)
    use = use.replace("its", "their") if several else use
    return [f"{said}say `dates = {dates}` {use} list {'them' if several else 'it'} in `drop`"]


def _find_gaps(columns: list[ColumnReader]) -> list[tuple[int, str]]:
    """Return the place of the first missing value, with a message that names all such columns."""
    gaps = [(gap, column.source) for column in columns if (gap := column.find_gap())]
    if not gaps:
        return []
    (place, text), name = min(gaps)
    others = [repr(each) for each in dict.fromkeys(each for _, each in gaps) if each != name]
    also = f" (and in {', '.join(others[:5])}{', ...' * (len(others) > 5)})" if others else ""
    word = f" ({text!r} counts as missing, see `missing_values`)" if text else ""
    advice = '; fill it in, drop the column, or say `missing = "impute"`'
    return [(place, f"a value is missing in column {name!r}{also}{word}{advice}")]


def _describe_unlabelled(table: Table, column: ColumnReader) -> str:
    """Say how many rows lack the target, where the first ones are, and how to leave them out."""
    said = f"the target {column.name!r} is missing"
    measurements = _note_measurements(column)
    if column.n_missing > 1:
        places = ", ".join(map(str, column.missing_places))
        more = ", ..." if column.n_missing > len(column.missing_places) else ""
        rows = f"{'lines' if table.has_lines else 'rows'} {places}{more}"
        said += f" in {column.n_missing:,} of {column.n_rows:,} rows ({rows})"
    if measurements or column.n_missing == column.n_rows:
        return said + measurements
    them = "the row" if column.n_missing == 1 else "these rows"
    return f'{said}; fill it in, or leave {them} out: `missing_target = "drop"`'


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
    table: Table,
    columns: dict[int, ColumnReader],
    target: int,
    dropped: set[int],
    spill: Path | None,
    drop_unlabelled: bool,
) -> Dataset:
    kinds = {j: "target" if j == target else columns[j].kind for j in columns}
    features = [j for j, kind in kinds.items() if kind in ("number", "category")]
    doubtful = _find_doubtful_words(table, list(columns.values()))
    facts = [
        Fact(name, "date" if j in table.sources.values() else "dropped")
        if j in dropped
        else _describe_column(columns[j], kinds[j], doubtful)
        for j, name in enumerate(table.names)
    ]
    schema = TableSchema(
        tuple(Column(columns[j].name, columns[j].final_levels) for j in features),
        table.names[target],
        tuple(table.names[j] for j, kind in kinds.items() if kind == "id"),
        tuple(fact.column for fact in facts if fact.kind in ("constant", "empty", "dropped")),
        missing_values=None if table.missing == MISSING else tuple(sorted(table.missing)),
        **_describe_writing(table),
    )
    labels = _read_labels(table, columns[target])
    kept = np.ones(len(labels), dtype=bool)
    if drop_unlabelled:
        kept = columns[target].all_codes() >= 0
        labels = labels[kept]
    mine = {j: columns[j] for j in features}
    X = _join(mine, kept) if spill is None or not mine else _join_in_file(mine, spill, kept)
    for column in columns.values():
        column.clear()
    return Dataset(table.title, X, labels, schema.names, schema=schema, facts=tuple(facts))


def _describe_column(column: ColumnReader, kind: str, doubtful: frozenset[str]) -> Fact:
    if kind != "category":
        return Fact(column.name, kind, column.about)
    words = dict(column.missing_words)
    mine = tuple(word for word in words if word.lower() in doubtful)
    return Fact(column.name, kind, column.about, words, mine)


def _find_doubtful_words(table: Table, columns: list[ColumnReader]) -> frozenset[str]:
    """Return the words, in lower case, that count as missing in categories and may be levels.

    A word that `missing_values` lists is not in doubt, nor one that stands for a number.
    """
    if table.missing != MISSING:
        return frozenset()
    for_numbers = {
        word.lower() for each in columns if not each.is_text for word in each.missing_words
    }
    return DOUBTFUL - for_numbers


def _describe_writing(table: Table) -> dict[str, Any]:
    """Return how dates, numbers and text of a table are written, for its schema."""
    dates = table.dates if isinstance(table, DatedTable) else []
    return {
        "dates": tuple(table.names[place] for place in dates),
        "day_first": table.day_first if isinstance(table, DatedTable) else None,
        "decimal": table.decimal,
        "encoding": table.encoding,
    }


def _join(columns: dict[int, ColumnReader], kept: BoolArray) -> FloatArray:
    X: FloatArray = np.empty((int(np.count_nonzero(kept)), len(columns)))
    rows = slice(None) if len(X) == len(kept) else kept
    for place, column in enumerate(columns.values()):
        X[:, place] = column.as_feature(rows)
        column.clear()
    return X


def _join_in_file(columns: Mapping[int, ColumnReader], spill: Path, kept: BoolArray) -> MappedRows:
    """Write the rows of columns that are in files to another one, block by block."""

    def blocks() -> Iterator[FloatArray]:
        for start in range(0, len(kept), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            values = [column.as_feature(rows) for column in columns.values()]
            yield np.column_stack(values)[kept[rows]]

    return MappedRows.write(spill / "X.npy", blocks(), len(columns))


def _read_labels(table: Table, column: ColumnReader) -> Any:
    classes = parse_labels(list(column.levels))
    if len(classes) > max(20, column.n_rows / 2):
        raise DataError(
            f"{table.title}: the target {column.name!r} has {len(classes)} different values in "
            f"{column.n_rows} rows; a classifier needs classes, not quantities or names"
        )
    return classes[column.all_codes()] if len(classes) else np.zeros(0, dtype=int)
