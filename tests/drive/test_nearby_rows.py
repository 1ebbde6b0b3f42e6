"""Rows in a file for workers of the client's own machine: when they are written, who sees them."""

import gc
import tempfile
from pathlib import Path

import attrs
import numpy as np
import pytest
from fakes import Centroids
from scipy import sparse

from dcsvm import Part, Problem
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.numeric import MappedRows

pytest.importorskip("distributed", reason="the extra dask is not installed")

from dcsvm.drive import nearby_rows
from dcsvm.drive.nearby_rows import NearbyRows, is_here

HERE, ELSEWHERE = "tcp://127.0.0.1:8787", "tcp://192.0.2.7:8787"
X = np.random.default_rng(0).normal(size=(3000, 10))
y = (X[:, 0] > 0).astype(int)


class FakeClient:
    """Asks workers in this process; those at port 1 are blind."""

    def __init__(self):
        self.asked = []

    def run(self, function, *given, workers, on_error):
        self.asked += workers
        blind = OSError("no such folder")
        return {each: blind if each.endswith(":1") else function(*given) for each in workers}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(nearby_rows, "LEAST_BYTES", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def halves(problem):
    cut = np.array_split(np.arange(problem.n_rows), 2)
    return [
        (n, Subproblem(problem, Part(rows), Centroids(), Seed(0))) for n, rows in enumerate(cut)
    ]


def list_files(folder):
    return [each.name for each in Path(folder).rglob("*.npy")]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (HERE, True),
        ("tls://localhost:1", True),
        ("inproc://10.1.2.3/1/2", True),
        (ELSEWHERE, False),
        ("tcp://no-such-host.invalid:1", False),
    ],
)
def test_addresses_of_this_machine_are_known(address, expected):
    assert is_here(address) == expected


def test_rows_of_many_jobs_are_written_once_and_go_with_their_problem(folder):
    nearby, problem = NearbyRows(FakeClient()), Problem(X, y, 2)
    child = problem.with_child_seed(4)
    for given in (problem, child, problem):
        (moved,) = nearby.place(halves(given), {HERE: 1}).values()
        assert isinstance(moved.X, MappedRows)
        assert moved.seed == given.seed
        np.testing.assert_array_equal(moved.X, X)
    assert len(list_files(folder)) == 1
    del problem, child, given, moved
    gc.collect()
    assert not list_files(folder)


def test_workers_are_asked_once_whether_they_see_the_folder():
    client = FakeClient()
    nearby = NearbyRows(client)
    workers = {HERE: 1, "tcp://127.0.0.1:1": 1}
    for _ in range(2):
        nearby.place(halves(Problem(X, y, 2)), workers)
    assert client.asked == list(workers)
    assert [nearby.is_seen_by(each) for each in (*workers, ELSEWHERE)] == [True, False, False]


@pytest.mark.parametrize(
    "change",
    [
        {"X": X[:5], "y": y[:5]},
        {"X": X.astype(np.float32)},
        {"X": np.asfortranarray(X)},
        {"X": sparse.csr_array(X)},
    ],
)
def test_other_rows_are_left_as_they_are(change, folder):
    problem = attrs.evolve(Problem(X, y, 2), **change)
    assert NearbyRows(FakeClient()).place(halves(problem), {HERE: 1}) == {}
    assert not list_files(folder)


def test_a_few_rows_of_many_are_not_worth_a_file():
    (_, job), _ = halves(Problem(X, y, 2))
    few = attrs.evolve(job, part=Part(np.arange(1400)))
    assert NearbyRows(FakeClient()).place([(0, few)], {HERE: 1}) == {}


def test_nothing_is_written_for_workers_on_other_machines(folder):
    jobs = halves(Problem(X, y, 2))
    assert NearbyRows(FakeClient()).place(jobs, {HERE: 1, ELSEWHERE: 1}) == {}
    assert not list_files(folder)


def test_a_full_disk_is_no_error(monkeypatch, folder):
    monkeypatch.setattr(nearby_rows.shutil, "disk_usage", lambda _: FULL)
    assert NearbyRows(FakeClient()).place(halves(Problem(X, y, 2)), {HERE: 1}) == {}


class FULL:
    free = 1000
