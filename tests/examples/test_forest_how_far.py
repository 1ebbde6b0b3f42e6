"""Ways to combine the trees of a forest, and to choose their parameters."""

import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODULES = ("data", "forest_how_far", "measured", "tables", "td", "global_svm", "paper")


@pytest.fixture
def how_far(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXAMPLES / "reproduce_td"))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    random = np.random.default_rng(0)
    X = random.integers(0, 16, size=(900, 3))
    y = ((X[:, 0] > 7) + (X[:, 1] > 11)).astype(np.uint8)
    np.savez(tmp_path / "letter.npz", X=X, y=y, classes=np.array(["a", "b", "c"]))
    monkeypatch.setenv("DCSVM_DATA", str(tmp_path))
    module = __import__("forest_how_far")
    monkeypatch.setattr(module.measured, "FOLDER", tmp_path / "measured")
    monkeypatch.setattr(module, "TREES", 3)
    yield module
    for name in MODULES:
        sys.modules.pop(name, None)


def test_every_way_is_measured_once(how_far):
    for _ in range(2):
        how_far.run("letter", None, 1)
    found = how_far.measured.read("forest_how_far")
    assert len(found) == 3 * 4
    assert min(one["test"] for one in found) > 0.8
    lines = list(how_far.page())
    assert len(lines) == 2 + 12
    assert sum("out of bag" in line for line in lines) == 4


def test_votes_means_and_weights_answer_as_they_say(how_far):
    # Two trees are sure of class 0 by a little, one of class 1 by a lot.
    scores = np.array([[[0.1, -0.1]], [[0.1, -0.1]], [[-1.0, 1.0]]])
    answers = dict(how_far.combinations(scores, np.array([1]), scores))
    assert answers["one tree"][0].tolist() == [[0], [0], [1]]
    assert answers["vote"][1].tolist() == [0]
    assert answers["mean"][1].tolist() == [1]
    assert answers["weights by validation"][1].tolist() == [1]


def test_weights_are_not_negative_and_leave_out_trees_that_do_harm(how_far):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, size=200)
    right = np.where(np.arange(2) == y[:, None], 1.0, -1.0)
    weights = how_far.fitted_weights(np.stack([right, -right]), y)
    np.testing.assert_allclose(weights, [1.0, 0.0], atol=1e-9)
