"""Inference of column types: a column is read block by block, then classified."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcsvm.datasets.field_parsing import parse_field
from dcsvm.datasets.raw_table import Block, Kinds, Table
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.text_fields import NOTHING, NUMBER, OTHER

#: A column of strings is an id, not a category, if it has more different strings than this and
#: more than half as many as rows.
FEW_LEVELS = 20
#: A category with more levels than this must be listed in `categorical`.
MANY_LEVELS = 1000
#: With fewer rows than this, consecutive numbers may be a feature and no row counter.
FEWEST_COUNTED = 20
#: Missing values whose places are kept for display.
MOST_PLACES = 3
#: Missing numbers of a block whose words are noted, to know which words stand for a number.
MOST_NOTED = 1000

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d[\d.]*,\d+|[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_ID_NAME = re.compile(
    r"(.*[_ -])?(id|key|index|uuid|guid|row|no|nr)|.*[a-z]ID"
    r"|Unnamed: \d+|__index_level_\d+__",  # pandas names for an index without a name
    re.IGNORECASE,
)


class ColumnReader:
    """All values of one column, as numbers or as strings.

    A column is read as text if it `is_category` or if more than half of its first block are not
    numbers, and always as numbers if it `is_numeric`. With a folder to `spill` to, its values are
    kept there.
    """

    def __init__(
        self,
        table: Table,
        place: int,
        is_text: bool,
        is_category: bool = False,
        is_numeric: bool = False,
        spill: Path | None = None,
    ) -> None:
        self.table, self.place, self.name = table, place, table.names[place]
        self.is_text, self.is_category, self.is_numeric = is_text, is_category, is_numeric
        self.is_declared = place in table.levels
        self.declared: tuple[str, ...] = table.levels.get(place, ())
        self.levels: dict[str, int] = {text: n for n, text in enumerate(self.declared)}
        self.level_places: list[int] = [0] * len(self.levels)
        self.codes = ColumnStore(np.int32, None if spill is None else spill / f"{place}.i4")
        self.values = ColumnStore(np.float64, None if spill is None else spill / f"{place}.f8")
        self.clear()
        self.n_rows = self.n_missing = self.n_others = 0
        self.missing_places: list[int] = []
        self.gap = ""
        self.missing_words: Counter[str] = Counter()
        self.first_other: tuple[int, str] | None = None
        self.padded: str | None = None
        self.alien: tuple[int, str] | None = None

    def add(self, block: Block) -> None:
        """Read the column from a block."""
        if self.is_text:
            self._add_texts(block)
        else:
            values, kinds = block.numbers(self.place, self.table.missing)
            others = int(np.count_nonzero(kinds == OTHER))
            mostly_text = 2 * others > np.count_nonzero(kinds != NOTHING)
            if mostly_text and not self.n_rows and not self.is_numeric:
                self.is_text = True
                self._add_texts(block)
            else:
                self._add_numbers(block, values, kinds, others)
        self.n_rows += block.n_rows

    def _add_numbers(self, block: Block, values: FloatArray, kinds: Kinds, others: int) -> None:
        self.values.append(values)
        self.n_others += others
        self._note_missing(block, kinds == NOTHING)
        for row in np.flatnonzero(kinds == NOTHING)[:MOST_NOTED].tolist():
            text = block.text(row, self.place)
            if text:
                self.missing_words[text] += 1
        if self.padded is None:
            self.padded = block.find_padded(self.place)
        if others and self.first_other is None:
            row = int(np.flatnonzero(kinds == OTHER)[0])
            self.first_other = block.place(row), block.text(row, self.place)

    def _add_texts(self, block: Block) -> None:
        codes, firsts = block.distinct(self.place)
        numbers = np.empty(len(firsts), dtype=np.int32)
        for place, row in enumerate(firsts):
            text = block.text(row, self.place)
            known = self.is_declared and text in self.levels
            if self._parse(text)[0] == NOTHING and not known:
                numbers[place] = -1
                if text:
                    self.missing_words[text] += int(np.count_nonzero(codes == place))
                continue
            if text not in self.levels:
                if self.is_declared and self.alien is None:
                    self.alien = block.place(row), text
                self.levels[text] = len(self.levels)
                self.level_places.append(block.place(row))
            numbers[place] = self.levels[text]
        found = numbers[codes]
        self.codes.append(found)
        self._note_missing(block, found < 0)

    def _note_missing(self, block: Block, missing: npt.NDArray[np.bool_]) -> None:
        count = int(np.count_nonzero(missing))
        if count and len(self.missing_places) < MOST_PLACES:
            rows = np.flatnonzero(missing)[:MOST_PLACES].tolist()
            if not self.missing_places:
                self.gap = block.text(rows[0], self.place)
            self.missing_places = [*self.missing_places, *map(block.place, rows)][:MOST_PLACES]
        self.n_missing += count

    @property
    def source(self) -> str:
        """The name of the column of the file that this one was made of."""
        return self.table.names[self.table.sources.get(self.place, self.place)]

    @property
    def is_text_after_all(self) -> bool:
        """Whether most values turned out to be no numbers, or all are codes such as 01234."""
        if self.is_text or self.is_numeric:
            return False
        return 2 * self.n_others > self.n_rows - self.n_missing or self.is_code

    @property
    def is_code(self) -> bool:
        """Whether integers have leading zeros: 01234."""
        if self.padded is None or self.n_others or self.kind != "number":
            return False
        values = self.all_values()
        return bool((np.isnan(values) | ((values >= 0) & (values == np.round(values)))).all())

    def mistakes(self) -> list[tuple[int, str]]:
        """Return places and messages of invalid fields."""
        found = []
        other = self.first_other if not self.is_text else self._first_text_among_numbers()
        if other is not None:
            found.append((other[0], self._not_a_number(other[1])))
        if self.alien is not None:
            place, text = self.alien
            listed = ", ".join(self.declared)
            message = f"{text!r} in column {self.name!r} is none of its levels: {listed}"
            found.append((place, message))
        return found

    def find_gap(self) -> tuple[int, str] | None:
        """Return the place of the first missing value and what stands there."""
        if self.first_missing is None or self.n_missing == self.n_rows:
            return None
        return self.first_missing, self.gap

    @property
    def first_missing(self) -> int | None:
        """The place of the first missing value."""
        return self.missing_places[0] if self.missing_places else None

    def _parse(self, text: str) -> tuple[int, float]:
        return parse_field(text, self.table.missing, self.table.decimal)

    def _first_text_among_numbers(self) -> tuple[int, str] | None:
        if self.is_category:
            return None
        others = [text for text in self.levels if self._parse(text)[0] == OTHER]
        if 2 * len(others) > len(self.levels):
            return None
        codes = self.all_codes()
        counts = np.bincount(codes[codes >= 0], minlength=len(self.levels))
        n_others = sum(int(counts[self.levels[text]]) for text in others)
        if not others or 2 * n_others > counts.sum():
            return None
        return min((self.level_places[self.levels[text]], text) for text in others)

    def _not_a_number(self, text: str) -> str:
        if _DECIMAL_COMMA.fullmatch(text):
            if self.table.decimal == ",":
                return f"{text!r} in column {self.name!r} has a thousands separator; remove it"
            return (
                f"{text!r} in column {self.name!r} has a comma; write numbers without thousands "
                'separators and with a decimal point, or say `decimal = ","`'
            )
        if self.table.decimal == "," and parse_field(text)[0] == NUMBER:
            return (
                f"{text!r} in column {self.name!r} has a point, but numbers have a decimal comma "
                '(`decimal = ","`); correct it'
            )
        if text.lstrip("+-").lower() in ("inf", "infinity"):
            return f"{text!r} in column {self.name!r} is not finite"
        if self.is_numeric:
            return (
                f"{text!r} in column {self.name!r} is not a number, but the column is listed in "
                "`numeric`; correct it, or remove the column from that list"
            )
        return (
            f"{text!r} in column {self.name!r} is not a number, but most of its values are; "
            "correct it, or list the column in `categorical`"
        )

    @property
    def has_dates(self) -> bool:
        """Whether it is text that looks like dates or times and is not listed as a category."""
        some = list(self.levels)[:100]
        as_text = self.is_text and not self.is_category
        return as_text and bool(some) and all(map(_DATE.fullmatch, some))

    def find_unusable(self) -> str:
        """Return what is wrong with decimal commas or too many levels; empty if nothing."""
        if not self.is_text or self.is_category or not self.levels:
            return ""
        some = list(self.levels)[:100]
        text, where = some[0], self.table.where(self.level_places[0])
        if self.has_dates:
            return ""
        if all(map(_DECIMAL_COMMA.fullmatch, some)):
            return f"{where}: {self._not_a_number(text)}"
        if self.kind == "category" and len(self.levels) > MANY_LEVELS:
            return (
                f"{self.table.title}: column {self.name!r} has {len(self.levels)} different "
                "strings, too many for a category; list it in `drop` or in `categorical`"
            )
        return ""

    @property
    def kind(self) -> str:
        """The column type: number, category, id, constant or empty."""
        if self.n_missing == self.n_rows:
            return "empty"
        if self.is_text:
            if len(self.levels) == 1 and not self.n_missing:
                return "constant"
            many = len(self.levels) > max(FEW_LEVELS, (self.n_rows - self.n_missing) / 2)
            return "id" if many and not self.is_category else "category"
        values = self.all_values()
        if not self.n_missing and (values == values[0]).all():
            return "constant"
        return "id" if not self.is_numeric and self._names_rows(values) else "number"

    def _names_rows(self, values: FloatArray) -> bool:
        """Return whether numbers count the rows, or are all different and the name is an id's."""
        if self._counts_rows(values):
            return True
        is_named_so = _ID_NAME.fullmatch(self.name) or self.place in self.table.unnamed
        if not is_named_so or len(values) < 2 or (values != np.round(values)).any():
            return False
        return len(np.unique(values)) == len(values)

    def _counts_rows(self, values: FloatArray) -> bool:
        """Return whether the numbers are consecutive integers, up or down."""
        if len(values) < FEWEST_COUNTED or not values[0].is_integer():
            return False
        step = values[1] - values[0]
        return abs(step) == 1 and bool((np.diff(values) == step).all())

    @property
    def about(self) -> str:
        """A short description of the values for display."""
        missing = f", {self.n_missing} missing" if self.n_missing else ""
        if self.is_text:
            return f"{len(self.levels)} different{missing}"
        values = self.all_values()
        present = values[~np.isnan(values)]
        if not len(present):
            return missing.removeprefix(", ")
        counts = ", counts the rows" if self.kind == "id" and self._counts_rows(values) else ""
        return f"{present.min():g} to {present.max():g}{missing}{counts}"

    @property
    def final_levels(self) -> tuple[str, ...] | None:
        """The levels in the order of their codes; None for numbers."""
        if not self.is_text:
            return None
        return tuple(self.levels) if self.is_declared else tuple(sorted(self.levels, key=_order))

    def all_values(self) -> FloatArray:
        """Return the numbers of all rows, NaN where missing."""
        values: FloatArray = self.values.whole()
        return values

    def all_codes(self) -> IntArray:
        """Return the codes of all rows in order of appearance, -1 where missing."""
        codes: IntArray = self.codes.whole()
        return codes

    def clear(self) -> None:
        """Forget all values."""
        self.codes.clear()
        self.values.clear()

    def as_feature(self, rows: Any = slice(None)) -> FloatArray:
        """Return the column of X, or some of its rows: numbers, or indices into `final_levels`."""
        levels = self.final_levels
        if levels is None:
            return np.asarray(self.all_values()[rows])
        place = {text: float(number) for number, text in enumerate(levels)}
        by_code = np.array([*(place[text] for text in self.levels), np.nan])
        return np.asarray(by_code[self.all_codes()[rows]])


class ColumnStore:
    """Blocks of values of one dtype, one after the other, in memory or in the file `path`."""

    def __init__(self, dtype: Any, path: Path | None = None) -> None:
        self.dtype, self.path = np.dtype(dtype), path
        self.kept: list[Any] = []

    def append(self, values: Any) -> None:
        if self.path is None:
            self.kept.append(values)
            return
        with self.path.open("ab") as out:
            out.write(np.ascontiguousarray(values, dtype=self.dtype).data)

    def whole(self) -> Any:
        """All values, (n,); those of a file are read where they are used."""
        if self.path is not None:
            has_values = self.path.exists() and self.path.stat().st_size
            return np.memmap(self.path, self.dtype, "r") if has_values else np.zeros(0, self.dtype)
        if len(self.kept) > 1:
            self.kept = [np.concatenate(self.kept)]
        return self.kept[0] if self.kept else np.zeros(0, self.dtype)

    def clear(self) -> None:
        self.kept = []
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _order(text: str) -> tuple[int, float, str]:
    """Sort key: numbers by value, then strings."""
    kind, number = parse_field(text)
    return (0, number, text) if kind == NUMBER else (1, 0.0, text)
