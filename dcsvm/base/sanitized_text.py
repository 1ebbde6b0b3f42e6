"""Texts from data files and plugins, made harmless for terminals and spreadsheets."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Characters that terminals obey: controls but for tab and newline, and marks of direction.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Texts that spreadsheets take for formulas, also once they were quoted.
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
#: Texts that begin like a formula and are none: numbers, and signs alone.
NUMBER = re.compile(
    r"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|infinity|nan)|[-+]+", re.IGNORECASE | re.ASCII
)
_is_raw: ContextVar[bool] = ContextVar("_is_raw", default=False)


@contextmanager
def write_raw(raw: bool) -> Iterator[None]:
    """Leave texts as they are in this context, if `raw`."""
    token = _is_raw.set(raw)
    try:
        yield
    finally:
        _is_raw.reset(token)


def escape_controls(text: str) -> str:
    """Return a text with its control characters spelled out, such as ``\\x1b``.

    Examples
    --------
    >>> print(escape_controls("a red \\x1b[31mlabel"))
    a red \\x1b[31mlabel
    """
    if _is_raw.get() or (text.isascii() and text.isprintable()):
        return text
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def quote_formula(text: str) -> str:
    """Return a text for a field of a CSV file, behind a ``'`` if it would be a formula.

    Numbers stay as they are. Since a text that begins with a quote and a formula gets another
    quote, the text is found again: `unquote_formula`.

    Examples
    --------
    >>> [quote_formula(text) for text in ("=1+1", "-1", "- no", "a")]
    ["'=1+1", '-1', "'- no", 'a']
    """
    if not FORMULA.match(text) or NUMBER.fullmatch(text) or _is_raw.get():
        return text
    return f"'{text}"


def unquote_formula(text: str) -> str:
    """Return the text that `quote_formula` was given."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
