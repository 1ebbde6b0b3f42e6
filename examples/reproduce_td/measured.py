"""Measurements as lines of JSON: appended as soon as they are made, read back to go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "measured"


def append(name: str, record: dict[str, Any]) -> None:
    """Add one record to a file of measurements."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def read(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a file that have these values, in the order they were made."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [one for one in records if all(one.get(key) == wanted[key] for key in wanted)]
