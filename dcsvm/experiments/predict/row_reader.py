"""The rows of a file matched with the columns and category levels of a model."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.column_roles import find_column
from dcsvm.datasets.date_columns import DatedTable
from dcsvm.datasets.field_parsing import parse_field
from dcsvm.datasets.file_formats import TEXT, find_suffix
from dcsvm.datasets.loading import open_table
from dcsvm.datasets.raw_table import Block, SparseTable, Table
from dcsvm.datasets.svmlight import set_width
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.numeric.text_fields import NOTHING, OTHER
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema
from dcsvm.toolbox.unwrap import find_preparation


@attrs.frozen(eq=False)
class RowBlock:
    """Some rows that can be answered: X (n, d), what is kept of them, and their classes if known.

    `unknown` counts values that are levels the model never saw, by column; `n_strange` the
    features of sparse rows beyond those of the model.
    """

    X: Matrix
    kept: list[list[str]]
    labels: list[str] | None
    unknown: dict[str, int]
    n_strange: int = 0


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


def open_rows(model: Any, path: Path, header: bool = True) -> RowReader:
    """Open a file and match it with the columns that a model was trained on."""
    prepare = find_preparation(model)
    columns, schema = _list_columns(model, prepare), None if prepare is None else prepare.schema
    table = _open(path, header, schema)
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
    return TableRowReader(table, schema, prepare is not None and prepare.missing != "error")


def _open(path: Path, header: bool, schema: TableSchema | None) -> Table | SparseTable:
    """Open a file that is written as the one the model was trained on."""
    if schema is None or find_suffix(path) not in TEXT:
        table = open_table(path, header)
    else:
        table = open_table(path, header, schema.encoding, schema.decimal)
    if schema is None or not schema.dates or not isinstance(table, Table):
        return table
    if schema.missing_values is not None:
        table.missing = frozenset(schema.missing_values)
    places = [
        find_column(table, name, "a date that the model was trained on") for name in schema.dates
    ]
    return DatedTable(table, places, schema.day_first)


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

    def __init__(self, table: Table, schema: TableSchema, allows_missing: bool) -> None:
        self.table, self.title, self.names = table, table.title, table.names
        self.allows_missing = allows_missing
        if schema.missing_values is not None:
            table.missing = frozenset(schema.missing_values)
        self.columns = schema.features
        self.places = self._find_places()
        self.ids = [name for name in schema.ids if name in table.names]
        self.target = table.names.index(schema.target) if schema.target in table.names else None
        self.codes = [
            {text: float(code) for code, text in enumerate(column.levels or ())}
            for column in self.columns
        ]

    @property
    def bytes_read(self) -> int:
        return self.table.bytes_read

    def blocks(self, kept: Sequence[str]) -> Iterator[RowBlock]:
        copied = [self.names.index(name) for name in kept]
        for block in self.table.blocks():
            unknown: dict[str, int] = {}
            X = np.empty((block.n_rows, len(self.columns)))
            for j, column in enumerate(self.columns):
                X[:, j] = (
                    self._read_numbers(block, j)
                    if column.levels is None
                    else self._read_codes(block, j, unknown)
                )
            if self.table.mistakes:
                place, message = self.table.mistakes[0]
                raise DataError(f"{self.table.where(place)}: {message}")
            labels = None if self.target is None else block.texts(self.target)
            yield RowBlock(X, [block.texts(place) for place in copied], labels, unknown)

    def _find_places(self) -> list[int]:
        places = {name: place for place, name in enumerate(self.names)}
        absent = [column.name for column in self.columns if column.name not in places]
        if absent:
            others = ", ".join(map(repr, absent[1:5])) + (", ..." if len(absent) > 5 else "")
            more = f" (nor {others})" if len(absent) > 1 else ""
            raise DataError(
                f"{self.title} has no column {absent[0]!r}{more}, which the model was trained on; "
                f"{did_you_mean(absent[0], self.names)}"
            )
        return [places[column.name] for column in self.columns]

    def _read_numbers(self, block: Block, j: int) -> FloatArray:
        values, kinds = block.numbers(self.places[j], self.table.missing)
        others = np.flatnonzero(kinds == OTHER)
        if len(others):
            row = int(others[0])
            text = block.text(row, self.places[j])
            raise self._build_error(
                block, row, f"{text!r} in column {self._quote_name(j)} is not a number"
            )
        missing = np.flatnonzero(kinds == NOTHING)
        if len(missing):
            self._check_missing(block, int(missing[0]), j)
        return values

    def _read_codes(self, block: Block, j: int, unknown: dict[str, int]) -> FloatArray:
        numbers, firsts = block.distinct(self.places[j])
        codes = np.empty(len(firsts))
        for place, row in enumerate(firsts):
            text = block.text(row, self.places[j])
            codes[place] = self.codes[j].get(text, -1.0)
            if codes[place] < 0 and parse_field(text, self.table.missing)[0] == NOTHING:
                self._check_missing(block, row, j)
                codes[place] = np.nan
        values: FloatArray = codes[numbers]
        strange = int(np.count_nonzero(values < 0))
        if strange:
            unknown[self.columns[j].name] = strange
        return values

    def _check_missing(self, block: Block, row: int, j: int) -> None:
        if not self.allows_missing:
            raise self._build_error(
                block,
                row,
                f"a value is missing in column {self._quote_name(j)}; the model was trained "
                'without missing values (with `missing = "impute"`, it would fill them in)',
            )

    def _quote_name(self, j: int) -> str:
        return repr(self.columns[j].name)

    def _build_error(self, block: Block, row: int, sentence: str) -> DataError:
        return DataError(f"{self.table.where(block.place(row))}: {sentence}")


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
