"""A second-level learner that weighs what the members say."""

import logging

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification

from dcsvm import (
    Committee,
    Decomposer,
    DivideAndConquerClassifier,
    Problem,
    SettingError,
    build,
    component,
    part,
)
from dcsvm.base.member import Member
from dcsvm.base.models import Hyperplanes
from dcsvm.base.routing import Division
from dcsvm.base.seed import Seed
from dcsvm.drive.registry import default_registry

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def fused(decomposer, learner="linear_svm", data=(X, Y), **settings):
    combiner = fusion(**settings)
    return DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0).fit(*data)


def fusion(**settings):
    """The combiner, with its learner built as a pipeline would build it."""
    return default_registry().resolve("combiner", build("combiner", "fusion", **settings))


def spaces(kind="rd", **settings):
    return build("decomposer", f"{kind}_subspaces", **settings)


@pytest.mark.parametrize("centre", ["rows", "classes"])
def test_scores_are_those_of_the_second_level_learner_on_standardised_answers(centre):
    clf = fused(spaces(subspaces=3), centre=centre)
    committee = clf.model_.committee
    said = np.column_stack([member.scores(X)[:, 0] for member in committee.members])
    if centre == "rows":
        mean, deviation = said.mean(axis=0), said.std(axis=0)
    else:
        mean = (said[Y == 0].mean(axis=0) + said[Y == 1].mean(axis=0)) / 2
        squares = (said - mean) ** 2
        deviation = np.sqrt((squares[Y == 0].mean(axis=0) + squares[Y == 1].mean(axis=0)) / 2)
    standard = (said - mean) / deviation
    model = build("learner", "trbf_krr").fit(Problem(standard, Y, 2))
    np.testing.assert_allclose(clf.decision_function(X), model.scores(standard)[:, 0], atol=1e-8)


@pytest.mark.parametrize("learner", ["trbf_krr", "linear_svm", "kernel_svm", "krr", "sklearn"])
def test_any_learner_fuses(learner):
    combiner = build("combiner", "fusion", learner=learner)
    clf = DivideAndConquerClassifier(spaces(), "linear_svm", combiner, random_state=0)
    assert clf.fit(X, Y).score(X, Y) > 0.95


@pytest.mark.parametrize(
    "name", ["chunks", "tree", "kmeans", "class_pairs", "class_rest", "bootstrap", "whole"]
)
@pytest.mark.parametrize("folds", [0, 3], ids=["in-sample", "out-of-fold"])
def test_it_works_over_any_decomposer(name, folds):
    settings = {"tree": {"ceiling": 100}, "kmeans": {"clusters": 3}, "chunks": {"parts": 3}}
    decomposer = build("decomposer", name, **settings.get(name, {}))
    clf = fused(decomposer, folds=folds)
    assert clf.score(X, Y) > 0.95


def test_in_sample_answers_are_those_of_the_members_on_their_own_rows():
    told = []

    class Spy(type(build("combiner", "fusion"))):
        def fit(self, committee, problem, answers):
            told.append((committee.table(problem.X), answers))
            return super().fit(committee, problem, answers)

    DivideAndConquerClassifier(spaces(), "linear_svm", Spy(), random_state=0).fit(X, Y)
    ((now, then),) = told
    np.testing.assert_array_equal(now, then)


def test_out_of_fold_answers_come_from_members_that_have_not_seen_the_row():
    """Labels that are noise: known by heart in-sample, and not at all out of fold."""
    generator = np.random.default_rng(0)
    rows, labels = generator.normal(size=(300, 6)), generator.integers(2, size=300)
    told = {}

    class Spy(type(build("combiner", "fusion"))):
        def fit(self, committee, problem, answers):
            told[self.folds] = ((answers > 0) == (problem.y[:, None] == 1)).mean()
            return super().fit(committee, problem, answers)

    knowing = build("learner", "kernel_svm", C=1e4, gamma=10.0)
    for folds in (0, 5):
        pipeline = DivideAndConquerClassifier(spaces(), knowing, Spy(folds=folds), random_state=0)
        pipeline.fit(rows, labels)
    assert told[0] > 0.95
    assert 0.4 < told[5] < 0.6


