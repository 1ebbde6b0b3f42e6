"""Searches and pipelines of scikit-learn around a classifier: who looks into them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import dcsvm
from dcsvm import DivideAndConquerClassifier, GranularitySearch, build
from dcsvm.base.errors import SettingError
from dcsvm.inspection.explainer import explain
from dcsvm_plugins.decomposers.tree.region_bound import tree_terms

X, y = load_iris(return_X_y=True)
GRID = {"learner__C": [1.0, 10.0]}
NOT_REFITTED = "GranularitySearch without best_estimator_: fit it, with refit=True"


def classifier():
    tree = build("decomposer", "tree", ceiling=60)
    return DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0)


def granularity_search(**settings):
    return GranularitySearch(classifier(), GRID, random_state=0, **settings)


WRAPPED = {
    "a granularity search": granularity_search,
    "a search of scikit-learn": lambda: GridSearchCV(classifier(), GRID, cv=3),
    "a pipeline": lambda: make_pipeline(StandardScaler(), classifier()),
    "a pipeline of one step": lambda: make_pipeline(classifier()),
    "a pipeline that passes rows on": lambda: make_pipeline("passthrough", classifier()),
    "a search in a pipeline": lambda: make_pipeline(StandardScaler(), granularity_search()),
    "a search around a pipeline": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), classifier()),
        {"divideandconquerclassifier__learner__C": [1.0, 10.0]},
        cv=3,
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_the_classifier_inside_is_explained_and_bounded(name):
    wrapped = WRAPPED[name]().fit(X, y)
    for x in X[::40]:
        assert explain(wrapped, x).answer == wrapped.predict(x[None])[0]
    assert tree_terms(wrapped, X, y).R.value > 0


def test_a_row_of_a_table_goes_through_the_steps_by_its_names():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    line = WRAPPED["a pipeline"]().fit(table, y)
    assert explain(line, table.iloc[70]).answer == line.predict(table[70:71])[0]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (SVC(), "SVC"),
        (make_pipeline(StandardScaler(), SVC()).fit(X, y), "SVC"),
        (
            granularity_search(),
            NOT_REFITTED,
        ),
        (
            granularity_search(refit=False).fit(X, y),
            NOT_REFITTED,
        ),
    ],
)
def test_what_holds_no_classifier_of_ours_is_refused(given, what):
    for asker, ask in (
        ("explain", lambda: explain(given, X[0])),
        ("tree_terms", lambda: tree_terms(given, X, y)),
    ):
        message = (
            f"{asker} takes a fitted DivideAndConquerClassifier, a search for one or a pipeline "
            f"that ends with one, not a {what}"
        )
        with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
            ask()


def test_of_a_search_the_best_estimator_is_saved(tmp_path):
    search = granularity_search().fit(X, y)
    dcsvm.save(search, tmp_path / "model.dcsvm")
    loaded = dcsvm.load(tmp_path / "model.dcsvm")
    assert np.array_equal(loaded.decision_function(X), search.decision_function(X))


def test_of_a_search_the_best_estimator_is_compiled():
    tree = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0)
    search = GridSearchCV(tree, {"decomposer__deepest": [1, 3]}, cv=3).fit(X, y)
    assert np.array_equal(dcsvm.inspection.compile_tree(search).predict(X), search.predict(X))
    with pytest.raises(SettingError, match=r"or a pipeline that ends with one, not a SVC$"):
        dcsvm.inspection.compile_tree(SVC())
