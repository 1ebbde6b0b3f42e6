"""The drive of the whole: divide, train, combine."""

import re

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Everything, Regional, Rest, Slow, Strips, blobs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dcsvm import (
    DataError,
    Decomposer,
    DivideAndConquerClassifier,
    Division,
    GranularitySearch,
    Part,
    Task,
    component,
    part,
    support_of,
)
from dcsvm.base.errors import CompositionError, ContractError, SettingError
from dcsvm.toolbox import together

X, y = blobs()


def fitted(decomposer, learner=None, combiner=None, **others):
    others.setdefault("random_state", 0)
    learner, combiner = learner or Centroids(), combiner or Average()
    return DivideAndConquerClassifier(decomposer, learner, combiner, **others).fit(X, y)


def test_the_undivided_pipeline_answers_like_its_learner():
    clf = fitted(Everything())
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(clf.predict(X), nearest)


@pytest.mark.parametrize("n_jobs", ["x", 0, 1.5])
def test_a_number_of_jobs_that_is_none_is_refused_wherever_it_is_used(n_jobs):
    message = (
        "n_jobs must be a whole number other than 0 (-1 means as many as there are cores) or "
        f"None, got {n_jobs!r}"
    )
    search = GranularitySearch(DivideAndConquerClassifier(), n_jobs=n_jobs)
    model = fitted(Everything()).set_params(n_jobs=n_jobs)
    for ask in (
        lambda: fitted(Everything(), n_jobs=n_jobs),
        lambda: search.fit(X, y),
        lambda: model.predict(X),
        lambda: model.decision_function(X),
        lambda: model.cost(X),
    ):
        with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
            ask()


def test_regions_answer_only_for_their_own_rows():
    clf = fitted(Strips(4), combiner=Regional())
    members = clf.model_.committee.members
    home = clf.model_.committee.groups[0].router.find_strip(X)
    scores = clf.decision_function(X)
    for strip, member in enumerate(members):
        mine = np.flatnonzero(home == strip)
        values, _ = member.answer(X[mine])
        known = np.flatnonzero(member.code.any(axis=0))
        expected = (values @ member.code)[:, known]
        np.testing.assert_allclose(scores[np.ix_(mine, known)], expected)


def test_a_part_of_one_class_is_answered_by_the_core():
    @component
    class ByClass(Decomposer):
        name = "by_class"
        yields = frozenset({"subsets"})

        def divide(self, problem):
            yield [part(problem.rows_of(0)), part(np.arange(problem.n_rows))]

    clf = fitted(ByClass())
    assert type(clf.model_.committee.members[0].model).__name__ == "Constant"
    assert clf.model_.committee.members[0].code.tolist() == [[1, 0, 0]]


def test_a_class_that_no_member_knows_stands_below_all_others():
    @component
    class WithoutTwo(Decomposer):
        name = "without_two"
        yields = frozenset({"subsets"})
        covers = False

        def divide(self, problem):
            yield [part(problem.rows_of(0), problem.rows_of(1))]

    scores = fitted(WithoutTwo()).decision_function(X)
    assert np.isfinite(scores).all()
    assert (scores[:, 2] < scores[:, :2].min(axis=1)).all()
    assert (scores[:, 2] <= -1).all()


def test_a_task_with_one_side_present_still_has_an_answer():
    @component
    class HalfPair(Decomposer):
        name = "half_pair"
        yields = frozenset({"class pairs"})

        def divide(self, problem):
            yield [
                Part(problem.rows_of(1), task=Task((0,), (1,))),
                Part(np.arange(problem.n_rows), task=Task((0, 2), (1,))),
            ]

    clf = fitted(HalfPair())
    first, second = clf.model_.committee.members
    assert first.code.tolist() == [[0, -1, 0]]
    assert first.answer(X[:2])[0].tolist() == [[-1.0], [-1.0]]
    assert second.code.tolist() == [[1, -1, 1]]


def test_rows_that_a_task_leaves_out_never_reach_the_learner():
    @component
    class OnePair(Decomposer):
        name = "one_pair"
        yields = frozenset({"class pairs"})

        def divide(self, problem):
            yield [Part(np.arange(problem.n_rows), task=Task((0,), (2,)))]

    assert [record.rows for record in fitted(OnePair()).ledger_] == [80]


