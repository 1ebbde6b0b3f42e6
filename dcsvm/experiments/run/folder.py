"""The folder of a run, with its inputs and results; files are written atomically.

| file | what it holds |
|---|---|
| `recipe.toml` | the recipe as it was given, word for word |
| `resolved.toml` | the recipe with everything that it extends, overrides and leaves to defaults |
| `request.json` | overrides, seed, jobs, plugin files, and the command that asked |
| `environment.json` | versions, plugins, cores, numeric implementation |
| `inputs.json` | digests of the data, and of the sources of dcsvm and of the plugins used |
| `plan.json` | rows, features, classes, and what is going to be trained |
| `metrics.json` | one level: the measures by name; a rival's start with `compare.NAME.` |
| `result.json` | what `dcsvm run --json` prints: facts about the data, and the measures by model |
| `parts.csv` | the ledger: one line for every part of every model |
| `predictions.csv` | one line for every test row: number, fold, truth, and each model's answer |
| `search.json` | for every model and fold: what was tried, what it was worth, what was chosen |
| `trials.csv` | the same as a table: one line for every combination that was tried |
| `model.dcsvm` | the recipe's own model |
| `report.html`, `evidence.json` | the report of a plugin, and what it shows of the model |
| `log.jsonl` | what happened when |
| `status.json` | running, done, partial, failed or interrupted, and since when |
| `parts.log` | finished parts, until the run is done |
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from dcsvm.base.errors import DiskFullError, UsageError
from dcsvm.drive.executor import Done, Runnable
from dcsvm.drive.observers import Observer
from dcsvm.experiments.run.run_status import FINISHED, STATUS, find_status, resume_command
from dcsvm.persistence.atomic_write import explain_full_disk, write_atomically

RECIPE, RESOLVED, REQUEST = "recipe.toml", "resolved.toml", "request.json"
ENVIRONMENT, INPUTS, PLAN = "environment.json", "inputs.json", "plan.json"
METRICS, RESULT = "metrics.json", "result.json"
PARTS, PREDICTIONS, SEARCH = "parts.csv", "predictions.csv", "search.json"
TRIALS = "trials.csv"
LEADERBOARD = "leaderboard.csv"
LOG = "log.jsonl"
#: Seconds between two lines of the log about parts.
LOG_SECONDS = 1.0


class RunFolder(Observer):
    """A run's folder; as an observer it logs the progress of the run."""

    def __init__(self, path: Path, made: Sequence[Path] = ()) -> None:
        self.path = path
        self.made = made
        self.n_parts = 0
        self._noted = 0.0
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {}

    @classmethod
    def make(cls, path: Path, content: Mapping[str, str]) -> RunFolder:
        """Make the folder with these files in it, all or none.

        One that is there must be empty, or of a run that failed before anything was trained.
        """
        aside = path.with_name(f".{secrets.token_hex(8)}.part")
        made = [each for each in (path, *path.parents) if not each.exists()]
        try:
            if path.is_dir() and any(path.iterdir()):
                if not _is_abandoned(path):
                    raise UsageError(_explain_occupied(path))
                shutil.rmtree(path)
            aside.mkdir(parents=True)
            for name, text in content.items():
                write_atomically(aside / name, text, title=path / name)
            os.replace(aside, path)
        except OSError as error:
            raise UsageError(f"cannot write to {str(path)!r}: {error.strerror}") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return cls(path, made)

    @classmethod
    def find(cls, path: Path) -> RunFolder:
        """The folder of a run that was begun."""
        if not (path / REQUEST).is_file() or not (path / RESOLVED).is_file():
            what = "is not the folder of a run" if path.is_dir() else "does not exist"
            raise UsageError(f"{str(path)!r} {what}: a run keeps {REQUEST} and {RESOLVED} there")
        return cls(path)

    def remove_partial_files(self) -> None:
        """Delete partial files left by a killed process."""
        for left in self.path.glob(".*.part"):
            left.unlink()

    def remove(self) -> None:
        """Delete a failed run that has no finished parts, and the folders made for it."""
        if not _is_abandoned(self.path):
            return
        for file in self.path.iterdir():
            file.unlink()
        for folder in self.made:  # the innermost first
            with contextlib.suppress(OSError):  # another run is kept there
                folder.rmdir()

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def write(self, name: str, content: str | bytes) -> None:
        write_atomically(self.path / name, content)

    def delete(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def write_json(self, name: str, value: Any) -> None:
        self.write(name, format_json(value))

    def read_json(self, name: str) -> Any:
        """The content of a JSON file of the run; a UsageError if it cannot be read."""
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{str(self.path / name)!r} cannot be read: {error}") from error

    def set_state(self, state: str, **facts: Any) -> None:
        """Write the state of the run to `status.json`."""
        now = _now()
        self._state = {"state": state, "since": now, "process": os.getpid(), **facts}
        self.write_json(STATUS, self._state)
        self.log(state, **facts)

    def try_state(self, state: str, **facts: Any) -> None:
        """Write the state unless the disk is full; a run without one counts as interrupted."""
        with contextlib.suppress(DiskFullError, OSError):
            self.set_state(state, **facts)

    def log(self, event: str, **facts: Any) -> None:
        """Add a line to the log."""
        line = json.dumps({"time": _now(), "event": event, **facts}, default=str)
        path = self.path / LOG
        with (
            self._lock,
            explain_full_disk(path, len(line)),
            open(path, "a", encoding="utf-8") as log,
        ):
            if log.tell() and not _ends_with_newline(path):
                log.write("\n")  # whoever wrote before was cut off within a line
            log.write(line + "\n")

    def on_step_begin(self, title: str, n_rows: int = 0) -> None:
        self.log("step", title=title, rows=n_rows)

    def on_count_begin(self, what: str, n: int, seconds: float | None = None) -> None:
        self.log("count", what=what, n=n)

    def on_round_begin(self, n_jobs: int) -> None:
        self.log("round", parts=n_jobs)

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        self.n_parts += 1
        if time.monotonic() - self._noted > LOG_SECONDS:
            self._noted = time.monotonic()
            self.log("parts", done=self.n_parts)


def format_json(value: Any) -> str:
    """The text of a JSON file of the run."""
    return json.dumps(value, indent=2, allow_nan=False, default=str) + "\n"


def choose_run_folder(name: str, digest: str) -> Path:
    """The folder for a run of that name: `runs/<name>/<time>-<hash>`."""
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    place = Path("runs") / (safe.strip(".") or "run") / f"{stamp}-{digest[:8]}"
    number = 1
    while place.exists():  # two runs of one recipe within a second
        number += 1
        place = place.with_name(f"{stamp}-{digest[:8]}-{number}")
    return place


def _explain_occupied(path: Path) -> str:
    """Say why a folder cannot be used, and what to do."""
    if not (path / REQUEST).is_file() or not (path / STATUS).is_file():
        return f"the folder {str(path)!r} is not empty, and not of a run; choose another for --out"
    if find_status(path).state == "done":
        return f"the folder {str(path)!r} has a run that is done; choose another for --out"
    return (
        f"the folder {str(path)!r} is not empty: {resume_command(path)} goes on with the run that "
        "was begun there"
    )


def _is_abandoned(path: Path) -> bool:
    """Whether a folder holds a failed run without finished parts."""
    if not (path / REQUEST).is_file() or not (path / STATUS).is_file():
        return False
    finished = path / FINISHED
    return find_status(path).state == "failed" and not (
        finished.exists() and finished.stat().st_size
    )


def _ends_with_newline(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
