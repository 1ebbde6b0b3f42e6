"""Parsing of single fields: a number, a missing value (empty, ?, NA ...) or other text."""

import functools

import numpy as np

from dcsvm.numeric.text_fields import NOTHING, NUMBER, OTHER

#: Words that count as missing unless `missing_values` says otherwise, in lower case.
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
#: Those of them that are names of levels in some files, such as no coupon or Namibia.
DOUBTFUL = frozenset({"na", "none"})

#: A decimal comma becomes a point, and a point a comma, which no number has.
_SWAP = str.maketrans(",.", ".,")


@functools.lru_cache(maxsize=100_000)
def parse_field(
    text: str, missing: frozenset[str] = MISSING, decimal: str = "."
) -> tuple[int, float]:
    """Return NOTHING, NUMBER or OTHER for a field, and its value; an empty field is NOTHING."""
    if not text or text.lower() in missing:
        return NOTHING, np.nan
    if decimal == ",":
        text = text.translate(_SWAP)
    try:
        number = float(text)
    except ValueError:
        return OTHER, np.nan
    return (NUMBER, number) if np.isfinite(number) and "_" not in text else (OTHER, np.nan)


def is_padded(text: str) -> bool:
    """Return whether a field is an integer with leading zeros."""
    return len(text) > 1 and text[0] == "0" and text.isascii() and text.isdigit()
