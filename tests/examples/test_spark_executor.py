"""The example of an executor for Spark: its own tests pass."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark_executor"


@pytest.mark.slow
def test_spark_gives_the_bits_of_a_local_fit(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE)]
    subprocess.run(command, cwd=tmp_path, check=True)
