"""What the fuzzed tests stand on: a case that hangs is ended."""

import signal
import time

import pytest
from fuzzing import in_time


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows has no alarms")
def test_a_case_that_hangs_is_ended():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(AssertionError, match="a case hangs: not done after 1 s"), in_time(1):
        time.sleep(30)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_case_that_ends_is_left_alone():
    with in_time(1):
        pass
    time.sleep(1.1)
