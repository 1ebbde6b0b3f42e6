"""One part for every class against all others, with every row."""

import numpy as np
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, Problem, Task, build


def test_every_class_has_a_part_with_all_rows() -> None:
    X, y = load_iris(return_X_y=True)
    (stage,) = list(build("decomposer", "class_rest").divide(Problem(X, y, 3)))
    assert [each.task for each in stage] == [
        Task((0,), (1, 2)),
        Task((1,), (0, 2)),
        Task((2,), (0, 1)),
    ]
    assert [len(each.rows) for each in stage] == [150, 150, 150]


def test_a_class_without_rows_has_no_part() -> None:
    problem = Problem(np.zeros((4, 1)), np.array([0, 0, 3, 3]), 5)
    (stage,) = list(build("decomposer", "class_rest").divide(problem))
    assert [each.task for each in stage] == [Task((0,), (3,)), Task((3,), (0,))]


def test_classes_with_equal_rows_do_not_speak_for_each_other() -> None:
    X, y = load_iris(return_X_y=True)
    clf = DivideAndConquerClassifier("class_rest", "kernel_svm", "argmax").fit(X, y)
    code = np.vstack([member.code for member in clf.model_.committee.members])
    np.testing.assert_array_equal(code, 2 * np.eye(3) - 1)
