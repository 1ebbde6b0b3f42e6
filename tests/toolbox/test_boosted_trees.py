"""Boosted trees of scikit-learn as arrays predict as the estimator does, and are checked."""

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.toolbox import BoostedTrees
from dcsvm.toolbox.boosted_trees import FEW_ROWS

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_scores_and_probabilities_are_those_of_the_estimator(load):
    X, y = load(return_X_y=True)
    X[::7, 0] = np.nan
    boosting = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    trees = BoostedTrees.take(boosting)
    np.testing.assert_array_equal(trees.scores(X), scores_of(boosting, X))
    np.testing.assert_allclose(trees.probabilities(X), boosting.predict_proba(X), rtol=1e-12)
    for few in (X[:0], X[:1], X[-FEW_ROWS:], X[-FEW_ROWS - 1 :]):  # a few rows walk in numpy
        np.testing.assert_array_equal(trees.scores(few), scores_of(boosting, few))


def scores_of(boosting, X):
    """The columns of scores of the estimator itself."""
    columns = boosting._baseline_prediction.size
    return boosting.decision_function(X).reshape(-1, columns) if len(X) else np.zeros((0, columns))


def test_a_model_is_stored_without_skops_and_gives_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skops", None)
    X, y = load_iris(return_X_y=True)
    learner = build(
        *("learner", "sklearn"),
        classifier="HistGradientBoostingClassifier",
        settings={"max_iter": 3},
    )
    clf = DivideAndConquerClassifier("whole", learner, "route", probability="auto").fit(X, y)
    dcsvm.save(clf, tmp_path / "trees.dcsvm")
    again = dcsvm.load(tmp_path / "trees.dcsvm")
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()


def test_categories_are_left_to_the_estimator():
    X, y = load_iris(return_X_y=True)
    X[:, 0] = X[:, 0].round()
    boosting = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(X, y)
    assert BoostedTrees.take(boosting) is None


@pytest.mark.parametrize(
    "change",
    [
        {"left": lambda old: np.zeros_like(old)},  # a tree that never ends
        {"right": lambda old: old + 1000},
        {"features": lambda old: old + 99},
        {"starts": lambda old: old[:-1]},
    ],
)
def test_forged_trees_are_refused(change):
    X, y = load_iris(return_X_y=True)
    trees = BoostedTrees.take(HistGradientBoostingClassifier(max_iter=2).fit(X, y))
    assert trees.check_stored(features=4, columns=3)
    changed = {name: edit(getattr(trees, name)) for name, edit in change.items()}
    with pytest.raises(ValueError, match="BoostedTrees"):
        attrs.evolve(trees, **changed).check_stored(features=4, columns=3)
