"""Executors in this process: what the engine asks of them, and how one is chosen."""

import threading

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, blobs

import dcsvm
from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import UsageError
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive.engine import LOCAL, Engine, choose_executor, run_bundle
from dcsvm.drive.executor import Executor

X, y = blobs()


class Backwards(Executor):
    """Runs the last job first."""

    def __init__(self):
        self.rounds = []

    def count_cores(self, n_jobs):
        return 1

    def stream(self, jobs, n_jobs):
        self.rounds.append((len(jobs), n_jobs))
        for numbered in reversed(jobs):
            yield from run_bundle([numbered])


def dealt(**settings):
    return DivideAndConquerClassifier(
        Deal(3), Centroids(0.5), Average(), random_state=0, **settings
    )


def test_fits_in_a_cluster_block_run_on_its_executor_with_the_same_bits():
    here, backwards = dealt().fit(X, y), Backwards()
    with dcsvm.cluster(backwards) as executor:
        there = dealt(n_jobs=2).fit(X, y)
        assert executor is backwards is choose_executor()
    assert choose_executor() is LOCAL
    assert backwards.rounds == [(3, 2)]
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_a_cluster_block_is_not_seen_by_other_threads():
    seen = []
    with dcsvm.cluster(Backwards()):
        thread = threading.Thread(target=lambda: seen.append(choose_executor()))
        thread.start()
        thread.join()
    assert seen == [LOCAL]


def test_a_cluster_block_ends_with_its_error():
    with pytest.raises(ZeroDivisionError), dcsvm.cluster(Backwards()):
        1 / 0  # noqa: B018
    assert choose_executor() is LOCAL


def test_an_engine_keeps_the_executor_that_it_was_made_with():
    backwards = Backwards()
    engine = Engine(executor=backwards)
    dealt().fit_with(engine, X, y)
    assert len(backwards.rounds) == 1


def test_something_else_is_no_cluster():
    with pytest.raises(UsageError, match=r"a client of Dask .* or an Executor, got a str"):  # noqa: SIM117
        with dcsvm.cluster("tcp://host:8786"):
            pass


def test_the_ledger_tells_when_a_part_began_and_what_was_read(tmp_path):
    np.save(tmp_path / "X.npy", X)
    rows = map_rows(tmp_path / "X.npy")
    accounts = [record.account for record in dealt().fit(rows, y).ledger_]
    assert all(each["began"] > 1e9 for each in accounts)
    assert sum(each["bytes_read"] for each in accounts) == X.nbytes
