"""A cluster of Dask: the bits of a local fit, little traffic, lost workers, errors as they are."""

import contextlib
import errno
import os
import signal
import threading
import time

import numpy as np
import pytest
from fakes import Average, Centroids, Deal

import dcsvm
from dcsvm import DivideAndConquerClassifier, LocalLearner, build, component
from dcsvm.base.errors import ClusterError, UsageError
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive import row_runs
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of the built-in plugins")
nearby_rows = pytest.importorskip("dcsvm.drive.nearby_rows")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 6))
y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
NEW = rng.normal(size=(200, 6))


@pytest.fixture(scope="module")
def client():
    from dcsvm.drive import dask_executor  # noqa: F401

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": None}
    with (
        distributed.LocalCluster(n_workers=2, processes=True, **options) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def wait_for_workers(client):
    """Wait for both; `client.wait_for_workers` asks a LocalCluster that may have missed one."""
    deadline = time.monotonic() + 60
    while len(client.nthreads()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def made(decomposer, learner, combiner, **settings):
    return DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0, **settings)


FOREST = build("decomposer", "tree", ceiling=150, splitter="random")
NESTED = made(build("decomposer", "tree", ceiling=300), "kernel_svm", "route")
STRATEGIES = {
    "tree": lambda: made(build("decomposer", "tree", ceiling=100), "kernel_svm", "route"),
    "forest": lambda: made(FOREST * 3, "kernel_svm", "mean"),
    "oblique": lambda: made(build("decomposer", "oblique_tree", deepest=1), "krr", "route"),
    "chunks": lambda: made("chunks", "kernel_svm", "mean"),
    "pairs": lambda: made("class_pairs", "kernel_svm", "vote", probability="auto"),
    "nested": lambda: made("bootstrap", NESTED, "mean"),
    "nested pairs": lambda: made(
        build("decomposer", "tree", ceiling=400),
        made("class_pairs", "kernel_svm", "vote"),
        "route",
    ),
    "cascade": lambda: made("cascade", "kernel_svm", "route"),
    "graf": lambda: made("graf_cascade", "kernel_svm", "route"),
    "subspaces": lambda: made("rd_subspaces", "kernel_svm", "fusion"),
    "processes": lambda: made("chunks", "lasvm", "mean"),
}


def bits(clf):
    return clf.decision_function(NEW).tobytes()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_cluster_gives_the_bits_of_one_core_and_of_two(client, name):
    binary = name in ("cascade", "oblique")
    labels = np.minimum(y, 1) if binary else y
    one, two, there = (STRATEGIES[name]() for _ in range(3))
    one.fit(X, labels)
    two.set_params(n_jobs=1 if name == "processes" else 2).fit(X, labels)
    with dcsvm.cluster(client):
        there.fit(X, labels)
    assert bits(one) == bits(two) == bits(there)
    assert [each.path for each in there.ledger_] == [each.path for each in one.ledger_]


def test_sparse_rows_and_weights_give_the_same_bits(client):
    from scipy import sparse

    rows, weights = sparse.csr_array(np.where(X > 0.5, X, 0.0)), np.linspace(1, 2, len(X))
    here, there = (made("chunks", "kernel_svm", "mean") for _ in range(2))
    here.fit(rows, y, weights)
    with dcsvm.cluster(client):
        there.fit(rows, y, weights)
    assert bits(here) == bits(there)


def test_the_ledger_tells_workers_and_bytes(client):
    clf = STRATEGIES["tree"]()
    with dcsvm.cluster(client):
        clf.fit(X, y)
    accounts = [record.account for record in clf.ledger_]
    assert {each["worker"] for each in accounts} == {"0", "1"}
    assert all(each["waited"] >= 0 and each["began"] > 1e9 for each in accounts)
    moved = sum(each["bytes_sent"] + each["bytes_returned"] for each in accounts)
    assert X.nbytes < moved < 4 * X.nbytes  # names and settings weigh much in small parts


@pytest.mark.parametrize(
    "name", ["tree", "oblique", "pairs", "nested pairs", "cascade", "subspaces"]
)
def test_rows_in_memory_are_read_by_workers_of_this_machine(client, name, monkeypatch):
    monkeypatch.setattr(nearby_rows, "LEAST_BYTES", 1000)
    labels = np.minimum(y, 1) if name in ("cascade", "oblique") else y
    here, there = (STRATEGIES[name]().fit(X, labels), STRATEGIES[name]())
    with dcsvm.cluster(client):
        there.fit(X, labels)
    assert bits(here) == bits(there)
    assert sum(record.account.get("bytes_read", 0) for record in there.ledger_) >= X.nbytes


def test_a_worker_that_does_not_see_the_file_is_sent_the_rows(client, monkeypatch):
    rows = rng.normal(size=(6000, 30))
    asked = []

    def is_seen_by(self, worker):  # the first parcels are packed as if all workers saw it
        asked.append(worker)
        return len(asked) <= 4

    monkeypatch.setattr(nearby_rows, "LEAST_BYTES", 1000)
    monkeypatch.setattr(nearby_rows.NearbyRows, "is_seen_by", is_seen_by)
    here, there = (made(Deal(4), Centroids(), Average()) for _ in range(2))
    here.fit(rows, rows[:, 0] > 0)
    with dcsvm.cluster(client):
        there.fit(rows, rows[:, 0] > 0)
    np.testing.assert_array_equal(here.decision_function(rows), there.decision_function(rows))
    assert sum(record.account["bytes_sent"] for record in there.ledger_) > rows.nbytes / 2


def test_rows_of_a_file_are_read_by_the_workers(client, tmp_path):
    rows = rng.normal(size=(6000, 30))
    np.save(tmp_path / "X.npy", rows)
    here, there = (made(Deal(4), Centroids(), Average()) for _ in range(2))
    here.fit(rows, rows[:, 0] > 0)
    with dcsvm.cluster(client):
        there.fit(map_rows(tmp_path / "X.npy"), rows[:, 0] > 0)
    np.testing.assert_array_equal(here.decision_function(rows), there.decision_function(rows))
    accounts = [record.account for record in there.ledger_]
    assert sum(each["bytes_read"] for each in accounts) == rows.nbytes
    assert sum(each["bytes_sent"] for each in accounts) < rows.nbytes / 8


def test_gathered_rows_are_read_by_the_workers(client, tmp_path, monkeypatch):
    monkeypatch.setattr(row_runs, "SMALL_FILE", 0)
    monkeypatch.setattr(row_runs, "measure_available", lambda: 0.0)
    rows = rng.normal(size=(6000, 30))
    np.save(tmp_path / "X.npy", rows)
    tree = build("decomposer", "tree", ceiling=300)
    here, there = (made(tree, "linear_svm", "route") for _ in range(2))
    here.fit(rows, rows[:, 0] > 0.1 * rows[:, 1])
    with dcsvm.cluster(client):
        there.fit(map_rows(tmp_path / "X.npy"), rows[:, 0] > 0.1 * rows[:, 1])
    np.testing.assert_array_equal(here.decision_function(rows), there.decision_function(rows))
    assert sum(record.account["bytes_sent"] for record in there.ledger_) < rows.nbytes / 8
    assert [each.name for each in tmp_path.iterdir()] == ["X.npy"]


def test_observers_and_checkpoints_work_as_locally(client):
    heard, kept = [], {}

    class Listener(Observer):
        def on_round_begin(self, n_jobs):
            heard.append(n_jobs)

        def on_part_done(self, job, outcome):
            heard.append(outcome.n_rows)

        def on_round_end(self):
            heard.append("end")

    class Kept:
        get = kept.get
        put = kept.__setitem__

    with dcsvm.cluster(client):
        clf = made(Deal(3), Centroids(), Average())
        clf.fit_with(Engine(observers=(Listener(),), checkpoints=Kept()), X, y)
    again = made(Deal(3), Centroids(), Average())
    again.fit_with(Engine(checkpoints=Kept()), X, y)
    assert heard == [3, 300, 300, 300, "end"]
    assert len(kept) == 3
    assert again.ledger_[0].account["worker"] in ("0", "1")


@component
class Refusing(LocalLearner):
    """Fails, as a learner of a script would."""

    name = "refusing"

    def fit(self, problem):
        raise OSError("no luck")


def test_a_learners_error_comes_through_as_it_is(client):
    with dcsvm.cluster(client), pytest.raises(OSError, match=r"^no luck\b"):
        made(Deal(4), Refusing(), Average()).fit(X, y)


@component
class Napping(Centroids):
    """Takes a while."""

    name = "napping"

    def fit(self, problem):
        time.sleep(0.1)
        return super().fit(problem)


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_n_jobs_limits_the_parts_in_training(client, n_jobs):
    clf = made(Deal(6), Napping(), Average(), n_jobs=n_jobs)
    with dcsvm.cluster(client):
        clf.fit(X, y)
    spans = sorted((r.account["began"], r.account["began"] + r.seconds) for r in clf.ledger_)
    at_once = max(sum(a <= began < b for a, b in spans) for began, _ in spans)
    assert at_once == (n_jobs or 2)


@pytest.mark.parametrize("kills", [1, 4])
def test_killed_workers_change_no_bit(client, kills):
    here = made(Deal(12), Napping(0.5), Average()).fit(X, y)
    killed, is_over = [], threading.Event()

    def kill():
        while len(killed) < kills and not is_over.wait(0.25):
            with contextlib.suppress(Exception):  # a worker may be gone before it can answer
                victim = list(client.run(os.getpid, on_error="ignore").values())[len(killed) % 2]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = threading.Thread(target=kill)
    thread.start()
    there = made(Deal(12), Napping(0.5), Average())
    with dcsvm.cluster(client):
        there.fit(X, y)
    is_over.set()
    thread.join()
    wait_for_workers(client)
    assert bits(here) == bits(there)
    assert killed
    again = sum(record.account.get("sent_again", 0) for record in there.ledger_)
    assert 1 <= again <= 2 * len(killed)  # a worker holds a part in training and one that waits
    assert not set(killed) & set(client.run(os.getpid).values())


def test_a_paused_worker_changes_no_bit_and_its_parts_wait(client, monkeypatch):
    from dcsvm.drive import dask_executor

    monkeypatch.setattr(dask_executor, "CHECK_SECONDS", 0.2)
    here = made(Deal(12), Napping(0.5), Average()).fit(X, y)
    stopped = client.run(os.getpid)[min(client.run(os.getpid))]

    def pause():
        time.sleep(0.15)
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(4)
        os.kill(stopped, signal.SIGCONT)

    thread = threading.Thread(target=pause)
    thread.start()
    there = made(Deal(12), Napping(0.5), Average())
    try:
        with dcsvm.cluster(client):
            there.fit(X, y)
    finally:
        thread.join()
    assert bits(here) == bits(there)
    assert not any("sent_again" in record.account for record in there.ledger_)


def fill_disk():
    """Let every write of a worker to its disk fail, as if there were no room."""
    from distributed.spill import zict

    def refuse(self, key, value):
        refused.append(key)
        raise OSError(errno.ENOSPC, "No space left on device")

    refused = zict.File.refused = []
    zict.File.__setitem__ = refuse


def count_refused():
    from distributed.spill import zict

    return len(zict.File.refused)


def test_a_worker_with_a_full_disk_changes_no_bit():
    import dask

    here = STRATEGIES["forest"]().fit(X, y)
    there = STRATEGIES["forest"]()
    spilling = {f"distributed.worker.memory.{key}": False for key in ("spill", "pause")}
    spilling["distributed.worker.memory.target"] = 1e-6  # whatever arrives goes to disk
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "1GB"}
    with (
        dask.config.set(spilling),
        distributed.LocalCluster(n_workers=2, processes=True, **options) as workers,
        distributed.Client(workers) as client,
        dcsvm.cluster(client),
    ):
        client.run(fill_disk)
        there.fit(X, y)
        refused = client.run(count_refused)
    assert bits(here) == bits(there)
    assert all(refused.values())


def test_an_asynchronous_client_is_refused(client):
    class Asynchronous(distributed.Client):
        def __init__(self):
            self.asynchronous_ = True

        asynchronous = True
        __del__ = close = lambda self: None

    with pytest.raises(UsageError, match="must be synchronous"):  # noqa: SIM117
        with dcsvm.cluster(Asynchronous()):
            pass


@component
class Deadly(LocalLearner):
    """Ends its worker, as one that needs too much memory would."""

    name = "deadly"

    def fit(self, problem):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_part_that_ends_worker_after_worker_is_named(client, monkeypatch):
    from dcsvm.drive import dask_executor

    monkeypatch.setattr(dask_executor, "TRIES", 2)
    with (
        dcsvm.cluster(client),
        pytest.raises(ClusterError, match=r"2 workers were lost .* deadly 0.0 \(900 rows\)"),
    ):
        made(Deal(1), Deadly(), Average()).fit(X, y)
