"""Fast parsing of delimited text: fields of rows, numbers and distinct texts."""

import re
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.native import address

Offsets = npt.NDArray[np.int32]

# Kinds of faults, as numbered in the C source.
WRONG_COUNT, AFTER_QUOTE, OPEN_QUOTE = 1, 2, 3
# Kinds of fields.
NUMBER, NOTHING, OTHER = 0, 1, 2

_DIGITS = re.compile(rb"[-+.eE0-9 ]*")
_DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?")


@attrs.frozen
class Fault:
    """A malformed row: kind of fault, line from the start of the text, number of fields."""

    kind: int
    line: int
    n_fields: int


@attrs.frozen(eq=False)
class Cells:
    """The fields of some rows as offsets into the text; `~end` if a field has a doubled quote.

    `lines` (n,) are the lines where rows begin, counted from the start of the text.
    """

    text: bytes
    starts: Offsets
    ends: Offsets
    lines: Offsets

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    def field(self, row: int, column: int) -> str:
        """One field, without quotes and surrounding blanks."""
        start, end = int(self.starts[row, column]), int(self.ends[row, column])
        if end < 0:
            return self.text[start:~end].decode().replace('""', '"')
        return self.text[start:end].decode()

    def texts(self, column: int) -> list[str]:
        """The fields of one column."""
        return [self.field(row, column) for row in range(self.n_rows)]

    def numbers(self, column: int) -> tuple[FloatArray, npt.NDArray[np.uint8]]:
        """The numbers of one column, else NaN; and NUMBER, NOTHING or OTHER by field."""
        values = np.full(self.n_rows, np.nan)
        kinds = np.empty(self.n_rows, dtype=np.uint8)
        compiled = native.library
        if compiled is None:
            _numbers(self, column, values, kinds)
        else:
            compiled.dcsvm_numbers(*self._column(column), address(values), address(kinds))
        return values, kinds

    def distinct(self, column: int) -> tuple[Offsets, list[int]]:
        """Codes of the distinct fields of a column, and the row where each appears first."""
        codes = np.empty(self.n_rows, dtype=np.int32)
        compiled = native.library
        if compiled is None:
            return _distinct(self, column, codes)
        slots = 1 << max(4, (2 * self.n_rows).bit_length())
        table = np.full(slots, -1, dtype=np.int32)
        first_rows = np.empty(self.n_rows, dtype=np.int32)
        count = compiled.dcsvm_distinct(
            *(*self._column(column), address(table), slots, address(codes), address(first_rows))
        )
        return codes, first_rows[:count].tolist()

    def find_leading_zeros(self, column: int) -> list[int]:
        """The rows whose field has a leading zero, such as 007."""
        starts, ends = self.starts[:, column], self.ends[:, column]
        rows = np.flatnonzero(ends - starts > 1)
        codes, at = np.frombuffer(self.text, dtype=np.uint8), starts[rows]
        second = codes[at + 1] - ord("0")  # unsigned: negative differences become large
        found: list[int] = rows[(codes[at] == ord("0")) & (second <= 9)].tolist()
        return found

    def _column(self, column: int) -> tuple[Any, ...]:
        width = self.starts.shape[1]
        first = 4 * column
        starts, ends = self.starts.ctypes.data + first, self.ends.ctypes.data + first
        return self.text, starts, ends, width, self.n_rows


def split_rows(
    text: bytes, *, last: bool, delimiter: bytes, columns: int
) -> tuple[Cells, int, int, Fault | None]:
    """Find the fields of all complete rows at the start of a text of less than 2 GB.

    Lines end with LF, CR LF or CR; empty lines are skipped; fields may be in double quotes, which
    are doubled inside. The `last` text of a file needs no line end. Returns the cells, the numbers
    of bytes and of lines used, and the fault of the next row, if any.
    """
    compiled = native.library
    if compiled is None:
        return _split_rows(text, last, delimiter, columns)
    room = text.count(b"\n") + text.count(b"\r") + 1
    starts = np.empty((room, columns), dtype=np.int32)
    ends = np.empty((room, columns), dtype=np.int32)
    lines = np.empty(room, dtype=np.int32)
    state = np.zeros(5, dtype=np.int64)
    n_rows = compiled.dcsvm_fields(
        *(text, len(text), int(last), delimiter[0], columns, room),
        *(address(starts), address(ends), address(lines), address(state)),
    )
    consumed, n_lines, wrong, found, line = state.tolist()
    cells = Cells(text, starts[:n_rows], ends[:n_rows], lines[:n_rows])
    return cells, consumed, n_lines, Fault(wrong, line, found) if wrong else None


def measure_row(text: bytes, delimiter: bytes, n_fields: int) -> tuple[int, int]:
    """Return the bytes and the lines of the row of so many fields at the start of a text."""
    comma = re.escape(delimiter)
    field = rb' *(?:"(?:[^"]|"")*+"|[^\n\r' + comma + rb"]*+)"
    row = re.compile(b"(?:%b%b){%d}%b(?:\r\n|\n|\r|$)" % (field, comma, n_fields - 1, field))
    found = row.match(text)
    assert found is not None
    return found.end(), max(1, len(re.findall(rb"\r\n|\n|\r", found[0])))


