"""A limit of memory: what never fits raises before it starts, what fits later waits."""

import pickle
import threading
import time

import numpy as np
import pytest
from fakes import Average, Centroids, Deal

from dcsvm import DivideAndConquerClassifier, Part, Problem, build, component
from dcsvm.base import subproblem
from dcsvm.base.errors import MemoryLimitError
from dcsvm.base.models import KernelExpansion
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive import memory_limit
from dcsvm.drive.engine import Engine, LocalExecutor
from dcsvm.drive.memory_limit import MemoryLimit, format_bytes, measure_used
from dcsvm.persistence.model_file import save

X = np.random.default_rng(0).normal(size=(600, 2))
y = X[:, 0] > 0


@component
class Hungry(Centroids):
    """Takes a megabyte for each row, it says, and a while."""

    name = "hungry"

    def memory(self, n_rows, n_features):
        return 1e6 * n_rows

    def fit(self, problem):
        with LOCK:
            RUNNING.append(problem.n_rows)
            most.append(sum(RUNNING))
        time.sleep(0.02)
        with LOCK:
            RUNNING.remove(problem.n_rows)
        return super().fit(problem)


LOCK, RUNNING, most = threading.Lock(), [], []


def fit(limit, parts=6, n_jobs=4):
    clf = DivideAndConquerClassifier(Deal(parts), Hungry(), Average(), random_state=0)
    return clf.fit_with(Engine(n_jobs, executor=LocalExecutor(MemoryLimit(limit))), X, y)


@pytest.fixture(autouse=True)
def nothing_else_is_used(monkeypatch):
    monkeypatch.setattr(memory_limit, "measure_used", lambda: 0.0)
    monkeypatch.setattr(memory_limit, "RESIDENT_BYTES", 0)
    most.clear()


@pytest.mark.parametrize(("limit", "at_once"), [(110e6, 100), (210e6, 200), (2e9, 400)])
def test_parts_wait_until_they_fit(limit, at_once):
    fit(limit)
    assert max(most) == at_once


def test_the_result_does_not_depend_on_the_limit():
    one, two = fit(110e6), fit(2e9)
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


def test_a_part_that_never_fits_raises_before_any_is_trained():
    with pytest.raises(MemoryLimitError) as raised:
        fit(200e6, parts=2)
    assert str(raised.value) == (
        "hungry 0.0, a part of 300 rows, is expected to take 300 MB, and the limit of 200 MB "
        "leaves 200 MB: make the parts smaller (decomposer.ceiling, decomposer.parts, or what the "
        "decomposer calls it), or allow 300 MB"
    )
    assert not most


@component
class Careful(Hungry):
    """Takes a tenth of what it said, it says of rows that it has seen."""

    name = "careful"

    def memory_like(self, sample, n_rows):
        seen.append(sample.n_rows)
        return 1e5 * n_rows


seen = []


@pytest.mark.parametrize(("limit", "at_once"), [(15e6, 100), (35e6, 300), (2e9, 400)])
def test_parts_that_may_not_fit_are_judged_by_a_sample(monkeypatch, limit, at_once):
    monkeypatch.setattr(subproblem, "SAMPLE_ROWS", 50)
    seen.clear()
    clf = DivideAndConquerClassifier(Deal(6), Careful(), Average(), random_state=0)
    clf.fit_with(Engine(4, executor=LocalExecutor(MemoryLimit(limit))), X, y)
    assert max(most) == at_once
    assert set(seen) == (set() if limit == 2e9 else {50})


def test_parts_of_one_class_take_little_memory():
    rows, labels = np.zeros((600, 2)), np.repeat([0, 1, 0], [300, 50, 250])
    problem = Problem(rows, labels, 2)
    spans = np.arange(280), np.arange(290, 350)
    jobs = [Subproblem(problem, Part(span), Hungry(), Seed(0)) for span in spans]
    assert [job.estimate_bytes() for job in jobs] == [8.0 * 280 * 6, 60e6 + 8.0 * 60 * 6]
    assert MemoryLimit(130e6).count_fitting(list(enumerate(jobs)), 4) == 2


def test_a_sample_may_tell_that_a_part_never_fits(monkeypatch):
    monkeypatch.setattr(subproblem, "SAMPLE_ROWS", 50)
    clf = DivideAndConquerClassifier(Deal(6), Careful(), Average(), random_state=0)
    with pytest.raises(MemoryLimitError, match="is expected to take 10 MB"):
        clf.fit_with(Engine(4, executor=LocalExecutor(MemoryLimit(8e6))), X, y)
    assert not most


def test_workers_of_their_own_are_counted():
    jobs = [(0, type("Job", (), {"bytes_needed": 100e6, "title": "a", "n_rows": 1}))]
    assert MemoryLimit(1e9).count_fitting(jobs, 8) == 8
    assert MemoryLimit(1e9).count_fitting(jobs, 8, workers=4) == 4


def test_what_is_used_is_measured():
    assert 1e7 < measure_used() < 1e11


def test_sizes_have_the_unit_that_suits_them():
    assert [format_bytes(size) for size in (4e9, 1.25e8)] == ["4 GB", "125 MB"]


def require_plugins():
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")


@pytest.mark.parametrize("scaling", ["none", "minmax"])
def test_support_vectors_of_many_rows_on_disk_leave_memory(tmp_path, monkeypatch, scaling):
    require_plugins()
    rows = np.random.default_rng(1).normal(size=(1200, 4))
    labels = rows[:, 0] * rows[:, 1] > 0.2 * rows[:, 2]
    np.save(tmp_path / "X.npy", rows)
    tree = build("decomposer", "tree", ceiling=300, border=0.2, local_scaling=scaling)
    here, there = (
        DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0, probability="auto")
        for _ in range(2)
    )
    here.fit(rows, labels)
    engine = Engine(2, executor=LocalExecutor(MemoryLimit(16 * 8.0 * 1300 * 4)))
    monkeypatch.setattr(MemoryLimit, "measure_left", lambda *_: 1e9)
    there.fit_with(engine, map_rows(tmp_path / "X.npy"), labels)
    expansions = [
        (one.model, other.model)
        for one, other in zip(
            here.model_.committee.members, there.model_.committee.members, strict=True
        )
        if isinstance(one.model, KernelExpansion)
    ]
    assert len(expansions) > 2
    assert all(other.spilled is not None and one.spilled is None for one, other in expansions)
    assert here.predict_proba(rows).tobytes() == there.predict_proba(rows).tobytes()
    assert here.predict(rows[:1]) == there.predict(rows[:1])
    for clf, name in ((here, "here"), (there, "there")):
        save(clf, tmp_path / name)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    again = pickle.loads(pickle.dumps(there))
    assert again.predict_proba(rows).tobytes() == here.predict_proba(rows).tobytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["X.npy", "here", "there"]


def test_support_vectors_stay_in_memory_without_a_limit_or_with_a_large_one(tmp_path):
    require_plugins()
    np.save(tmp_path / "X.npy", X)
    for limit in (None, MemoryLimit(1e12)):
        clf = DivideAndConquerClassifier("chunks", "kernel_svm", "mean", random_state=0)
        engine = Engine(executor=LocalExecutor(limit))
        clf.fit_with(engine, map_rows(tmp_path / "X.npy"), y)
        assert all(member.model.spilled is None for member in clf.model_.committee.members)
