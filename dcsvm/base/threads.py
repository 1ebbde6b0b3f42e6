"""Threads: how many cores a piece of work may use, and one BLAS thread for each job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any

#: How many cores the work in this thread may use. More than one only where nothing else runs: a
#: division, or a job alone in its round.
CORES: ContextVar[int] = ContextVar("cores", default=1)
#: Arguments of `threadpool_limits`. The bits of a product depend on the number of BLAS threads.
ONE_BLAS_THREAD: dict[str, Any] = {"limits": 1, "user_api": "blas"}


def for_each(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
    """Call `work` with each of the arguments, in threads if there are several CORES.

    Calls must not depend on their order. The first error ends them all.
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
