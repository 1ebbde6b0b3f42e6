"""Random samples with replacement, of a size given as a number or as a share."""

import numpy as np
import pytest

from dcsvm import Problem, SettingError, build


def samples(**settings) -> list[np.ndarray]:
    problem = Problem(np.zeros((200, 1)), np.arange(200) % 2, 2)
    (stage,) = list(build("decomposer", "bootstrap", **settings).divide(problem))
    return [each.rows for each in stage]


@pytest.mark.parametrize(("size", "rows"), [(1.0, 200), (0.25, 50), (30, 30), (300, 300)])
def test_a_sample_has_the_size_that_was_asked_for(size: float, rows: int) -> None:
    assert [len(each) for each in samples(samples=3, size=size)] == [rows] * 3


def test_rows_are_drawn_with_replacement_and_anew_for_each_sample() -> None:
    first, second = samples(samples=2)
    assert 100 < len(np.unique(first)) < 150  # about 1 - 1/e of 200
    assert first.tolist() != second.tolist()


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(SettingError) as refused:
        build("decomposer", "bootstrap", size=0)
    assert str(refused.value) == (
        "bootstrap: size must be a whole number above 0 or a number above 0, got 0"
    )


def test_a_sample_that_no_machine_could_hold_is_refused():
    with pytest.raises(SettingError) as refusal:
        samples(size=1e300)
    assert str(refusal.value) == (
        "bootstrap: a sample may have at most 100000000 rows, but size = 1e+300 gives 2e+302"
    )
