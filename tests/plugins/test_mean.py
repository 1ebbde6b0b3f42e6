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
