"""Threads: the number of cores that work may use, and the limit of BLAS to one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any

#: How many cores the work in this thread may use: more than one only while nothing else runs,
#: as in a division or a job that is alone in its round.
CORES: ContextVar[int] = ContextVar("cores", default=1)
#: Arguments of `threadpool_limits`. Rounding in BLAS depends on the number of its threads.
ONE_BLAS_THREAD: dict[str, Any] = {"limits": 1, "user_api": "blas"}


def for_each(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
    """Call `work` with each tuple of arguments, in threads if there are several CORES.

    Calls must not depend on their order. The first error cancels the rest.
    """
    threads = min(CORES.get(), len(arguments))
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
