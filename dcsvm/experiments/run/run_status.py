"""The status of the run in a folder: done, running, failed or interrupted."""

import json
import os
import shlex
from pathlib import Path
from typing import Any, Literal

import attrs

from dcsvm.base.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows: whether a process lives must do
    fcntl = None  # type: ignore[assignment]

STATUS, FINISHED = "status.json", "parts.log"
RUNNING, INTERRUPTED = "running", "interrupted"
#: What to do if data, plugins or dcsvm changed since a run began.
IfChanged = Literal["stop", "restart", "keep"]


@attrs.frozen
class RunStatus:
    """The state of a run, and in a sentence why it has no results yet and what to do."""

    state: str
    sentence: str


def find_status(folder: Path) -> RunStatus:
    """Return the status of a run; raise a UsageError if there is no run.

    The status file of a killed run still says "running", but no process locks its log of
    finished parts.
    """
    if not folder.is_dir():
        raise UsageError(f"{str(folder)!r} does not exist: name the folder of a run")
    status = _read_status(folder)
    state = str(status.get("state", "unknown"))
    if state == RUNNING and not _is_held(folder, status):
        state = INTERRUPTED
    title = f"the run in {str(folder)!r}"
    goes_on = f"{resume_command(folder)} goes on with it"
    if state == RUNNING:
        return RunStatus(state, f"{title} is still going on")
    if state == INTERRUPTED:
        return RunStatus(state, f"{title} was interrupted: {goes_on}")
    if state == "failed":
        error = str(status.get("error", "")).strip().rstrip(".")
        return RunStatus(state, f"{title} failed ({error}); once that is mended, {goes_on}")
    return RunStatus(state, f"{title} is {state}, but files are missing from its folder")


def resume_command(folder: Path) -> str:
    """The shell command that resumes a run."""
    return f"dcsvm run --resume {shlex.quote(str(folder))}"


def has_finished(folder: Path) -> bool:
    """Whether parts or trials are finished that a resumed run takes over."""
    return (folder / FINISHED).is_file() and (folder / FINISHED).stat().st_size > 0


def _read_status(folder: Path) -> dict[str, Any]:
    path = folder / STATUS
    try:
        status = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{str(folder)!r} is not the folder of a run: there is no {STATUS}"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
    return status if isinstance(status, dict) else {}


def _is_held(folder: Path, status: dict[str, Any]) -> bool:
    """Whether a process works on the run."""
    log = folder / FINISHED
    if fcntl is None or not log.is_file():
        return _is_alive(status.get("process"))
    try:
        with open(log, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _is_alive(process: Any) -> bool:
    if type(process) is not int or process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process
        return True
    return True
