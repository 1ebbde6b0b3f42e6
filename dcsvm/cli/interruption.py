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
#: How long, in seconds, work whose worker processes are gone may take to notice and clean up.
GRACE = 3.0
WORK = "dcsvm work"


def run_interruptible(work: Callable[[], Result]) -> Result:
    """Do the work in a thread of its own, and wait for it where a KeyboardInterrupt is heard.

    Python hears Ctrl-C between two steps of its main thread only, and training may take minutes
    inside one. After an interrupt the work may go on until `leave` ends the process: do in it what
    leaves nothing behind, and write files elsewhere.
    """
    results: list[Result] = []
    errors: list[BaseException] = []
    # Not Thread.join: interrupted, it may take a running thread for a finished one.
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        done.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True, name=WORK)
    thread.start()
    try:
        while not done.wait(PATIENCE):
            pass
    except KeyboardInterrupt:
        if _stop_workers() and done.wait(GRACE):
            thread.join(GRACE)
        raise
    if errors:
        raise errors[0]
    return results[0]


def leave(exit_code: int) -> NoReturn:
    """End the process now; an ordinary exit would wait for work that goes on in threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    if any(thread.name == WORK for thread in threading.enumerate()):
        os._exit(exit_code)
    sys.exit(exit_code)


def _stop_workers() -> bool:
    """Stop the worker processes, and say whether there were any."""
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    return bool(workers)
