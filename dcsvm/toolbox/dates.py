"""Dates and times as numbers: year, month, day, weekday and seconds."""

import re
from datetime import date, datetime, time
from functools import lru_cache

#: What a date column becomes: features that are called `when year` and so on.
DATE_PARTS = ("year", "month", "day", "weekday", "seconds")

_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:[T ]+(.*))?")
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?:[T ]+(.*))?")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?(?: ?(Z|[+-]\d{2}:?\d{2}))?")


def name_parts(column: str) -> tuple[str, ...]:
    """Return the names of the features that a date column becomes."""
    return tuple(f"{column} {part}" for part in DATE_PARTS)


@lru_cache(maxsize=100_000)
def split_date(text: str, day_first: bool | None = None) -> tuple[float, ...] | None:
    """Return year, month, day, weekday (Monday is 0) and seconds since midnight of a date.

    The year comes first, or last after day and month: `31.12.2024` has the day first, `12/31/2024`
    and `31/12/2024` have it as `day_first` says. A time alone has NaN for all but the seconds, and
    time zones do not count. None: the text is no date.
    """
    alone = _read_seconds(text)
    if alone is not None:
        return (*(float("nan"),) * 4, alone)
    first, last = _YEAR_FIRST.fullmatch(text), _YEAR_LAST.fullmatch(text)
    if first is not None:
        year, month, day, clock = first[1], first[3], first[4] or "1", first[5]
    elif last is not None:
        in_order = last[2] == "." if day_first is None else day_first
        day, month = (last[1], last[3]) if in_order else (last[3], last[1])
        year, clock = last[4], last[5]
    else:
        return None
    seconds = 0.0 if not clock else _read_seconds(clock)
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    if seconds is None:
        return None
    return float(found.year), float(found.month), float(found.day), found.weekday() + 0.0, seconds


def is_ambiguous(text: str) -> bool:
    """Return whether only `day_first` can say which number is the day: 03/04/2024."""
    found = _YEAR_LAST.fullmatch(text)
    return found is not None and found[2] != "."


def format_date(value: object) -> str:
    """Return a date, a time or a text as a text that `split_date` reads."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _read_seconds(text: str) -> float | None:
    found = _TIME.fullmatch(text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 60:
        return None
    return (
        3600.0 * int(found[1]) + 60.0 * int(found[2]) + float((found[3] or "0") + (found[4] or ""))
    )
