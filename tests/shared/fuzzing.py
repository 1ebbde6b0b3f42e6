"""How the fuzzed tests search: some cases at each run, DCSVM_FUZZ many if asked; none may hang."""

import faulthandler
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings

#: How many cases of each kind a nightly run asks for.
ASKED = os.environ.get("DCSVM_FUZZ", "")
#: A case that computes for longer hangs, and so does one that waits for ten times as long.
SECONDS = 60
#: Where to say what ends the whole process; pytest captures the usual place.
STDERR = 2


def fuzzed(cases: int) -> settings:
    """Settings of hypothesis: the same cases at each run, other ones each night."""
    return settings(
        max_examples=int(ASKED or cases),
        deadline=None,
        derandomize=not ASKED,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def in_time(seconds: float = SECONDS) -> Iterator[None]:
    """End a case that hangs: in Python by an error, in compiled code with the whole process."""
    if not hasattr(signal, "SIGALRM"):  # Windows has no alarms
        yield
        return

    began, computed = time.monotonic(), time.process_time()

    def hangs(number: int, frame: object) -> None:
        waited, worked = time.monotonic() - began, time.process_time() - computed
        if worked >= 0.9 * seconds or waited >= 10 * seconds:  # timers are not that exact
            raise AssertionError(f"a case hangs: not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    # Observer hears an alarm inside compiled code: four times that of computing ends the process,
    # by the signal's own action, after faulthandler has said where.
    faulthandler.register(signal.SIGPROF, file=STDERR, chain=True)
    signal.setitimer(signal.ITIMER_PROF, 4 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.unregister(signal.SIGPROF)
        signal.signal(signal.SIGALRM, before)
