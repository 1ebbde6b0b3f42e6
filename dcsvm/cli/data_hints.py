"""What to type after an error in a data file: the --set option that a sentence advises."""

import json
import re
import shlex

from dcsvm.base.errors import DataError

#: What a data error advises, and the --set option that does it.
OPTIONS = {
    "`header = false`": "data.header=false",
    '`encoding = "latin-1"`': "data.encoding=latin-1",
    '`encoding = "utf-16"`': "data.encoding=utf-16",
    'or say `decimal = ","`': "data.decimal=,",
    '`missing_target = "drop"`': "data.missing_target=drop",
    "`day_first = true`": "data.day_first=true",
}


def suggest_options(error: DataError) -> DataError:
    """The error with the option that solves each of its sentences, where there is one."""
    lines = [f"{each}{_suggest_option(each)}" for each in str(error).split("\n")]
    return DataError("\n".join(lines))


def _suggest_option(sentence: str) -> str:
    if sentence.endswith('`missing = "impute"`'):
        return " (--set data.missing=impute)"
    for key, option in OPTIONS.items():
        if key in sentence:
            return f" (--set {option})"
    several = re.search(r"say `dates = (\[.*\])` to learn", sentence)
    if several is not None:
        return f" (--set {shlex.quote(f'data.dates={several[1]}')})"
    column = re.search(r"column '([^']+)'.*?list (?:it|the column) in `(drop|dates)`", sentence)
    if column is None:
        return ""
    from dcsvm.experiments.recipe import parse_override

    name, key = column[1], column[2]
    text = f"data.{key}={name}"
    if parse_override(text).table["data"][key] != name:  # what reads as a number, or has spaces
        text = f"data.{key}=[{json.dumps(name, ensure_ascii=False)}]"
    return f" (--set {shlex.quote(text)})"
