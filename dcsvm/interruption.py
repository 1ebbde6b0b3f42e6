"""Ctrl-C that is heard at once, also while compiled code runs."""

from __future__ import annotations

import contextvars
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn, TypeVar

Result = TypeVar("Result")

#: How often, in seconds, the waiting thread looks up: some systems cannot interrupt a plain wait.
PATIENCE = 0.1


def interruptible(work: Callable[[], Result]) -> Result:
    """Do the work in a thread of its own, and wait for it where a KeyboardInterrupt is heard.

    Python hears Ctrl-C between two steps of its main thread only, and training may take minutes
    inside one. After an interrupt the work goes on until `leave` ends the process: do in it what
    leaves nothing behind, and write files elsewhere.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(PATIENCE)
    if errors:
        raise errors[0]
    return results[0]


def leave(exit_code: int) -> NoReturn:
    """End the process now, with its workers: an ordinary exit would wait for them to finish."""
    for worker in multiprocessing.active_children():
        worker.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)
