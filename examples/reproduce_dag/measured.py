"""Measurements as lines of JSON: written when they are made, found again to go on from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from births import certify

FOLDER = Path(__file__).parent / "measured"


def write(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """Add one record to a file of measurements."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        born = certify(Path(__file__).parent.name, record.get("seed", 0))
        file.write(json.dumps({**record, "born": born}) + "\n")
    return record


def find(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a file that have these values, oldest first."""
    path = FOLDER / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return [one for one in records if all(one.get(key) == value for key, value in wanted.items())]
