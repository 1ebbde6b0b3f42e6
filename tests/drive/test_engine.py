"""The engine: rounds, order, observers, checkpoints, interruption."""

import copy
import time
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Rest, blobs
from threadpoolctl import threadpool_info

from dcsvm import (
    Decomposer,
    DivideAndConquerClassifier,
    LocalLearner,
    Part,
    Problem,
    Task,
    component,
)
from dcsvm.base.errors import ContractError
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.drive.engine import TOGETHER, Engine, bundle_jobs
from dcsvm.drive.observers import Observer
from dcsvm.drive.task_batch import TaskBatch
from dcsvm.toolbox import Columns, Constant, RowIdUnion

X, y = blobs()


class Kept(dict):
    """Checkpoints in memory, with a count of what was found."""

    found = 0

    def get(self, key):
        outcome = super().get(key)
        self.found += outcome is not None
        return outcome

    def put(self, key, outcome):
        assert key not in self
        self[key] = outcome


def nested(jitter=0.5):
    inner = DivideAndConquerClassifier(Rest(), Centroids(jitter), Average())
    return DivideAndConquerClassifier(Deal(3), inner, Average(), random_state=0)


def test_a_finished_part_is_not_trained_again_at_any_depth():
    kept = Kept()
    first = nested().fit_with(Engine(checkpoints=kept), X, y)
    assert (len(kept), kept.found) == (9, 0)
    again = nested().fit_with(Engine(checkpoints=kept), X, y)
    assert (len(kept), kept.found) == (9, 9)
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))


def test_checkpoints_change_nothing():
    plain = nested().fit(X, y)
    kept = nested().fit_with(Engine(checkpoints=Kept()), X, y)
    np.testing.assert_array_equal(plain.decision_function(X), kept.decision_function(X))


@pytest.mark.parametrize(
    "other",
    [
        lambda kept: nested(0.6).fit_with(Engine(checkpoints=kept), X, y),
        lambda kept: nested().fit_with(Engine(checkpoints=kept), X + 1, y),
        lambda kept: nested().fit_with(Engine(checkpoints=kept), X, y, np.arange(1.0, 121.0)),
        lambda kept: nested().set_params(random_state=1).fit_with(Engine(checkpoints=kept), X, y),
    ],
    ids=["settings", "data", "weights", "seed"],
)
def test_other_work_finds_nothing_in_the_checkpoints(other):
    kept = Kept()
    nested().fit_with(Engine(checkpoints=kept), X, y)
    other(kept)
    assert kept.found == 0


def test_observers_hear_of_every_round_and_part():
    heard = []

    class Listener(Observer):
        def on_round_begin(self, n_jobs):
            heard.append(n_jobs)

        def on_part_done(self, job, outcome):
            heard.append(outcome.n_rows)

        def on_round_end(self):
            heard.append("end")

    clf = DivideAndConquerClassifier(Deal(3), Centroids(), Average(), random_state=0)
    clf.fit_with(Engine(observers=(Listener(),)), X, y)
    assert heard == [3, 40, 40, 40, "end"]


@component
class Failing(LocalLearner):
    name = "failing"

    def fit(self, problem):
        raise RuntimeError("no luck")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_learners_error_comes_through_as_it_is(n_jobs):
    clf = DivideAndConquerClassifier(Deal(4), Failing(), Average(), n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match="no luck"):
        clf.fit(X, y)


@component
class Windows(Decomposer):
    """Two parts that look at the same columns."""

    name = "windows"
    yields = frozenset({"subsets"})

    def divide(self, problem):
        view = Columns(np.array([1]))
        halves = np.array_split(np.arange(problem.n_rows), 2)
        yield [Part(rows, view=view) for rows in halves]


def test_parts_of_one_view_have_one_view_also_when_they_come_from_elsewhere():
    class Copied(Kept):
        def get(self, key):
            return copy.deepcopy(super().get(key))

    kept = Copied()
    clf = DivideAndConquerClassifier(Windows(), Centroids(), Average(), random_state=0)
    for _ in range(2):
        clf.fit_with(Engine(checkpoints=kept), X, y)
        first, second = clf.model_.committee.members
        assert first.view is second.view
    assert kept.found == 2


@component
class CountingThreads(Centroids):
    """Says in its scores how many threads BLAS had while it learned."""

    def fit(self, problem):
        threads = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
        return Constant(float(max(threads)))


@component
class CountingThreadsAlone(CountingThreads):
    releases_gil = False


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("learner", [CountingThreads(), CountingThreadsAlone()])
def test_blas_has_one_thread_for_each_part_and_its_own_number_afterwards(learner, n_jobs):
    before = threadpool_info()
    clf = DivideAndConquerClassifier(Deal(4), learner, Average(), n_jobs=n_jobs)
    clf.fit(X[y < 2], y[y < 2])
    assert [member.model.value for member in clf.model_.committee.members] == [1.0] * 4
    assert threadpool_info() == before


def test_the_largest_parts_begin_first_and_come_back_in_the_order_they_were_given():
    begun = []

    class Sized:
        learner, is_nested, can_be_batched, bytes_read = Centroids(), False, False, 0

        def __init__(self, n_rows):
            self.n_rows, self.seconds = n_rows, 0.0

        def run(self):
            begun.append(self.n_rows)
            time.sleep(0.02)
            return self

    def rounds():
        done = yield [Sized(n_rows) for n_rows in (1, 5, 2, 6)]
        return [outcome.n_rows for outcome in done]

    assert Engine(n_jobs=2).run(rounds()) == [1, 5, 2, 6]
    assert set(begun[:2]) == {5, 6}


