"""Parcels: what is sent to workers and back, and in how many bytes."""

import pickle

import attrs
import cloudpickle
import numpy as np
import pytest
from fakes import Centroids

from dcsvm import Part, Problem, Task
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive import job_serialization
from dcsvm.drive.job_serialization import (
    KnownRows,
    make_parcels,
    pack_outcomes,
    pack_shared,
    unpack,
)

X = np.random.default_rng(0).normal(size=(5_000, 20))
y = (X[:, 0] > 0).astype(int)
PROBLEM = Problem(X, y, 2)


def job(rows, problem=PROBLEM, **others):
    return Subproblem(problem, Part(rows, **others), Centroids(), Seed(3, (1, 0, 4)))


def seen(_):
    return True


def unseen(_):
    return False


def test_small_jobs_share_parcels_and_large_ones_have_their_own():
    sizes = [2000, 900, *[10] * 100]
    parcels = list(make_parcels([(n, job(np.arange(size))) for n, size in enumerate(sizes)], 2))
    assert [len(each.jobs) for each in parcels[:2]] == [1, 1]
    assert len(parcels) == 5
    assert [number for each in parcels for number, _ in each.jobs] == list(range(102))
    assert parcels[0].title == "centroids 0.4"
    assert parcels[-1].title == f"centroids 0.4 and {len(parcels[-1].jobs) - 1} more"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, [4]),
        ({"PARCEL_ROWS": 2500}, [2, 2]),
        ({"PARCEL_NUMBERS": 25_000}, [1, 1, 1, 1]),
        ({"PARCEL_SQUARES": 3_500_000}, [3, 1]),
    ],
)
def test_a_parcel_has_few_rows_few_numbers_and_little_work(monkeypatch, limits, expected):
    for name, limit in ({"PARCELS_PER_CORE": 1} | limits).items():
        monkeypatch.setattr(job_serialization, name, limit)
    parcels = make_parcels([(n, job(np.arange(1000))) for n in range(4)], 1)
    assert [len(each.jobs) for each in parcels] == expected


def test_a_parcel_of_all_rows_has_hardly_more_bytes_than_the_rows():
    chunks = np.array_split(np.random.default_rng(1).permutation(len(X)), 10)
    parcels = list(make_parcels([(n, job(np.sort(rows))) for n, rows in enumerate(chunks)], 1))
    assert sum(len(each.pack(seen)) for each in parcels) < 1.1 * X.nbytes


def test_a_problem_that_parts_share_is_sent_once():
    task = Task((0,), (1,))
    jobs = [(n, job(np.arange(n, 3000), task=task)) for n in range(3)]
    parcels = list(make_parcels(jobs, 1))
    assert all(each.shared == (PROBLEM,) for each in parcels)
    contents, kept = [each.pack(seen) for each in parcels], pack_shared(PROBLEM, seen)
    assert sum(map(len, contents)) < 3 * 3000 * 2 + 5000 < X.nbytes < len(kept)
    shared = [unpack(kept)]
    problems = [job.problem for each in contents for ((_, job),) in unpack(each, shared)]
    assert [each is shared[0] for each in problems] == [True] * 3


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize(("sees", "is_sent"), [(seen, False), (unseen, True)])
def test_rows_of_a_file_are_sent_only_where_it_is_not_seen(tmp_path, sees, is_sent, shares):
    np.save(tmp_path / "X.npy", X)
    problem = Problem(map_rows(tmp_path / "X.npy"), y, 2)
    others = {"task": Task((0,), (1,))} if shares else {}
    here = job(np.arange(0, 4000, 2), problem, **others)
    (parcel,) = make_parcels([(0, here)], 1)
    kept = [pack_shared(each, sees) for each in parcel.shared]
    content = parcel.pack(sees)
    sent = len(content) + sum(map(len, kept))
    assert (sent > 2000 * X[0].nbytes) == is_sent
    (((_, there),),) = unpack(content, [unpack(each) for each in kept])
    assert there.extract().problem.X.tobytes() == X[np.arange(0, 4000, 2)].tobytes()


def test_rows_that_the_client_has_are_not_returned():
    jobs = [job(np.arange(0, 3000)), job(np.arange(1000, 4000, 3))]
    there = [pickle.loads(cloudpickle.dumps(each)) for each in jobs]
    mixed = np.vstack([X[2:2900:2], X[1000:4000:6]])
    strange = mixed + 1e-9
    content = pack_outcomes([mixed, strange, mixed], there)
    assert mixed.nbytes < len(content) < 1.1 * mixed.nbytes
    one, other, again = unpack(content, (), KnownRows.of(jobs))
    assert one.tobytes() == mixed.tobytes()
    assert one.flags.c_contiguous
    assert one is again
    assert other.tobytes() == strange.tobytes()


@attrs.frozen
class Other:
    """A job that is no Subproblem."""

    n_rows: int = 3


def test_other_work_has_no_known_rows():
    assert KnownRows.of([Other()]) is None
    assert unpack(pack_outcomes([X[:50]], [Other()]))[0].tobytes() == X[:50].tobytes()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(200),
        np.arange(-5, 300),
        np.arange(200, dtype=np.uint16) + 60_000,
        np.full(300, 2**40),
        np.full(150, -(2**63)),
        np.linspace(0, 1, 200),
        np.arange(3),
    ],
    ids=["small", "negative", "unsigned", "large", "lowest", "floats", "few"],
)
def test_arrays_arrive_as_they_were(array):
    found = unpack(pack_shared([array, array], seen))
    assert found[0].tobytes() == array.tobytes()
    assert found[0].dtype == array.dtype
    assert found[0] is found[1]
