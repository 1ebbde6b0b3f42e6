"""The rows of a file matched with the columns and category levels of a model."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.column_roles import find_column
from dcsvm.datasets.data_file import UTF_8
from dcsvm.datasets.date_columns import DatedTable
from dcsvm.datasets.field_parsing import parse_field
from dcsvm.datasets.file_formats import TEXT, find_suffix
from dcsvm.datasets.loading import open_table
from dcsvm.datasets.raw_table import Block, SparseTable, Table
from dcsvm.datasets.svmlight import set_width
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.numeric.text_fields import NOTHING, NUMBER, OTHER
from dcsvm.toolbox.dates import name_parts
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema
from dcsvm.toolbox.unwrap import find_preparation

#: Mistakes of a file, and names of columns that it lacks, that are told at once.
MOST_TOLD, MOST_NAMES = 10, 10
#: Booleans as text, and the numbers that they are in typed files.
_FLAGS = {"true": 1.0, "false": 0.0}


@attrs.frozen(eq=False)
class RowBlock:
    """Some rows that can be answered: X (n, d), what is kept of them, and their classes if known.

    `unknown` counts values that are levels the model never saw, by column, `examples` has the
    first of them with its place, and `gaps` counts missing values in columns that had none in
    training.
    `n_strange` are the features of sparse rows beyond those of the model.
    """

    X: Matrix
    kept: list[list[str]]
    labels: list[str] | None
    unknown: dict[str, int]
    n_strange: int = 0
    examples: dict[str, str] = attrs.field(factory=dict)
    gaps: dict[str, int] = attrs.field(factory=dict)


class RowReader(ABC):
    """The rows of a file, block by block."""

    title: str
    names: Sequence[str] = ()
    ids: Sequence[str] = ()

    @property
    @abstractmethod
    def bytes_read(self) -> int:
        """How much of the file has been read, for progress."""

    @abstractmethod
    def blocks(self, kept: Sequence[str]) -> Iterator[RowBlock]: ...


def open_rows(
    model: Any,
    path: Path,
    header: bool = True,
    encoding: str | None = None,
    decimal: str | None = None,
) -> RowReader:
    """Open a file and match it with the columns that a model was trained on.

    Text is read as the file of training was written, unless `encoding` or `decimal` is given.
    """
    prepare = find_preparation(model)
    columns, schema = _list_columns(model, prepare), None if prepare is None else prepare.schema
    table = _open(path, header, schema, encoding, decimal)
    if schema is None and hasattr(model, "feature_names_in_"):
        schema = TableSchema(columns)
    if isinstance(table, SparseTable):
        return SparseRowReader(table, schema, int(model.n_features_in_))
    if schema is None:
        schema = _match_by_place(table, columns)
    if schema.first_index is not None:
        raise DataError(
            f"{table.title}: the model was trained on sparse rows, whose features are numbered; "
            "give it an svmlight file, or an NPZ file with a sparse matrix"
        )
    if not table.has_names and len(table.names) == len(schema.features):
        table.names = schema.names  # no names to go by: the order of training serves
    without_gaps = set()
    if prepare is not None and prepare.missing == "mark":  # else nothing says which had gaps
        without_gaps = set(range(len(schema.features))) - set(prepare.marked_.tolist())
    allows_missing = prepare is not None and prepare.missing != "error"
    return TableRowReader(table, schema, allows_missing, without_gaps)


def _open(
    path: Path,
    header: bool,
    schema: TableSchema | None,
    encoding: str | None,
    decimal: str | None,
) -> Table | SparseTable:
    """Open a file, by default as the one that the model was trained on is written."""
    if schema is not None and find_suffix(path) in TEXT:
        encoding, decimal = encoding or schema.encoding, decimal or schema.decimal
    table = open_table(path, header, encoding or UTF_8, decimal or ".")
    if isinstance(table, Table):
        table.tells_all = True
    if schema is None or not schema.dates or not isinstance(table, Table):
        return table
    if table.has_names:
        parts = {part for name in schema.dates for part in name_parts(name)}
        _check_names(table, [*(set(schema.names) - parts), *schema.dates], schema)
    if schema.missing_values is not None:
        table.missing = frozenset(schema.missing_values)
    places = [
        find_column(table, name, "a date that the model was trained on") for name in schema.dates
    ]
    return DatedTable(table, places, schema.day_first)


def _check_names(table: Table, needed: Sequence[str], schema: TableSchema) -> None:
    """Raise if the table lacks some of the columns, and name all of them."""
    order = {name: place for place, name in enumerate((*schema.dates, *schema.names))}
    absent = sorted({*needed} - {*table.names}, key=lambda name: order[name])
    if not absent:
        return
    others = ", ".join(map(repr, absent[1:MOST_NAMES])) + ", ..." * (len(absent) > MOST_NAMES)
    more = f" (nor {others})" if len(absent) > 1 else ""
    hint = did_you_mean(absent[0], table.names)
    if any(_read_as_utf_8(name, table.encoding) in absent for name in table.names):
        hint = _describe_encoding(table.encoding)
    raise DataError(
        f"{table.title} has no column {absent[0]!r}{more}, which the model was trained on; {hint}"
    )


def _read_as_utf_8(text: str, encoding: str) -> str:
    """Return what a text that was read in another encoding is in UTF-8; empty if it is none."""
    if encoding == UTF_8 or text.isascii():
        return ""
    try:
        return text.encode(encoding).decode()
    except UnicodeError:
        return ""


def _describe_encoding(encoding: str) -> str:
    return f"it looks like UTF-8, but the model reads {encoding}: name its encoding"


def _list_columns(model: Any, prepare: TablePreparation | None) -> tuple[Column, ...]:
    """The columns that a model was trained on, in their order."""
    if prepare is not None and prepare.columns_:
        return prepare.columns_
    names = getattr(model, "feature_names_in_", range(int(model.n_features_in_)))
    return tuple(Column(str(name)) for name in names)


def _match_by_place(table: Table, columns: tuple[Column, ...]) -> TableSchema:
    if len(table.names) != len(columns):
        raise DataError(
            f"{table.title} has {len(table.names)} columns, but the model was trained on "
            f"{len(columns)} features that have no names"
        )
    named = zip(table.names, columns, strict=True)
    return TableSchema(tuple(Column(name, column.levels) for name, column in named))


class TableRowReader(RowReader):
    """The rows of a table with named columns."""

    def __init__(
        self,
        table: Table,
        schema: TableSchema,
        allows_missing: bool,
        without_gaps: Collection[int] = (),
    ) -> None:
        self.table, self.title, self.names = table, table.title, table.names
        self.allows_missing, self.without_gaps = allows_missing, without_gaps
        self.mistakes: dict[tuple[int, str], tuple[int, str]] = {}
        if schema.missing_values is not None:
            table.missing = frozenset(schema.missing_values)
        self.columns = schema.features
        _check_names(table, schema.names, schema)
        self.places = [table.names.index(column.name) for column in self.columns]
        self.ids = [name for name in schema.ids if name in table.names]
        self.target = table.names.index(schema.target) if schema.target in table.names else None
        self.codes = [_list_codes(column) for column in self.columns]

    @property
    def bytes_read(self) -> int:
        return self.table.bytes_read

    def blocks(self, kept: Sequence[str]) -> Iterator[RowBlock]:
        copied = [self.names.index(name) for name in kept]
        for block in self.table.blocks():
            unknown: dict[str, int] = {}
            examples: dict[str, str] = {}
            X = np.empty((block.n_rows, len(self.columns)))
            for j, column in enumerate(self.columns):
                X[:, j] = (
                    self._read_numbers(block, j)
                    if column.levels is None
                    else self._read_codes(block, j, unknown, examples)
                )
            if len(self.mistakes) + len(self.table.mistakes) >= MOST_TOLD:
                break
            if self.mistakes or self.table.mistakes:
                continue  # the rest is read for its mistakes
            labels = None if self.target is None else block.texts(self.target)
            texts = [block.texts(place) for place in copied]
            yield RowBlock(X, texts, labels, unknown, 0, examples, self._count_gaps(X))
        self._check_mistakes()

    def _read_numbers(self, block: Block, j: int) -> FloatArray:
        values, kinds = block.numbers(self.places[j], self.table.missing)
        others = np.flatnonzero(kinds == OTHER)
        if len(others) and not np.any(kinds == NUMBER):
            flags = [
                _FLAGS.get(block.text(row, self.places[j]).lower()) for row in others.tolist()
            ]
            if None not in flags:  # booleans, which are numbers in typed files
                values[others], others = flags, others[:0]
        if len(others):
            row = int(others[0])
            self._note(block, row, j, self._not_a_number(block.text(row, self.places[j]), j))
        missing = np.flatnonzero(kinds == NOTHING)
        if len(missing):
            self._check_missing(block, int(missing[0]), j)
        return values

    def _read_codes(
        self, block: Block, j: int, unknown: dict[str, int], examples: dict[str, str]
    ) -> FloatArray:
        numbers, firsts = block.distinct(self.places[j])
        codes = np.empty(len(firsts))
        for place, row in enumerate(firsts):
            text = block.text(row, self.places[j])
            codes[place] = self.codes[j].get(text, -1.0)
            if codes[place] >= 0:
                continue
            if parse_field(text, self.table.missing)[0] == NOTHING:
                self._check_missing(block, row, j)
                codes[place] = np.nan
                continue
            told = examples.get(self.columns[j].name, "")
            misread = _read_as_utf_8(text, self.table.encoding)
            hint = f"; {_describe_encoding(self.table.encoding)}" if misread else ""
            if not told or (hint and not told.endswith(hint)):  # one that says why is better
                where = self.table.where(block.place(row))
                examples[self.columns[j].name] = f"{text!r}, {where}{hint}"
        values: FloatArray = codes[numbers]
        strange = int(np.count_nonzero(values < 0))
        if strange:
            unknown[self.columns[j].name] = strange
        return values

    def _count_gaps(self, X: FloatArray) -> dict[str, int]:
        """Count the missing values of columns that had none in training."""
        counts = np.count_nonzero(np.isnan(X), axis=0).tolist()
        return {self._source(j): counts[j] for j in self.without_gaps if counts[j]}

    def _check_missing(self, block: Block, row: int, j: int) -> None:
        if not self.allows_missing:
            self._note(block, row, j, "")

    def _not_a_number(self, text: str, j: int) -> str:
        said = f"{text!r} in column {self._source(j)!r}"
        own, other = self.table.decimal, "," if self.table.decimal == "." else "."
        if parse_field(text, frozenset(), other)[0] == NUMBER:
            signs = {".": "point", ",": "comma"}
            return (
                f"{said} has a decimal {signs[other]}, but the model reads numbers with a decimal "
                f'{signs[own]}; correct it, or say that the file has `decimal = "{other}"`'
            )
        return f"{said} is not a number"

    def _note(self, block: Block, row: int, j: int, message: str) -> None:
        """Note the first mistake of a kind in a column; a missing value has no message yet."""
        self.mistakes.setdefault((j, "text" if message else "gap"), (block.place(row), message))

    def _check_mistakes(self) -> None:
        """Raise if there are mistakes: all that were found, by line."""
        gaps = {j: place for (j, kind), (place, _) in self.mistakes.items() if kind == "gap"}
        found = [(place, message) for place, message in self.mistakes.values() if message]
        found += self.table.mistakes
        if gaps:
            first = min(gaps, key=lambda j: gaps[j])
            names = dict.fromkeys(self._source(j) for j in gaps)
            others = [repr(name) for name in names if name != self._source(first)]
            also = f" (and in {', '.join(others)})" if others else ""
            message = (
                f"a value is missing in column {self._source(first)!r}{also}; the model was "
                'trained without missing values (with `missing = "impute"`, it would fill them in)'
            )
            found.append((gaps[first], message))
        if found:
            told = [f"{self.table.where(place)}: {message}" for place, message in sorted(found)]
            raise DataError("\n".join(told[:MOST_TOLD]))

    def _source(self, j: int) -> str:
        """The name of the column of the file that a feature is made of."""
        place = self.places[j]
        return self.names[self.table.sources.get(place, place)]


def _list_codes(column: Column) -> dict[str, float]:
    """The code of each level by its text; true and false may be written in several ways."""
    codes = {text: float(code) for code, text in enumerate(column.levels or ())}
    flags = {text: _FLAGS.get(text.lower()) for text in codes}
    if not codes or None in flags.values():
        return codes
    ways = {1.0: ("True", "true", "TRUE", "1"), 0.0: ("False", "false", "FALSE", "0")}
    more = {way: codes[text] for text, flag in flags.items() for way in ways[flag or 0.0]}
    return {**more, **codes}


class SparseRowReader(RowReader):
    """Sparse rows, whose features have numbers instead of names."""

    def __init__(self, table: SparseTable, schema: TableSchema | None, n_features: int) -> None:
        self.table, self.title, self.n_features = table, table.title, n_features
        self.dense = schema is not None and schema.first_index is None
        if schema is not None and any(column.levels for column in schema.features):
            raise DataError(
                f"{table.title} holds sparse rows, but the model was trained on a table with "
                "categories; give it such a table"
            )
        first = 1 if schema is None or schema.first_index is None else schema.first_index
        self.shift = first if table.by_number else 0

    @property
    def bytes_read(self) -> int:
        return self.table.bytes_read

    def blocks(self, kept: Sequence[str]) -> Iterator[RowBlock]:
        for block in self.table.blocks():
            X = block.X
            if self.shift and X.nnz and int(X.indices.min()) < self.shift:
                raise DataError(
                    f"{self.title} has a feature number 0, but those of the model begin at 1"
                )
            strange = max(0, X.shape[1] - self.shift - self.n_features)
            X = set_width(sparse.csr_array(X[:, self.shift :]), self.n_features)
            labels = None if block.labels is None else [str(each) for each in block.labels]
            yield RowBlock(X.toarray() if self.dense else X, [], labels, {}, strange)
