"""How the fuzzed tests search: some cases at each run, DCSVM_FUZZ many if asked; none may hang."""

import faulthandler
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings

#: How many cases of each kind a nightly run asks for.
ASKED = os.environ.get("DCSVM_FUZZ", "")
#: A case that takes longer, on a busy machine too, hangs.
SECONDS = 60


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
def in_time(seconds: int = SECONDS) -> Iterator[None]:
    """End a case that hangs: in Python by an error, in compiled code with the whole process."""
    if not hasattr(signal, "SIGALRM"):  # Windows has no alarms
        yield
        return

    def hangs(number: int, frame: object) -> None:
        raise AssertionError(f"a case hangs: not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(2 * seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
