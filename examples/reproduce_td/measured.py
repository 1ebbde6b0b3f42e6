"""Measurements as lines of JSON, and how long a piece of work takes in a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from births import certify

FOLDER = Path(__file__).parent / "measured"


def append(name: str, record: dict[str, Any]) -> None:
    """Add one record to a file of measurements."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        born = certify(Path(__file__).parent.name, record.get("seed", 0))
        file.write(json.dumps({**record, "born": born}) + "\n")


def read(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The records of a file that have these values, in the order they were made."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [one for one in records if all(one.get(key) == wanted[key] for key in wanted)]


def capped(work: Callable[[], dict[str, Any]], cap: int) -> dict[str, Any]:
    """What `work` returns, from a process of its own that dies after `cap` seconds of work.

    Seconds are processor time. `capped` says whether the end was reached.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(sender, work, cap))
    worker.start()
    sender.close()
    try:
        found: dict[str, Any] = {"capped": False} | receiver.recv()
    except EOFError:
        found = {"capped": True, "seconds": float(cap)}
    worker.join()
    if worker.exitcode not in (0, -signal.SIGXCPU):
        raise SystemExit(f"a worker ended with {worker.exitcode}")
    return found


def _work(sender: Connection, work: Callable[[], dict[str, Any]], cap: int) -> None:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    already = int(spent.ru_utime + spent.ru_stime)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (already + cap, already + cap + 5))
    sender.send(work())


class Clock:
    """Seconds since it was made: processor time of all threads, and on the wall."""

    def __init__(self) -> None:
        self.processor, self.wall = time.process_time(), time.perf_counter()

    def seconds(self) -> dict[str, float]:
        return {
            "cpu_seconds": round(time.process_time() - self.processor, 3),
            "wall_seconds": round(time.perf_counter() - self.wall, 3),
        }
