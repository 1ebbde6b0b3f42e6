"""Measurements as lines of JSON: appended as soon as they are made, read back to go on."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from births import certify

FOLDER = Path(__file__).parent / "measured"


def append(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """Add one record to a file of measurements, and print it."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        born = certify(Path(__file__).parent.name, record.get("seed", 0))
        file.write(json.dumps({**record, "born": born}) + "\n")
    print(json.dumps(record), flush=True)
    return record


def read(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a file that have these values, in the order they were made."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [one for one in records if all(one.get(key) == wanted[key] for key in wanted)]


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Seconds on the clock and of the processor, and the largest memory of the process so far."""
    told: dict[str, float] = {}
    clock, processor = time.perf_counter(), time.process_time()
    yield told
    told["seconds"] = round(time.perf_counter() - clock, 2)
    told["cpu_seconds"] = round(time.process_time() - processor, 2)
    told["peak_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)
