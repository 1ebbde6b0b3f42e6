"""Dates records that have no birth certificate by the first commit that holds them.

    python examples/record_history.py

A record is recognized by its figures, so that renamed keys and moved files do not matter. It was
measured at that commit or before; versions, machine and command stay unknown.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from births import MODULES, ROOT
from remeasure import Record, read, write

Figures = tuple[float, ...]


def date_records(path: Path) -> int:
    """Add commit and date to the records of a file that have none; say how many there were."""
    records = read(path)
    if all("born" in record for record in records):
        return 0
    first: dict[Figures, Record] = {}
    for commit, date, lines in find_versions(path):
        for line in lines:
            first.setdefault(find_figures(json.loads(line)), {"commit": commit, "date": date})
    undated = [record for record in records if "born" not in record]
    for record in undated:
        record["born"] = first[find_figures(record)] | {"known": "by the history"}
    write(path, records)
    return len(undated)


def find_figures(record: Any) -> Figures:
    """The numbers of a record that no other is likely to have: those that are not whole."""
    numbers = sorted(_numbers({key: value for key, value in record.items() if key != "born"}))
    return tuple(number for number in numbers if number % 1) or tuple(numbers)


def find_versions(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Commit, date and lines of every version of a file, oldest first, under its former names."""
    words = ["--follow", "--name-only", "--format=%x00%h %cs", "--abbrev=12"]
    entries = _git("log", *words, "--", str(path.relative_to(ROOT))).split("\0")[1:]
    for entry in reversed(entries):
        told, *names = entry.split()[:2], *entry.split()[2:]
        text = _git("show", f"{told[0]}:{names[0]}")
        yield told[0], told[1], text.splitlines()


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    for example in MODULES:
        for path in sorted((ROOT / "examples" / example / "measured").glob("*.jsonl")):
            if dated := date_records(path):
                print(f"{example}, {path.stem}: {dated} records dated")


if __name__ == "__main__":
    main()
