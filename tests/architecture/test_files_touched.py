"""Training and prediction of a tree of SVMs run through few files."""

import runpy
from pathlib import Path

import pytest

from dcsvm.numeric import implementation

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "files_touched.py"


@pytest.mark.skipif(implementation() == "numpy", reason="numpy takes more files")
def test_fit_and_predict_run_through_few_files() -> None:
    trace = runpy.run_path(str(SCRIPT))["trace"]
    found = trace(rows=2000, ceiling=300, classes=2)
    assert found.members >= 4
    assert len(found.fit) <= 18, found.fit
    assert len(found.predict) <= 9, found.predict
