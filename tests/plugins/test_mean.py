"""The mean score over the members that can speak for a class."""

import numpy as np
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, build

X, Y = load_iris(return_X_y=True)


def test_the_score_is_the_mean_of_the_members_scores() -> None:
    chunks = build("decomposer", "chunks", parts=3)
    clf = DivideAndConquerClassifier(chunks, "krr", "mean", random_state=0).fit(X, Y)
    said = [member.answer(X)[0] for member in clf.model_.committee.members]
    np.testing.assert_allclose(clf.decision_function(X), np.mean(said, axis=0), atol=1e-12)


def test_a_member_that_lacks_a_class_does_not_count_for_it() -> None:
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "mean").fit(X, Y)
    first, second, third = (member.answer(X)[0][:, 0] for member in clf.model_.committee.members)
    expected = np.column_stack([(first + second) / 2, (third - first) / 2, (-second - third) / 2])
    np.testing.assert_allclose(clf.decision_function(X), expected, atol=1e-12)


def test_the_trace_tells_the_best_means() -> None:
    clf = DivideAndConquerClassifier("chunks", "krr", "mean", random_state=0).fit(X, Y)
    scores = clf.decision_function(X[:1])[0]
    told = clf.model_.combination.trace(clf.model_.committee, X[:1])
    best = scores.argmax()
    assert told[0] == f"class {best} has the mean score {scores[best]:.4g}"


def test_a_class_that_a_region_never_saw_has_lost_there() -> None:
    forest = 3 * build("decomposer", "tree", ceiling=20, splitter="random")
    machine = build("learner", "kernel_svm", multiclass="rest")
    clf = DivideAndConquerClassifier(forest, machine, "mean", random_state=0).fit(X, Y)
    committee = clf.model_.committee
    expected, met = np.zeros((len(X), 3)), np.zeros((len(X), 3), dtype=bool)
    for group in committee.groups:
        routing = group.router.route(X)
        for row, number in zip(routing.row, routing.member, strict=True):
            member = committee.members[group.first + number]
            said = member.scores(X[row : row + 1])[0] @ member.code
            expected[row] += np.where(member.code.any(axis=0), said, -1.0)
            met[row] |= member.code.any(axis=0)
    scores = clf.decision_function(X)
    np.testing.assert_allclose(scores[met], expected[met] / 3, atol=1e-12)
    assert 0 < np.count_nonzero(~met) < met.size
    assert (np.where(met, np.inf, scores).min(axis=1) < np.where(met, scores, np.inf).min(1))[
        ~met.all(axis=1)
    ].all()


def test_a_forest_of_machines_one_against_one_tells_many_classes_apart() -> None:
    generator = np.random.default_rng(0)
    centres = generator.uniform(size=(20, 2))
    labels = generator.integers(20, size=3000)
    rows = centres[labels] + generator.normal(scale=0.03, size=(3000, 2))
    forest = 5 * build("decomposer", "tree", ceiling=300, splitter="random")
    machine = build("learner", "kernel_svm", C=10.0, gamma=10.0)

    def accuracy(decomposer: object, combiner: str) -> float:
        clf = DivideAndConquerClassifier(decomposer, machine, combiner, random_state=0)
        return float(clf.fit(rows[:2000], labels[:2000]).score(rows[2000:], labels[2000:]))

    assert accuracy(forest, "mean") > accuracy("whole", "route") - 0.02
