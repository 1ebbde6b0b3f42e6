"""What terminal and report say alike."""

import pytest

from dcsvm.experiments.run.text import compute_nsv_ratios


def model(parts, evaluations):
    return {"n_parts": parts, "kernel_evaluations_mean": evaluations}


@pytest.mark.parametrize(
    ("models", "ratios"),
    [
        ([model(20, 50.0), model(1, 200.0)], [4.0, 1.0]),
        ([model(20, 50.0), model(1, 100.0), model(1, 200.0)], [4.0, 2.0, 1.0]),
        ([model(20, 400.0), model(1, 200.0), model(3, None)], [0.5, 1.0, None]),
        ([model(20, 50.0), model(10, 200.0)], [None, None]),
        ([model(20, 0.0), model(1, 200.0)], [None, None]),
        ([model(1, 200.0)], [None]),
    ],
    ids=[
        "a tree and the undivided",
        "of two undivided ones the costlier",
        "one that costs more, one whose cost is unknown",
        "nothing undivided",
        "no kernel values but the undivided's",
        "one model alone",
    ],
)
def test_models_are_held_against_the_undivided_one(models, ratios):
    assert compute_nsv_ratios(models) == ratios
