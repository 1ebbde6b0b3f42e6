"""How many cores the work in this thread may use, and work that is shared among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# More than one only where nothing else runs: a job alone in its round, or a division.
_cores: ContextVar[int] = ContextVar("cores", default=1)


@contextmanager
def lent(cores: int) -> Iterator[None]:
    """Let the work inside use so many cores."""
    token = _cores.set(cores)
    try:
        yield
    finally:
        _cores.reset(token)


def cores_here() -> int:
    return _cores.get()


def for_each(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
    """Call `work` with each of the arguments, in threads where cores are lent.

    What it is called with must not depend on the order. The first error ends it all.
    """
    threads = min(cores_here(), len(arguments))
    if threads < 2:
        for each in arguments:
            work(*each)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        begun = [pool.submit(work, *each) for each in arguments]
        done = wait(begun, return_when=FIRST_EXCEPTION).done
    finally:
        pool.shutdown(cancel_futures=True)
    for future in begun:
        if future in done:
            future.result()
