"""Mapped rows: an array like any other that travels as a handle."""

import os
import pickle
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dcsvm.numeric import MappedRows, mapped_rows
from dcsvm.numeric.mapped_rows import make_spill_folder, take_rows

ROWS = np.random.default_rng(0).normal(size=(5_000, 7))


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "X.npy", ROWS)
    return MappedRows.open(tmp_path / "X.npy")


@pytest.mark.parametrize(
    "select",
    [
        lambda X: X,
        lambda X: X[1234:2345],
        lambda X: X[4999:],
        lambda X: X[::3],
        lambda X: X[:, 2:4],
        lambda X: X[np.array([7, 7, 3])],
    ],
    ids=["all", "slice", "last", "steps", "columns", "ids"],
)
def test_what_arrives_elsewhere_are_the_same_rows(mapped, select):
    arrived = pickle.loads(pickle.dumps(select(mapped)))
    np.testing.assert_array_equal(arrived, select(ROWS))


def test_a_handle_is_sent_and_not_the_rows(mapped):
    assert len(pickle.dumps(mapped)) < 500
    assert len(pickle.dumps(mapped[1000:4000])) < 500
    rows = np.arange(0, 5_000, 2, dtype=np.int64)
    assert len(pickle.dumps(take_rows(mapped, rows))) < 8 * len(rows) + 1_000
    taken = pickle.loads(pickle.dumps(take_rows(mapped, rows)))
    assert type(taken) is np.ndarray
    np.testing.assert_array_equal(taken, ROWS[rows])


def test_a_handle_of_a_changed_file_is_refused(mapped, tmp_path):
    sent = pickle.dumps(mapped)
    os.utime(tmp_path / "X.npy", ns=(0, 0))
    with pytest.raises(OSError, match="has changed since its rows were mapped"):
        pickle.loads(sent)


def test_mapped_rows_cannot_be_written_to(mapped):
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 1.0


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (ROWS.astype(np.float32), "a matrix of float64, but holds float32"),
        (ROWS[:, 0], "a matrix of float64, but holds float64 of shape"),
        (np.asfortranarray(ROWS), "C order"),
    ],
)
def test_other_arrays_are_refused(array, said, tmp_path):
    np.save(tmp_path / "X.npy", array)
    with pytest.raises(ValueError, match=said):
        MappedRows.open(tmp_path / "X.npy")


def test_what_killed_processes_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"dcsvm-rows-{socket.gethostname()}-{ended.pid}-abc"
    own = tmp_path / f"dcsvm-rows-{socket.gethostname()}-{os.getpid()}-abc"
    elsewhere = tmp_path / f"dcsvm-rows-{socket.gethostname()}x-{ended.pid}-abc"
    for folder in (left, own, elsewhere):
        folder.mkdir()
    made = Path(make_spill_folder())
    assert made.is_dir()
    assert made.parent == tmp_path
    assert not left.exists()
    assert own.exists()
    assert elsewhere.exists()


@pytest.mark.parametrize("columns", [2, 7])
def test_columns_are_read_in_groups_in_one_pass_over_the_rows(mapped, monkeypatch, columns):
    monkeypatch.setattr(mapped_rows, "COLUMN_BYTES", 8 * len(ROWS) * columns)
    passes = []
    blocks = MappedRows.blocks
    monkeypatch.setattr(MappedRows, "blocks", lambda X: (passes.append(1), blocks(X))[1])
    groups = list(mapped.column_groups())
    assert passes == [1]
    assert [first for first, _ in groups] == list(range(0, 7, columns))
    np.testing.assert_array_equal(np.hstack([values for _, values in groups]), ROWS)
    assert [each.name for each in Path(mapped.filename).parent.iterdir()] == ["X.npy"]


def test_views_of_a_file_release_their_pages_together(mapped, monkeypatch):
    released = []
    monkeypatch.setattr(MappedRows, "release", lambda self: released.append(len(self)))
    monkeypatch.setattr(mapped_rows, "RESIDENT_BYTES", 5 * mapped_rows.PAGE_BYTES)
    parts = [mapped[start : start + 3] for start in range(0, 12, 3)]
    for part in parts:
        part[np.arange(2)]
    assert released == [3]


def test_many_rows_are_gathered_block_by_block(mapped, monkeypatch):
    released = []
    monkeypatch.setattr(MappedRows, "release", lambda self: released.append(len(self)))
    monkeypatch.setattr(mapped_rows, "GATHERED_ROWS", 4)
    rows = np.random.default_rng(0).integers(len(ROWS), size=11)
    found = mapped[rows]
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, ROWS[rows])
    assert released == [len(ROWS)] * 3
