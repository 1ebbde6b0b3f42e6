"""Ctrl-C, SIGTERM and SIGHUP take effect at once, even while compiled code runs."""

import contextvars
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")

#: How often, in seconds, the waiting thread looks up: some systems cannot interrupt a plain wait.
PATIENCE = 0.1
#: How long, in seconds, work whose worker processes are gone may take to notice and clean up.
GRACE = 3.0
WORK = "dcsvm work"
#: Signals that end a command like Ctrl-C; Windows has no SIGHUP.
ENDING = [each for name in ("SIGTERM", "SIGHUP") if (each := getattr(signal, name, None))]


class Terminated(KeyboardInterrupt):
    """A signal other than that of Ctrl-C ends the command."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise Terminated on SIGTERM and SIGHUP, unless they are ignored, as after nohup."""
    in_main = threading.current_thread() is threading.main_thread()
    heard = [each for each in ENDING if in_main and signal.getsignal(each) is signal.SIG_DFL]

    def stop(number: int, frame: Any) -> NoReturn:
        for each in heard:  # a second signal must not disturb the end
            signal.signal(each, signal.SIG_IGN)
        raise Terminated(number)

    try:
        for each in heard:
            signal.signal(each, stop)
        yield
    finally:
        for each in heard:
            signal.signal(each, signal.SIG_DFL)


def run_interruptible(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread, so that the main thread can receive a KeyboardInterrupt.

    Python handles Ctrl-C between two bytecodes of its main thread only, and compiled code may run
    for minutes in one. After an interrupt the thread may go on until `leave` ends the process, so
    `work` must write files atomically.
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
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # some senders send it twice
        if _stop_workers() and done.wait(GRACE):
            thread.join(GRACE)
        raise
    if errors:
        raise errors[0]
    return results[0]


def leave(exit_code: int) -> NoReturn:
    """End the process now; an ordinary exit would wait for threads that still run."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the terminal may be gone
            stream.flush()
    if any(thread.name == WORK for thread in threading.enumerate()):
        os._exit(exit_code)
    sys.exit(exit_code)


def _stop_workers() -> bool:
    """Stop the worker processes, and say whether there were any."""
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    return bool(workers)