def _fields(cells: Cells, column: int) -> list[bytes]:
    """One column as bytes; a field with a doubled quote is given as a quote."""
    text = cells.text
    ends = cells.ends[:, column].tolist()
    starts = cells.starts[:, column].tolist()
    return [text[a:b] if b >= 0 else b'"' for a, b in zip(starts, ends, strict=True)]


def _distinct(cells: Cells, column: int, codes: Offsets) -> tuple[Offsets, list[int]]:
    fields: list[Any] = _fields(cells, column)
    if (cells.ends[:, column] < 0).any():
        fields = cells.texts(column)
    places: dict[Any, int] = {}
    codes[:] = [places.setdefault(field, len(places)) for field in fields]
    _, firsts = np.unique(codes, return_index=True)
    return codes, firsts.tolist()


def _numbers(cells: Cells, column: int, values: FloatArray, kinds: Any) -> None:
    fields = _fields(cells, column)
    if _DIGITS.fullmatch(b" ".join(fields)):  # probably only numbers, converted at once
        try:
            found = np.array(list(map(float, fields)))
        except ValueError:
            found = values
        if np.isfinite(found).all():
            values[:], kinds[:] = found, NUMBER
            return
    for row, field in enumerate(fields):
        kinds[row] = OTHER if field else NOTHING
        if _DECIMAL.fullmatch(field):
            number = float(field)
            if np.isfinite(number):
                values[row], kinds[row] = number, NUMBER


def _split_rows(
    text: bytes, last: bool, delimiter: bytes, columns: int
) -> tuple[Cells, int, int, Fault | None]:
    """The same in Python: at once if rows are simple, otherwise field by field."""
    simple = _simple_rows(text, last, delimiter, columns)
    if simple is not None:
        return simple
    comma = re.escape(delimiter)
    field = re.compile(rb' *(?:"((?:[^"]|"")*+)(?P<closed>")?|([^\n\r' + comma + rb"]*+))")
    found: list[list[tuple[int, int]]] = []
    lines: list[int] = []
    at = line = 0
    fault = None
    while at < len(text):
        row: list[tuple[int, int]] = []
        here, row_line, inside = at, line, 0
        while True:
            match = field.match(text, here)
            assert match is not None
            here = match.end()
            quoted = match.start(1) >= 0
            if quoted and not match["closed"]:
                fault = Fault(OPEN_QUOTE, line + inside, 0) if last else None
                return _cells(text, found, lines, columns), at, line, fault
            if here >= len(text) and not last:
                return _cells(text, found, lines, columns), at, line, None
            if quoted:
                inside += len(re.findall(rb"\r\n|\n|\r", match[1]))
                if here < len(text) and text[here : here + 1] not in (delimiter, b"\n", b"\r"):
                    fault = Fault(AFTER_QUOTE, line + inside, 0)
                    return _cells(text, found, lines, columns), at, line, fault
            row.append(_trim(text, *match.span(1 if quoted else 3), quoted))
            if text[here : here + 1] != delimiter:
                break
            here += 1
        if here < len(text):
            if text[here:] == b"\r" and not last:
                break
            here += 2 if text[here : here + 2] == b"\r\n" else 1
            inside += 1
        if len(row) > 1 or row[0][0] != row[0][1]:
            if len(row) != columns:
                fault = Fault(WRONG_COUNT, row_line, len(row))
                break
            found.append(row)
            lines.append(row_line)
        at, line = here, line + inside
    return _cells(text, found, lines, columns), at, line, fault


def _simple_rows(
    text: bytes, last: bool, delimiter: bytes, columns: int
) -> tuple[Cells, int, int, None] | None:
    """Split rows without quotes, blanks, empty lines or faults; None if there are any."""
    if not last:
        text = text[: text.rfind(b"\n") + 1]
    if re.search(rb'["\r\t ]', text) or not text or not text.endswith(b"\n"):
        return None
    codes = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero((codes == delimiter[0]) | (codes == ord("\n"))).astype(np.int32)
    if len(marks) % columns or columns == 1:
        return None
    ends = marks.reshape(-1, columns)
    at_line_end = codes[ends] == ord("\n")
    if not at_line_end[:, -1].all() or at_line_end[:, :-1].any():
        return None
    starts = np.empty_like(marks)
    starts[0], starts[1:] = 0, marks[:-1] + 1
    lines = np.arange(len(ends), dtype=np.int32)
    cells = Cells(text, starts.reshape(ends.shape), ends, lines)
    return cells, len(text), len(ends), None


def _trim(text: bytes, start: int, end: int, quoted: bool) -> tuple[int, int]:
    content = text[start:end]
    start += len(content) - len(content.lstrip(b" \t"))
    end = max(start, start + len(content.strip(b" \t")))
    return start, ~end if quoted and b'""' in text[start:end] else end


def _cells(
    text: bytes, found: list[list[tuple[int, int]]], lines: list[int], columns: int
) -> Cells:
    offsets = np.array(found, dtype=np.int32).reshape(len(found), columns, 2)
    starts, ends = (np.ascontiguousarray(offsets[:, :, side]) for side in range(2))
    return Cells(text, starts, ends, np.array(lines, dtype=np.int32))
