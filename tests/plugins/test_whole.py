"""No division: one part with every row, as it is."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, GranularitySearch, Problem, build


def test_one_part_holds_every_row_in_order() -> None:
    X, y = load_iris(return_X_y=True)
    (stage,) = list(build("decomposer", "whole").divide(Problem(X, y, 3)))
    assert [each.rows.tolist() for each in stage] == [list(range(150))]


def test_an_undivided_pipeline_is_the_bare_learner() -> None:
    X, y = load_iris(return_X_y=True)
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), SVC(break_ties=True).fit(X, y).predict(X))


def test_a_search_judges_each_cell_as_fitting_it_would() -> None:
    X, y = load_iris(return_X_y=True)
    clf = DivideAndConquerClassifier("whole", build("learner", "kernel_svm"), "route")
    learned, judged = np.arange(0, 150, 2), np.arange(1, 150, 2)
    search = GranularitySearch(clf, {"learner__C": [0.01, 1.0], "learner__gamma": [0.01, 1.0]})
    search.fit(X[learned], y[learned], X_val=X[judged], y_val=y[judged])
    assert len(search.results_["params"]) == 4
    for params, score in zip(
        search.results_["params"], search.results_["mean_test_score"], strict=True
    ):
        again = clone(clf).set_params(**params).fit(X[learned], y[learned])
        assert score == pytest.approx(again.score(X[judged], y[judged]))
