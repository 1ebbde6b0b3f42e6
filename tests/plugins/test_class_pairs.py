"""One part for every pair of classes, with the rows of these two."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from dcsvm import DivideAndConquerClassifier, Problem, Task, build
from dcsvm_report.evidence import gather_evidence


def test_every_pair_has_a_part_with_the_rows_of_both() -> None:
    X, y = load_iris(return_X_y=True)
    (stage,) = list(build("decomposer", "class_pairs").divide(Problem(X, y, 3)))
    assert [each.task for each in stage] == [
        Task((0,), (1,)),
        Task((0,), (2,)),
        Task((1,), (2,)),
    ]
    for each in stage:
        assert set(y[each.rows]) == {*each.task.plus, *each.task.minus}
        assert len(each.rows) == 100


def test_the_rows_of_a_class_are_kept_once_for_all_its_pairs() -> None:
    X, y = load_iris(return_X_y=True)
    (stage,) = list(build("decomposer", "class_pairs").divide(Problem(X, y, 3)))
    assert stage[0]._rows.sets[0] is stage[1]._rows.sets[0]


def test_its_pairs_are_its_only_level() -> None:
    X, y = load_iris(return_X_y=True)
    (level,) = build("decomposer", "class_pairs").levels(Problem(X, y, 3))
    assert (len(level.parts), dict(level.settings), level.router) == (3, {}, None)


def test_a_class_without_rows_has_no_pairs() -> None:
    problem = Problem(np.zeros((4, 1)), np.array([0, 0, 3, 3]), 5)
    (stage,) = list(build("decomposer", "class_pairs").divide(problem))
    assert [each.task for each in stage] == [Task((0,), (3,))]


def test_it_predicts_as_one_against_one_does() -> None:
    X, y = load_iris(return_X_y=True)
    ours = DivideAndConquerClassifier("class_pairs", "linear_svm", "vote").fit(X, y)
    theirs = OneVsOneClassifier(LinearSVC(dual="auto", max_iter=10_000)).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.98


def test_a_report_shows_which_pairs_err() -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, labels)
    seen = gather_evidence(clf, X, labels)
    assert seen.pictures[0].words.startswith("A field for each pair of classes")
    svg = seen.pictures[0].svg
    assert "<title>setosa v versicolor: 0 of 100 wrong</title>" in svg
    hard = max(part.wrong for part in seen.parts)
    assert hard > 0
    assert f"<title>versicolor v virginica: {hard} of 100 wrong</title>" in svg
