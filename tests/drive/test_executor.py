"""Executors in this process: what the engine asks of them, and how one is chosen."""

import threading
import time

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, blobs

import dcsvm
from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import UsageError
from dcsvm.base.subproblem import FitResult
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive.engine import LOCAL, Engine, add_waiting, choose_executor, run_bundle
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


class Slow(Centroids):
    """Takes a twentieth of a second for a part; in processes, unless it releases the GIL."""

    releases_gil = True

    def fit(self, problem):
        time.sleep(0.05)
        return super().fit(problem)


class SlowInProcesses(Slow):
    releases_gil = False


@pytest.mark.parametrize("learner", [Slow(), SlowInProcesses()])
def test_the_ledger_tells_how_long_parts_waited_in_threads_and_processes(learner):
    clf = DivideAndConquerClassifier(Deal(6), learner, Average(), random_state=0, n_jobs=2)
    began = time.perf_counter()
    waited = [record.account["waited"] for record in clf.fit(X, y).ledger_]
    spent = time.perf_counter() - began
    # Two are in training and two in line, so that most wait for about the time of another one.
    assert sorted(waited)[2] > 0.03
    assert sum(waited) < 4 * spent - 6 * 0.05


def test_parts_that_are_trained_in_turn_do_not_wait():
    assert [record.account["waited"] for record in dealt().fit(X, y).ledger_] == [0.0] * 3


def test_parts_that_were_away_together_share_the_waiting_by_their_rows():
    results = [FitResult(None, None, np.zeros((1, 2)), X[:0], rows, 0.25) for rows in (10, 30)]
    shared = list(add_waiting(list(enumerate(results)), 2.5))
    assert [outcome.account["waited"] for _, outcome in shared] == [0.5, 1.5]
