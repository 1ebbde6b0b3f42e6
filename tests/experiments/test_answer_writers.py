"""Files of predictions: what a name may not do."""

import io

import numpy as np
import pytest

from dcsvm.base.errors import UsageError
from dcsvm.experiments.predict.answer_writers import NpzWriter


@pytest.mark.parametrize("name", ["../../id", "C:id", "a\\b", "score_yes/no"])
def test_names_that_would_be_paths_are_refused(name):
    with pytest.raises(UsageError, match=r"cannot be an array of a \.npz file"):
        NpzWriter(io.BytesIO(), [name])


def test_other_names_are_arrays():
    file = io.BytesIO()
    writer = NpzWriter(file, ["file", "größe 1"])
    writer.write([np.arange(3), np.array(["a", "b", "c"])])
    writer.end()
    file.seek(0)
    found = np.load(file)
    assert found["file"].tolist() == [0, 1, 2]
    assert found["größe 1"].tolist() == ["a", "b", "c"]
