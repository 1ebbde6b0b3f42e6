"""What the fuzzed tests stand on: a case that hangs is ended."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fuzzing import in_time

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows has no alarms")
COMPILED = """
import hashlib
from fuzzing import in_time
with in_time(0.1):
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
"""


def forever(seconds):
    while True:
        time.sleep(seconds)


@pytest.mark.parametrize("seconds", [30, 0], ids=["waiting", "computing"])
def test_a_case_that_hangs_is_ended(seconds):
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(AssertionError, match=r"a case hangs: not done after 0\.1 s"), in_time(0.1):
        forever(seconds)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_case_that_ends_is_left_alone():
    with in_time(0.1):
        pass
    time.sleep(0.2)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_a_case_that_hangs_in_compiled_code_ends_the_process_and_says_where():
    run = subprocess.run(
        [sys.executable, "-c", COMPILED],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    assert run.returncode == -signal.SIGPROF
    assert "line 5 in <module>" in run.stderr
