"""The numeric tests pass with a library that checks its memory accesses and its arithmetic."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs GCC and its sanitizers")
def test_the_numeric_tests_pass_under_sanitizers(repository: Path) -> None:
    script = repository / ".ci" / "run-sanitizers"
    done = subprocess.run(
        [script, sys.executable], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "sanitizers: address, undefined" in done.stdout
