"""Training and prediction of a tree of SVMs run through few files."""

import runpy
from pathlib import Path

import pytest

from dcsvm.numeric import implementation

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "files_touched.py"


@pytest.mark.skipif(implementation() == "numpy", reason="numpy takes more files")
def test_fit_and_predict_run_through_few_files() -> None:
    files = runpy.run_path(str(SCRIPT))["count_files"]()
    assert len(files["fit"]) <= 18, files["fit"]
    assert len(files["predict"]) <= 9, files["predict"]
