"""One vote for each member; ties go to the larger mean score."""

import numpy as np
from sklearn.datasets import load_iris, make_blobs

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.inspection.explainer import explain


def test_class_pairs_win_by_number_of_votes() -> None:
    X, y = make_blobs(200, centers=4, cluster_std=3.0, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    votes = np.zeros((len(X), 4))
    for member in clf.model_.committee.members:
        said = member.answer(X)[0][:, 0]
        winner = np.where(said > 0, member.code[0].argmax(), member.code[0].argmin())
        votes[np.arange(len(X)), winner] += 1
    np.testing.assert_array_equal(np.round(clf.decision_function(X)), votes)


def test_bags_of_all_classes_vote_once_each() -> None:
    X, y = load_iris(return_X_y=True)
    bags = build("decomposer", "bootstrap", samples=7)
    clf = DivideAndConquerClassifier(bags, "krr", "vote", random_state=0).fit(X, y)
    votes = np.round(clf.decision_function(X))
    assert (votes.sum(axis=1) == 7).all()


def test_a_tie_goes_to_the_class_that_its_voters_are_surer_of() -> None:
    X, y = make_blobs(300, centers=3, cluster_std=6.0, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    scores = clf.decision_function(X)
    ties = np.flatnonzero((np.round(scores) == 1).all(axis=1))
    assert len(ties)
    means = DivideAndConquerClassifier("class_pairs", "kernel_svm", "mean").fit(X, y)
    expected = means.decision_function(X[ties]).argmax(axis=1)
    np.testing.assert_array_equal(scores[ties].argmax(axis=1), expected)


def test_max_wins_breaks_ties_by_the_summed_decision_values() -> None:
    X, y = make_blobs(300, centers=6, cluster_std=4.0, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    rows = 3.0 * np.random.default_rng(0).normal(size=(2000, 2)) * X.std(axis=0)
    votes, sums = np.zeros((2000, 6)), np.zeros((2000, 6))
    for member in clf.model_.committee.members:
        values = member.answer(rows)[0][:, 0]
        (plus,), (minus,) = np.flatnonzero(member.code > 0), np.flatnonzero(member.code < 0)
        votes[np.arange(2000), np.where(values > 0, plus, minus)] += 1
        sums[:, plus] += values
        sums[:, minus] -= values
    most = votes == votes.max(axis=1, keepdims=True)
    assert (most.sum(axis=1) > 1).sum() > 20
    assert clf.predict(rows).tolist() == np.where(most, sums, -np.inf).argmax(axis=1).tolist()


def test_the_trace_tells_who_got_how_many_votes() -> None:
    X, y = make_blobs(60, centers=3, random_state=0)
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    order = np.argsort(-clf.decision_function(X[:1])[0])
    told = clf.model_.combination.trace(clf.model_.committee, X[:1])
    assert told == [f"class {label} has {2 - place} votes" for place, label in enumerate(order)]


def test_explain_names_every_vote_and_what_weighed_most_in_it() -> None:
    X, y = make_blobs(90, centers=4, cluster_std=2.0, random_state=0)
    learner = build("learner", "kernel_svm", gamma=0.3, C=2.0)
    clf = DivideAndConquerClassifier("class_pairs", learner, "vote").fit(X, y)
    told = explain(clf, X[3])
    assert told.answer == clf.predict(X[3:4])[0]
    assert len(told.questions) == 6
    votes = [question.winners[0] for question in told.questions]
    assert f"{told.answer} has {votes.count(told.answer)} votes" in told.reasons[0]
    for question in told.questions:
        for weight in question.heaviest:
            near = np.exp(-0.3 * ((X[weight.row] - X[3]) ** 2).sum())
            assert abs(weight.kernel - near) < 1e-9
            assert y[weight.row] in question.winners + question.losers
