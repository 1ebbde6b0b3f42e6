"""What the numeric core's tests share: both implementations, and where data sets are."""

import os
from pathlib import Path

import numpy as np
import pytest

from dcsvm.numeric import native


@pytest.fixture(params=["native", "numpy"])
def either(request):
    """Run the test with the compiled library and with numpy."""
    if request.param == "numpy":
        with native.numpy_only():
            yield request.param
    else:
        if native.implementation() != "native":
            pytest.skip("the compiled library is not built here")
        yield request.param


@pytest.fixture(scope="session")
def dataset():
    """Arrays of a shared data set by its name; skips where it is absent."""

    def load(name):
        named = os.environ.get("DCSVM_DATA")
        beside = Path(__file__).resolve().parents[3] / "shared" / "data"
        path = (Path(named) if named else beside) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"no data set {path.name}; set DCSVM_DATA to the folder that has it")
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}

    return load