def test_small_parts_of_one_learner_share_a_call_and_are_told_one_by_one():
    calls = []

    @component
    class Together(Centroids):
        def fit(self, problem):
            return super().fit(problem)

        def fit_together(self, problems):
            calls.append([problem.n_rows for problem in problems])
            return [self.fit(problem) for problem in problems]

    class Counter(Observer):
        done = 0

        def on_part_done(self, job, outcome):
            self.done += 1

    observer = Counter()
    plain = DivideAndConquerClassifier(Deal(5), Centroids(), Average(), random_state=0).fit(X, y)
    joined = DivideAndConquerClassifier(Deal(5), Together(), Average(), random_state=0)
    joined.fit_with(Engine(n_jobs=1, observers=(observer,)), X, y)
    assert [len(call) for call in calls] == [5]
    assert observer.done == 5
    np.testing.assert_array_equal(plain.decision_function(X), joined.decision_function(X))


@pytest.mark.parametrize(("rows", "sizes"), [(300, [66, 66, 66, 66, 36]), (30, [256, 44])])
def test_a_call_has_so_many_parts_and_so_many_rows_at_most(rows, sizes):
    jobs = [SimpleNamespace(n_rows=rows, can_be_batched=True, learner=None)] * 300
    bundles = list(bundle_jobs(list(enumerate(jobs)), TOGETHER))
    assert [len(bundle) for bundle in bundles] == sizes
    assert [number for bundle in bundles for number, _ in bundle] == list(range(300))


def test_a_learner_with_a_fit_of_its_own_is_not_passed_by():
    @component
    class Together(Centroids):
        def fit(self, problem):
            return super().fit(problem)

        def fit_together(self, problems):
            raise AssertionError("made for another fit")

    @component
    class Own(Together):
        def fit(self, problem):
            return super().fit(problem)

    DivideAndConquerClassifier(Deal(5), Own(), Average(), n_jobs=1).fit(X, y)
    with pytest.raises(AssertionError, match="another fit"):
        DivideAndConquerClassifier(Deal(5), Together(), Average(), n_jobs=1).fit(X, y)


ROWS, LABELS = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 2])
JOINED = [
    Part(RowIdUnion((np.array([4, 1]), np.array([0, 3]))), task=Task((0,), (1,))),
    Part(RowIdUnion((np.array([2, 5]), np.array([0, 1]))), task=Task((2,), (0,))),  # drops row 1
    Part(
        RowIdUnion((np.array([3]), np.array([0]))), task=Task((0, 1), (2,))
    ),  # one side, no class 1
    Part(RowIdUnion((np.array([3]), np.array([0]))), task=Task((1,), (2,))),  # no rows are left
]
OTHERS = [
    Part(np.array([5, 0, 1]), task=Task((0,), (1, 2))),
    Part(RowIdUnion((np.array([1]), np.array([0])))),
    Part(RowIdUnion((np.array([1]), np.array([0]))), task=Task((0,), (1,)), view=Columns([1])),
]


def make_jobs(parts, weights=None):
    given, learner = Problem(ROWS, LABELS, 3, weights=weights), Centroids()
    return [
        Subproblem(given, each, learner, Seed(0, (place,))) for place, each in enumerate(parts)
    ]


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 7.0)], ids=["equal", "weighted"])
def test_parts_with_tasks_are_cut_together_as_one_by_one(weights):
    jobs = make_jobs(JOINED, weights)
    cuts, batch = [job.extract() for job in jobs], TaskBatch.of(jobs)
    two_sided = [cut for cut in cuts if cut.n_classes > 1]
    stack = batch.stack()
    assert len(stack) == len(two_sided) == 2
    for mine, theirs in zip(stack, [cut.problem for cut in two_sided], strict=True):
        for field in ("X", "y", "weights", "rows"):
            one, other = getattr(mine, field), getattr(theirs, field)
            np.testing.assert_array_equal(one, other)
            assert one is other is None or one.dtype == other.dtype
        assert (mine.seed, mine.whole, mine.total_rows) == (theirs.seed, theirs.whole, 6)
    found = batch.results(map(Centroids().fit, stack), 0.5)
    for mine, cut in zip(found, cuts, strict=True):
        theirs = cut.result(cut.constant() or Centroids().fit(cut.problem), 0.5)
        assert mine.n_rows == theirs.n_rows
        assert (mine.view, mine.seconds) == (None, 0.5)
        for one, other in ((mine.code, theirs.code), (mine.support, theirs.support)):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        np.testing.assert_array_equal(mine.model.scores(ROWS), theirs.model.scores(ROWS))


@pytest.mark.parametrize("odd", OTHERS)
def test_other_parts_are_cut_one_by_one(odd):
    assert TaskBatch.of(make_jobs(JOINED)) is not None
    assert TaskBatch.of(make_jobs([*JOINED, odd])) is None


def test_a_learner_must_give_a_model_for_each_problem():
    @component
    class Forgetful(Centroids):
        name = "forgetful"

        def fit(self, problem):
            return super().fit(problem)

        def fit_together(self, problems):
            return [self.fit(problem) for problem in problems[1:]]

    clf = DivideAndConquerClassifier(Deal(5), Forgetful(), Average(), n_jobs=1)
    with pytest.raises(ContractError, match=r"forgetful 0\.0: .* returned 4 models of 5 problems"):
        clf.fit(X, y)
