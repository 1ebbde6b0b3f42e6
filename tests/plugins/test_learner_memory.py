"""Forecasts of memory: what learners say that they need beside the peak of a fit by itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks can be reset on Linux only"),
]

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "memory_forecasts.py"
#: Megabytes by which small fits may differ: allocators keep what was freed.
SLACK = 5.0


@pytest.mark.parametrize("name", ["linear_svm", "krr", "logistic", "rbf_network", "spsvm"])
def test_a_fit_takes_what_its_learner_says(name):
    words = ["-", "--here", "--what", name, "--rows", "3000"]
    said = subprocess.check_output([sys.executable, SCRIPT, *words], text=True)
    found = json.loads(said)
    forecast, measured = 1e-6 * found["forecast"], 1e-6 * found["measured"]
    assert forecast == pytest.approx(measured, rel=0.2, abs=SLACK)
