"""Rows dealt like cards: equal parts with equal shares of each class."""

import numpy as np
import pytest

from dcsvm import DataError, Problem, build


def dealt(n_rows: int, parts: int) -> tuple[np.ndarray, list[np.ndarray]]:
    y = np.arange(n_rows) % 3
    problem = Problem(np.zeros((n_rows, 1)), y, 3)
    (stage,) = list(build("decomposer", "chunks", parts=parts).divide(problem))
    return y, [each.rows for each in stage]


def test_parts_are_a_partition_into_equal_sizes() -> None:
    _, rows = dealt(100, 7)
    assert sorted(np.concatenate(rows).tolist()) == list(range(100))
    assert {len(each) for each in rows} == {14, 15}


def test_every_part_holds_its_share_of_each_class() -> None:
    y, rows = dealt(100, 7)
    shares = np.array([np.bincount(y[each], minlength=3) for each in rows])
    assert (shares.max(axis=0) - shares.min(axis=0) <= 1).all()


def test_fewer_rows_than_parts_are_refused() -> None:
    with pytest.raises(DataError) as refused:
        dealt(5, 7)
    assert str(refused.value) == (
        "chunks: cannot split 5 rows into 7 parts; set parts to 5 or less"
    )
