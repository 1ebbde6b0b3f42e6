"""No division: one part with every row, as it is."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, Problem, build


def test_one_part_holds_every_row_in_order() -> None:
    X, y = load_iris(return_X_y=True)
    (stage,) = list(build("decomposer", "whole").divide(Problem(X, y, 3)))
    assert [each.rows.tolist() for each in stage] == [list(range(150))]


def test_an_undivided_pipeline_is_the_bare_learner() -> None:
    X, y = load_iris(return_X_y=True)
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), SVC(break_ties=True).fit(X, y).predict(X))
