"""The granularity search as a scikit-learn estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build


def search(**settings):
    tree = build("decomposer", "tree", ceiling=20)
    classifier = DivideAndConquerClassifier(tree, "kernel_svm", "route")
    return GranularitySearch(classifier, {"learner__C": [1.0, 10.0]}, random_state=0, **settings)


def why_not(estimator):
    reason = "which rows are held out depends on how many there are, as in scikit-learn's searches"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks([search()], expected_failed_checks=why_not)
def test_a_search_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_names_of_columns_reach_the_best_estimator(iris):
    X, y = iris
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for refit in (True, "training"):
        fitted = search(refit=refit).fit(table, np.array(["x", "y", "z"])[y])
        assert fitted.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        assert fitted.score(table, np.array(["x", "y", "z"])[y]) > 0.9


def test_sparse_rows_are_searched_as_dense_ones(iris):
    X, y = iris
    dense, thin = search().fit(X, y), search().fit(sparse.csr_array(X), y)
    assert np.array_equal(dense.results_["mean_test_score"], thin.results_["mean_test_score"])
    assert dense.best_params_ == thin.best_params_


def test_a_search_can_be_cross_validated(iris):
    assert cross_val_score(search(), *iris, cv=3).mean() > 0.9


def test_a_kernel_matrix_is_cut_in_both_directions(iris):
    X, y = iris
    classifier = DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=1000),
        build("learner", "kernel_svm", kernel="precomputed"),
        random_state=0,
    )
    grid = {"learner__C": [0.1, 1.0]}
    fitted = GranularitySearch(classifier, grid, random_state=0).fit(X @ X.T, y)
    plain = DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=1000), build("learner", "kernel_svm", kernel="linear")
    )
    other = GranularitySearch(plain, grid, random_state=0).fit(X, y)
    assert np.allclose(fitted.results_["mean_test_score"], other.results_["mean_test_score"])


def test_best_params_lead_to_the_best_estimator(iris):
    X, y = iris
    fitted = search().fit(X, y)
    again = search().estimator.set_params(
        learner=build("learner", "kernel_svm"), random_state=fitted.best_estimator_.random_state
    )
    again.set_params(**fitted.best_params_).fit(X, y)
    assert np.array_equal(again.decision_function(X), fitted.decision_function(X))
