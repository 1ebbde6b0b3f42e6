"""Scattered rows on disk are gathered once: three readings of each row, and the same bits."""

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive import row_runs
from dcsvm.numeric.mapped_rows import MappedRows

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")

PAGE = 4096
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(12_000, 16))
y = (X[:, 0] * X[:, 1] > GENERATOR.normal(size=len(X)) / 3).astype(int)


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "X.npy", X)
    return map_rows(tmp_path / "X.npy")


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(row_runs, "SMALL_FILE", 0)
    monkeypatch.setattr(row_runs, "measure_available", lambda: 0.0)


@pytest.fixture
def count(monkeypatch):
    """Bytes of the pages that are read from files of rows, by their names."""
    read, take, blocks = {}, MappedRows.__getitem__, MappedRows.blocks

    def add(mapped, n_bytes):
        name = str(mapped.filename).rpartition("/")[2].partition("-")[0]
        read[name] = read.get(name, 0) + n_bytes

    def counted_take(self, ids):
        if isinstance(ids, np.ndarray) and ids.ndim:
            places = self.ctypes.data + np.unique(ids) * self.strides[0]
            add(self, PAGE * len(np.unique(places // PAGE)))
        return take(self, ids)

    def counted_blocks(self, ids=None):
        for block in blocks(self, ids):
            if ids is None:
                add(self, block.nbytes)
            yield block

    monkeypatch.setattr(MappedRows, "__getitem__", counted_take)
    monkeypatch.setattr(MappedRows, "blocks", counted_blocks)
    return read


def build_tree(**settings):
    tree = build("decomposer", "tree", ceiling=200)
    return DivideAndConquerClassifier(tree, "linear_svm", "route", random_state=0, **settings)


def test_scattered_rows_would_be_read_many_times(rows, count):
    build_tree().fit(rows, y)
    assert count["X.npy"] > 10 * X.nbytes


def test_gathered_rows_are_read_three_times(rows, count, little_memory, tmp_path):
    clf = build_tree().fit(rows, y)
    assert len(clf.ledger_) > 60
    n_parts_bytes = 2 * PAGE * len(clf.ledger_)  # a run begins and ends within a page
    assert count["X.npy"] <= 2 * X.nbytes
    assert count["rows"] <= X.nbytes + n_parts_bytes
    assert [each.name for each in tmp_path.iterdir()] == ["X.npy"]


PIPELINES = {
    "tree": lambda: build_tree(n_jobs=2),
    "probabilities": lambda: build_tree(probability="auto"),
    "forest": lambda: DivideAndConquerClassifier(
        2 * build("decomposer", "tree", ceiling=300), "kernel_svm", "mean", random_state=0
    ),
    "overlapping": lambda: DivideAndConquerClassifier(
        build("decomposer", "bootstrap", samples=9, size=500), "krr", "mean", random_state=0
    ),
    "pairs in leaves": lambda: DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=600),
        DivideAndConquerClassifier("class_pairs", "linear_svm", "vote"),
        "route",
        random_state=0,
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_gathered_rows_give_the_bits_of_rows_in_memory(name, rows, little_memory):
    weights = 1.0 + np.arange(len(X)) % 3
    expected = PIPELINES[name]().fit(X, y, weights)
    found = PIPELINES[name]().fit(rows, y, weights)
    np.testing.assert_array_equal(
        found.decision_function(X[:500]), expected.decision_function(X[:500])
    )
    supports = [
        [each.support.tolist() for each in clf.model_.committee.members]
        for clf in (found, expected)
    ]
    assert supports[0] == supports[1]


def test_without_room_on_the_disk_rows_stay_where_they_are(
    rows, little_memory, monkeypatch, tmp_path
):
    expected = build_tree().fit(X, y).decision_function(X[:500])
    monkeypatch.setattr(row_runs.shutil, "disk_usage", lambda _: type("", (), {"free": 1000}))
    found = build_tree().fit(rows, y).decision_function(X[:500])
    np.testing.assert_array_equal(found, expected)


def test_a_gathering_that_fails_leaves_no_file(rows, little_memory, monkeypatch, tmp_path):
    def fail(*_):
        raise OSError("no room")

    monkeypatch.setattr(MappedRows, "blocks", fail)
    assert row_runs._write_runs(rows, [np.arange(3), np.arange(5, 9)]) == []
    assert [each.name for each in tmp_path.iterdir()] == ["X.npy"]