def test_a_fold_sees_the_same_random_subspaces_as_the_whole():
    """One feature tells all: only the members that see it may be trusted, in folds too."""
    rows, labels = make_classification(
        400, 8, n_informative=1, n_redundant=0, n_clusters_per_class=1, random_state=0
    )
    seen = []

    class Watching(type(spaces())):
        def views(self, problem):
            views = super().views(problem)
            seen.append([view.columns.tolist() for view in views])
            return views

    watching = Watching(subspaces=4, features=2)
    combiner = build("combiner", "fusion", folds=3)
    DivideAndConquerClassifier(watching, "linear_svm", combiner, random_state=0).fit(rows, labels)
    assert len(seen) == 4
    assert all(each == seen[0] for each in seen)


def test_out_of_fold_answers_tell_who_only_knows_rows_by_heart():
    """One member sees what matters, one sees noise and learns every label of it."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(900, 8))
    labels = (rows[:, 0] + rows[:, 1] + generator.normal(scale=0.7, size=900) > 0).astype(int)
    learned, asked = slice(0, 500), slice(500, None)
    knowing = build("learner", "kernel_svm", C=1e3, gamma=1.0)
    apart = spaces(groups=[[0, 1], [2, 3, 4, 5, 6, 7]])
    accuracy = {
        folds: fused(apart, knowing, (rows[learned], labels[learned]), folds=folds).score(
            rows[asked], labels[asked]
        )
        for folds in (0, 5)
    }
    assert accuracy[5] > accuracy[0] + 0.05


def test_labels_are_signs_or_winners():
    digits = load_digits(return_X_y=True)
    clf = fused(spaces(subspaces=2), data=digits, answers="labels", learner="linear_svm")
    assert set(np.unique(clf.model_.combination.limits)) == {-1.0, 1.0}
    assert clf.score(*digits) > 0.9


def wide_committee(n_members, n_classes, n_rows=400):
    """Members that know all classes a little, and rows to ask them about."""
    generator = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    rows = generator.normal(size=(n_rows, 5)) + 3.0 * generator.normal(size=(n_classes, 5))[y]
    members = [
        Member(
            Hyperplanes(generator.normal(size=(5, n_classes)), np.zeros(n_classes)),
            np.eye(n_classes, dtype=np.int8),
        )
        for _ in range(n_members)
    ]
    committee = Committee.of(Division(members=members), n_classes)
    return committee, Problem(rows, y, n_classes, Seed(0))


@pytest.mark.slow
def test_many_classes_have_a_problem_each_and_the_log_says_so(caplog):
    committee, problem = wide_committee(20, 26, n_rows=6000)
    trbf = build("learner", "trbf_krr", space="intrinsic")
    combiner = fusion(learner=trbf)
    with caplog.at_level(logging.INFO, logger="dcsvm"):
        fitted = combiner.fit(committee, problem, committee.table(problem.X))
    assert caplog.messages == [
        "fusion: 520 answers at once would take 592 GB; each of 26 classes has a problem of "
        "20 answers instead"
    ]
    assert fitted.about == "fusion: trbf_krr learns each class from up to 20 of 520 answers"
    assert [model.hyperplanes.weights.shape for model in fitted.models] == [(231, 1)] * 26
    assert np.isfinite(fitted.combine(committee, problem.X)).all()


def test_where_that_is_still_too_much_the_learner_is_made_simpler_with_a_warning(caplog):
    committee, problem = wide_committee(20, 4)
    trbf = build("learner", "trbf_krr", space="intrinsic", order=3)
    combiner = fusion(learner=trbf, gigabytes=1e-4)
    fitted = combiner.fit(committee, problem, committee.table(problem.X))
    expected = (
        "fusion: trbf_krr learns each class from up to 20 of 80 answers, "
        "as order 1 instead of 3 to fit 0.0001 GB"
    )
    assert fitted.about == expected
    assert caplog.messages == [expected]
    assert fitted.models[0].hyperplanes.weights.shape == (21, 1)


def test_one_problem_for_all_classes_can_be_asked_for():
    committee, problem = wide_committee(3, 4)
    table = committee.table(problem.X)
    joint = fusion(form="joint").fit(committee, problem, table)
    apart = fusion(form="by_class").fit(committee, problem, table)
    assert (len(joint.models), len(apart.models)) == (1, 4)
    assert [len(columns) for columns in (*joint.columns, *apart.columns)] == [12, 3, 3, 3, 3]


def test_the_trace_says_how_it_was_fused_and_what_came_of_it():
    clf = fused(spaces(subspaces=3))
    first, second, third = clf.model_.combination.trace(clf.model_.committee, X[:1])
    score = clf.decision_function(X[:1])[0]
    winner = int(score > 0)
    assert first == "fusion: trbf_krr learns from 3 answers, all at once"
    assert second == f"class {winner} has the fused score {abs(score):.4g}"
    assert third == f"class {1 - winner} has the fused score {-abs(score):.4g}"


def test_what_the_second_level_takes_is_counted():
    clf = fused(spaces(subspaces=3))
    assert clf.cost(X[:5]).hyperplanes.tolist() == [4.0] * 5


def test_a_second_level_with_a_precomputed_kernel_is_refused():
    with pytest.raises(SettingError) as refusal:
        DivideAndConquerClassifier(
            spaces(subspaces=3),
            "linear_svm",
            fusion(learner=build("learner", "krr", kernel="precomputed")),
        ).fit(X, Y)
    assert str(refusal.value) == (
        "fusion: the learner must not use a precomputed kernel; its features are answers"
    )


def test_what_a_pipeline_as_the_second_level_takes_is_counted_row_by_row():
    pipeline = DivideAndConquerClassifier("tree", "linear_svm", "route", random_state=0)
    clf = fused(spaces(subspaces=3), learner="linear_svm")
    nested = DivideAndConquerClassifier(
        spaces(subspaces=3), "linear_svm", fusion(learner=pipeline), random_state=0
    ).fit(X, Y)
    assert nested.cost(X[:5]).hyperplanes.tolist() == clf.cost(X[:5]).hyperplanes.tolist()


def test_answers_beyond_those_learned_count_as_the_farthest_learned():
    clf = fused(spaces(subspaces=2), learner="linear_svm")
    far = clf.decision_function(np.vstack([1e6 * X[0], 1e7 * X[0]]))
    assert far[0] == far[1]


def test_a_class_that_no_member_speaks_of_is_never_the_answer():
    @component
    class Blind(Decomposer):
        "One part, without the rows of the last class."

        name = "blind"
        yields = frozenset({"subsets"})

        def divide(self, problem):
            yield [part(np.flatnonzero(problem.y < 2))]

    features, classes = load_iris(return_X_y=True)
    model = fused(Blind(), data=(features, classes), learner="linear_svm", form="by_class")
    assert set(model.predict(features)) == {0, 1}
    known = classes < 2
    assert model.score(features[known], classes[known]) > 0.95


def test_a_rare_class_is_not_forgotten():
    generator = np.random.default_rng(0)
    labels = (np.arange(1500) % 20 == 0).astype(int)
    rows = generator.normal(size=(1500, 40)) + 1.2 * labels[:, None] * (np.arange(40) < 12)
    clf = DivideAndConquerClassifier(spaces(), "linear_svm", "fusion", random_state=0)
    found = clf.fit(rows[:1000], labels[:1000]).predict(rows[1000:])
    assert found[labels[1000:] == 1].mean() > 0.5


def test_more_folds_than_make_sense_are_refused():
    with pytest.raises(SettingError, match=r"folds must be .* at most 100"):
        build("combiner", "fusion", folds=5000)
