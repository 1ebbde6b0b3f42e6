"""The line of each key in a TOML text, which `tomllib` does not report."""

import re
from collections.abc import Iterator
from typing import NamedTuple

Key = tuple[str | int, ...]

_TOKEN = re.compile(
    r"""
    (?P<skip>[ \t\r]+|\#[^\n]*)
  | (?P<newline>\n)
  | (?P<string>\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
  | (?P<mark>[\[\]{}=,.])
  | (?P<word>[^\s\[\]{}=,."'#]+)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of TOML text and the line it starts on."""

    kind: str
    text: str
    line: int


class LineIndex:
    """The line of every table, key and list item of a TOML text that `tomllib` has accepted."""

    def __init__(self, text: str) -> None:
        self.line_of: dict[Key, int] = {}
        self._tokens = [*_tokenize(text), Token("end", "", 0)]
        self._at = 0
        self._table_counts: dict[Key, int] = {}
        table: Key = ()
        while self._peek().kind != "end":
            if self._peek().kind == "newline":
                self._take()
            elif self._peek().text == "[":
                table = self._read_header()
            else:
                self._read_pair(table)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return self._tokens[self._at - 1]

    def _read_header(self) -> Key:
        line = self._take().line
        repeated = self._peek().text == "["
        if repeated:
            self._take()
        path = self._insert_numbers(self._read_key())
        while self._peek().kind not in ("newline", "end"):
            self._take()
        if repeated:
            count = self._table_counts.get(path, -1) + 1
            self._table_counts[path] = count
            path = (*path, count)
        self._record(path, line)
        return path

    def _insert_numbers(self, key: Key) -> Key:
        """A header's key, with the number of the last table where it passes a list of tables."""
        path: Key = ()
        for place, word in enumerate(key):
            path = (*path, word)
            if path in self._table_counts and place < len(key) - 1:
                path = (*path, self._table_counts[path])
        return path

    def _read_pair(self, table: Key) -> None:
        line = self._peek().line
        path = table + self._read_key()
        self._record(path, line)
        self._take()  # the equals sign
        self._read_value(path)

    def _read_key(self) -> Key:
        words: list[str] = []
        while self._peek().kind in ("word", "string"):
            token = self._take()
            words.append(token.text if token.kind == "word" else token.text[1:-1])
            if self._peek().text == ".":
                self._take()
        return tuple(words)

    def _read_value(self, path: Key) -> None:
        opening = self._peek().text if self._peek().kind == "mark" else ""
        if opening not in ("[", "{"):
            self._take()
            while self._peek().kind in ("word", "string") or self._peek().text == ".":
                self._take()
            return
        self._take()
        closing, item = {"[": "]", "{": "}"}[opening], 0
        while self._peek().text != closing and self._peek().kind != "end":
            if self._peek().kind == "newline" or self._peek().text == ",":
                self._take()
            elif opening == "{":
                self._read_pair(path)
            else:
                self._record((*path, item), self._peek().line)
                self._read_value((*path, item))
                item += 1
        self._take()

    def _record(self, path: Key, line: int) -> None:
        for length in range(1, len(path)):
            self.line_of.setdefault(path[:length], line)
        self.line_of[path] = line


def _tokenize(text: str) -> Iterator[Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "skip":
            yield Token(kind, match.group(), line)
        line += match.group().count("\n")
