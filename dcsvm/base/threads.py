"""Threads: the number of cores that work may use, and the libraries of BLAS to limit."""

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any

from threadpoolctl import ThreadpoolController

#: How many cores the work in this thread may use: more than one only while nothing else runs,
#: as in a division or a job that is alone in its round.
CORES: ContextVar[int] = ContextVar("cores", default=1)
#: From this many rows on, several threads of OpenMP are faster than one.
MANY_ROWS = 50_000


class _SharedLimit:
    """A limit shared by several threads; the last one that leaves lifts it."""

    def __init__(self) -> None:
        self.lock, self.holders = threading.Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if not self.holders:
                self.limit = find_blas(len(sys.modules)).limit(limits=1, user_api="blas")
                self.limit.__enter__()
            self.holders += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.holders -= 1
            if not self.holders:
                self.limit.__exit__(None, None, None)


#: Limits BLAS to one thread while any thread is in a `with` block of it, as in a worker.
ONE_BLAS_THREAD = _SharedLimit()


@functools.lru_cache(maxsize=1)
def find_blas(n_modules: int) -> ThreadpoolController:
    """Find the libraries of BLAS; cached until a module is imported, as it takes a millisecond.

    Rounding depends on the number of BLAS threads, so whatever computes limits them to one.
    """
    return ThreadpoolController()


def limit_openmp(n_rows: int) -> Any:
    """Return a context in which OpenMP has one thread, or all CORES for many rows.

    For few rows, synchronizing threads on a busy machine takes longer than one thread.
    """
    threads = CORES.get() if n_rows >= MANY_ROWS else 1
    return find_blas(len(sys.modules)).limit(limits=threads, user_api="openmp")


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
