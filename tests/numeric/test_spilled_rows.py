"""Rows moved out of memory: the same numbers, in a file that goes away with them."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from dcsvm.numeric import spilled_rows
from dcsvm.numeric.spilled_rows import RowSpill, release_spills

X = np.random.default_rng(0).normal(size=(40, 3))


def test_rows_are_the_same_and_read_only(tmp_path):
    spill = RowSpill(100, 3, str(tmp_path))
    first, second = spill.add(X), spill.add(X[:5])
    assert type(first) is np.ndarray
    assert first.flags.c_contiguous
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, X[:5])
    with pytest.raises(ValueError, match="read-only"):
        second[0] = 1.0


def test_released_pages_are_read_again(tmp_path):
    spill = RowSpill(100, 3, str(tmp_path))
    rows = spill.add(X)
    release_spills()
    np.testing.assert_array_equal(rows, X)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells its maps")
def test_the_file_has_no_name_and_is_closed_with_the_last_rows(tmp_path):
    def count_maps():
        return Path("/proc/self/maps").read_text().count(str(tmp_path))

    rows = RowSpill(100, 3, str(tmp_path)).add(X)
    assert not os.listdir(tmp_path)
    assert count_maps() == 1
    del rows
    gc.collect()
    assert count_maps() == 0


def test_there_is_room_for_rows_of_its_own_kind_only(tmp_path):
    spill = RowSpill(50, 3, str(tmp_path))
    assert spill.has_room(X)
    assert not spill.has_room(X.astype(np.float32))
    assert not spill.has_room(X[:, :2])
    assert not spill.has_room(np.arange(3))
    spill.add(X)
    assert spill.has_room(X[:10])
    assert not spill.has_room(X[:11])


def test_pages_are_released_once_many_are_used(tmp_path, monkeypatch):
    released = []
    monkeypatch.setattr(spilled_rows, "release_pages", released.append)
    monkeypatch.setattr(spilled_rows, "RESIDENT_BYTES", 2.5 * X.nbytes)
    spill = RowSpill(1000, 3, str(tmp_path))
    for _ in range(7):
        spill.add(X)
    assert len(released) == 2
    assert all(each is spill.mapped for each in released)