def test_the_cascade_of_the_design_runs_as_it_stands_there():
    @component
    class Cascade(Decomposer):
        name = "cascade"
        yields = frozenset({"one part"})

        def halves(self, problem):
            for label in range(2):
                rows = problem.rows_of(label)
                yield from np.array_split(problem.seed.generator().permutation(rows), 2)

        def divide(self, problem):
            p1, p2, n1, n2 = self.halves(problem)
            a, b, c, d = yield [part(p1, n1), part(p2, n2), part(p1, n2), part(p2, n1)]
            ab, cd = yield [support_of(a, b), support_of(c, d)]
            yield [support_of(ab, cd)]

    @component
    class HalfKeeper(Centroids):
        """Keeps the half of each class that is nearest to the other class."""

        def fit(self, problem):
            model = super().fit(problem)
            margin = np.abs(model.scores(problem.X)[:, 0])
            kept = np.concatenate(
                [
                    rows[np.argsort(margin[rows])[: max(1, len(rows) // 2)]]
                    for rows in (problem.rows_of(0), problem.rows_of(1))
                ]
            )
            return Keeping(model, kept)

    two = y < 2
    clf = DivideAndConquerClassifier(Cascade(), HalfKeeper(), Average(), random_state=0)
    clf.fit(X[two], y[two])
    stages = [record.path[0] for record in clf.ledger_]
    assert stages == [0, 0, 0, 0, 1, 1, 2]
    assert len(clf.model_.committee.members) == 1
    rows = [record.rows for record in clf.ledger_]
    assert rows[0] == 40
    assert rows[-1] < rows[0]
    assert clf.score(X[two], y[two]) > 0.9


class Keeping:
    """A model with a support set around another model."""

    facts: dict[str, float] = {}
    ledger = ()
    tells_support = True

    def __init__(self, model, support):
        self.model, self.support, self.duals = model, support, None

    def scores(self, X):
        return self.model.scores(X)


def test_generators_of_unequal_depth_run_side_by_side():
    def counting(depth):
        seen = []
        for step in range(depth):
            seen.append((yield [(depth, step)] * depth))
        return seen

    def replies(items):
        return [depth * 10 + step for depth, step in items]

    rounds = []
    work = together([counting(1), counting(3), counting(0), counting(2)])
    try:
        items = next(work)
        while True:
            rounds.append(items)
            items = work.send(replies(items))
    except StopIteration as stop:
        results = stop.value
    assert [len(items) for items in rounds] == [6, 5, 3]
    assert results == [[[10]], [[30] * 3, [31] * 3, [32] * 3], [], [[20] * 2, [21] * 2]]


def test_added_decomposers_keep_their_routers_and_get_their_own_seeds():
    clf = fitted(Strips(2) + Deal(3) + Deal(3))
    groups = clf.model_.committee.groups
    assert [(group.first, group.last) for group in groups] == [(0, 2), (2, 5), (5, 8)]
    assert [group.router is None for group in groups] == [False, True, True]
    members = clf.model_.committee.members
    assert not np.array_equal(members[2].model.weights, members[5].model.weights)


def test_names_can_be_added_on_either_side_and_other_things_on_none():
    strips, deal = Strips(2), Deal(3)
    assert ("tree" + strips).summands == ("tree", strips)
    assert (strips + "tree").summands == (strips, "tree")
    assert ("tree" + (strips + deal)).summands == ("tree", strips, deal)
    assert sum([strips, deal]).summands == (strips, deal)
    for wrong in (3, 0.0, None, Centroids()):
        with pytest.raises(TypeError, match="unsupported operand"):
            strips + wrong
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong + strips


def test_a_repeated_decomposer_is_a_sum_of_itself():
    clf = fitted(3 * Deal(2))
    assert len(clf.model_.committee.groups) == 3
    assert clf.get_params()["decomposer__decomposer__parts"] == 2
    summed = fitted(Deal(2) + Deal(2) + Deal(2))
    np.testing.assert_array_equal(clf.decision_function(X), summed.decision_function(X))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pipelines_nest_to_any_depth(depth):
    learner = Centroids()
    for _ in range(depth):
        learner = DivideAndConquerClassifier(Rest(), learner, Average())
    clf = fitted(Deal(2), learner)
    assert clf.score(X, y) > 0.9
    assert max(len(record.path) for record in clf.ledger_) == 2 * (depth + 1)


def test_a_nested_pipeline_gives_the_same_bits_taken_apart_or_in_one_go(monkeypatch):
    nested = DivideAndConquerClassifier(Deal(3), Centroids(jitter=0.5), Average())
    apart = fitted(Deal(4), nested).decision_function(X)
    monkeypatch.setattr("dcsvm.drive.engine.FEW_JOBS", 0)
    run_inline = fitted(Deal(4), nested).decision_function(X)
    np.testing.assert_array_equal(apart, run_inline)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [Centroids(0.5, 0.02), Slow(0.5, 0.02)], ids=["threads", "processes"]
)
def test_the_result_does_not_depend_on_the_number_of_jobs(learner):
    alone = fitted(Deal(6), learner, n_jobs=1)
    both = fitted(Deal(6), learner, n_jobs=2)
    np.testing.assert_array_equal(alone.decision_function(X), both.decision_function(X))
    assert [r.rows for r in alone.ledger_] == [r.rows for r in both.ledger_]


def test_an_outer_parallel_config_is_respected(monkeypatch):
    import joblib

    asked = []
    original = joblib.Parallel.__init__

    def spy(self, *args, **kwargs):
        original(self, *args, **kwargs)
        asked.append((self.n_jobs, type(self._backend).__name__))

    monkeypatch.setattr(joblib.Parallel, "__init__", spy)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        fitted(Deal(4))
    assert asked == [(2, "ThreadingBackend")]


def test_the_seed_decides_and_the_same_seed_decides_the_same():
    first, again = fitted(Deal(3)), fitted(Deal(3))
    other = fitted(Deal(3), random_state=1)
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
    assert not np.array_equal(first.decision_function(X), other.decision_function(X))


def test_a_decomposer_may_name_the_members_that_predict():
    @component
    class FirstStage(Decomposer):
        name = "first_stage"
        yields = frozenset({"subsets"})

        def divide(self, problem):
            members = yield [part(rows) for rows in np.array_split(np.arange(problem.n_rows), 4)]
            yield [part(np.arange(problem.n_rows))]
            return Division(members=members[:2])

    clf = fitted(FirstStage())
    assert len(clf.model_.committee.members) == 2
    assert len(clf.ledger_) == 5


def test_a_part_may_bring_its_own_learner_weights_and_facts():
    @component
    class Own(Decomposer):
        name = "own"
        yields = frozenset({"subsets"})

        def divide(self, problem):
            rows = np.arange(problem.n_rows)
            weights = np.where(problem.y == 0, 1.0, 2.0)
            yield [Part(rows, learner=Slow(), weights=weights, about={"why": "a test"})]

    (record,) = fitted(Own()).ledger_
    assert record.learner == "slow"
    assert record.about == {"why": "a test"}


def test_grid_search_reaches_nested_settings():
    nested = DivideAndConquerClassifier(Deal(2), Centroids(), Average())
    clf = DivideAndConquerClassifier(Strips(2), nested, Regional(), random_state=0)
    grid = {"decomposer__strips": [1, 2], "learner__learner__jitter": [0.0, 5.0]}
    search = GridSearchCV(clf, grid, cv=3).fit(X, y)
    assert search.best_params_["learner__learner__jitter"] == 0.0
    assert clone(search.best_estimator_).get_params()["learner__learner__jitter"] == 0.0


def test_a_combiner_that_does_not_fit_is_refused_before_training():
    sentence = (
        "combiner 'regional' does not fit decomposer 'deal', which yields subsets: "
        "it works with one part, regions; combiners that fit: "
    )
    with pytest.raises(CompositionError) as error:
        fitted(Deal(2), combiner=Regional())
    assert str(error.value).startswith(sentence)


def test_a_nested_combiner_that_does_not_fit_is_refused_before_training():
    nested = DivideAndConquerClassifier(Deal(2), Centroids(), Regional())
    trained = []

    @component
    class Telling(Deal):
        def divide(self, problem):
            trained.append(self.name)
            yield from super().divide(problem)

    with pytest.raises(CompositionError):
        fitted(Telling(2), nested)
    assert trained == []


def test_what_is_not_a_component_is_refused_in_a_sentence():
    with pytest.raises(
        SettingError, match=r"^learner must be a LocalLearner or the name of one, got 3$"
    ):
        fitted(Everything(), 3)


def test_one_class_only_is_refused_in_a_sentence():
    clf = DivideAndConquerClassifier(Everything(), Centroids(), Average())
    sentence = r"^y has only one class \('a'\); a classifier needs at least two$"
    with pytest.raises(DataError, match=sentence):
        clf.fit(X, np.full(len(X), "a"))
    rows = int((y == 1).sum())
    sentence = rf"^y has only one class in the {rows} rows with positive weight \(1\); a class"
    with pytest.raises(DataError, match=sentence):
        clf.fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("form", [list, lambda labels: np.array(labels, dtype=object)])
@pytest.mark.parametrize(("other", "told"), [(1, "1"), (2.5, "2.5")])
def test_labels_of_which_some_are_texts_are_refused_in_a_sentence(form, other, told):
    clf = DivideAndConquerClassifier(Everything(), Centroids(), Average())
    labels = form(["a", other, "b"] * (len(X) // 3))
    sentence = (
        f"^y mixes texts with other labels: 'a', and {told} in row 1; make all of them texts or "
        "all of them numbers, and leave out rows without a label$"
    )
    with pytest.raises(DataError, match=sentence):
        clf.fit(X, labels)
    with pytest.raises(DataError, match=sentence):
        GranularitySearch(clf, {}).fit(X, labels)
    with pytest.raises(DataError, match=sentence.replace("^y", "^y_val")):
        GranularitySearch(clf, {}).fit(X, y, X_val=X, y_val=labels)


@pytest.mark.parametrize("form", [list, lambda labels: np.array(labels, dtype=object)])
def test_rows_without_a_label_are_counted(form):
    labels = form(["a", None, "b"] * (len(X) // 3))
    clf = DivideAndConquerClassifier(Everything(), Centroids(), Average())
    sentence = (
        rf"^y has no label \(None\) in {len(X) // 3} rows of {len(X)}, the first is 0: 1, 4,"
    )
    for each in (clf, GranularitySearch(clf, {})):
        with pytest.raises(DataError, match=sentence):
            each.fit(X, labels)


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ([], "odd yielded a stage without parts"),
        ([3], "odd yielded a int instead of a Part"),
        ([Part(np.zeros(0, dtype=int))], "odd yielded part 0 without rows"),
        ([part([999])], "odd yielded part 0 with row 999, but the problem's rows are 0 to 119"),
        ([part([3, -1])], "odd yielded part 0 with row -1, but the problem's rows are 0 to 119"),
        (
            [Part(np.array([1.5, 2.0]))],
            "odd yielded part 0 with rows of float64, but it needs an array of row ids",
        ),
        ([Part([1, 2])], "odd yielded part 0 with rows of list, but it needs an array of row ids"),
        (
            [Part(np.arange(120), weights=np.ones(3))],
            "odd yielded part 0 with weights of shape (3,), but it needs one number for each of "
            "its 120 rows",
        ),
    ],
)
def test_a_decomposer_that_breaks_the_contract_is_named(stage, sentence):
    @component
    class Odd(Decomposer):
        name = "odd"
        yields = frozenset({"subsets"})

        def divide(self, problem):
            yield stage

    with pytest.raises(ContractError) as error:
        fitted(Odd())
    assert str(error.value) == sentence


def test_row_weights_of_zero_are_rows_that_are_not_there():
    weights = np.where(np.arange(len(X)) < 60, 1.0, 0.0)
    clf = DivideAndConquerClassifier(Deal(2), Centroids(), Average(), random_state=0)
    weighted = clone(clf).fit(X, y, sample_weight=weights)
    dropped = clone(clf).fit(X[:60], y[:60])
    np.testing.assert_array_equal(weighted.decision_function(X), dropped.decision_function(X))


def test_members_of_one_class_keep_all_their_rows():
    @component
    class Sorted(Decomposer):
        name = "sorted"
        yields = frozenset({"one part"})

        def divide(self, problem):
            first, second = yield [part(problem.rows_of(0)), part(problem.rows_of(1))]
            yield [support_of(first, second)]

    assert [record.rows for record in fitted(Sorted()).ledger_] == [40, 40, 80]


def test_a_learner_without_support_vectors_cannot_serve_a_cascade():
    @component
    class Twice(Decomposer):
        name = "twice"
        yields = frozenset({"one part"})

        def divide(self, problem):
            members = yield [part(np.arange(problem.n_rows))]
            yield [support_of(*members)]

    with pytest.raises(CompositionError) as error:
        fitted(Twice())
    assert str(error.value) == (
        "the decomposer needs support vectors, and the learner's models have none; use a "
        "learner with support vectors, such as kernel_svm"
    )
