"""Probabilities with the tools of scikit-learn, and in hard corners."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score

from dcsvm import DivideAndConquerClassifier, build

pytest.importorskip("dcsvm_plugins", reason="the compositions are made of the built-in plugins")
mpl.use("Agg")


@pytest.fixture(scope="module")
def rows():
    return make_classification(400, 5, n_informative=3, flip_y=0.1, random_state=0)


def classifier(ceiling=150, **settings):
    tree = build("decomposer", "tree", ceiling=ceiling)
    return DivideAndConquerClassifier(tree, probability="auto", random_state=0, **settings)


def test_soft_voting(rows):
    X, y = rows
    both = [("dcsvm", classifier()), ("linear", LogisticRegression())]
    voting = VotingClassifier(both, voting="soft").fit(X, y)
    mean = (voting.estimators_[0].predict_proba(X) + voting.estimators_[1].predict_proba(X)) / 2
    np.testing.assert_allclose(voting.predict_proba(X), mean)


def test_displays(rows):
    X, y = rows
    model = classifier().fit(X, y)
    assert CalibrationDisplay.from_estimator(model, X, y, n_bins=5).prob_true.shape == (5,)
    assert RocCurveDisplay.from_estimator(model, X, y).roc_auc > 0.8


def test_cross_validation_by_log_loss(rows):
    X, y = rows
    scores = cross_val_score(classifier(), X, y, cv=3, scoring="neg_log_loss")
    assert (scores > -np.log(2)).all()


def test_a_tuned_threshold(rows):
    X, y = rows
    rare = np.flatnonzero((y == 0) | (np.arange(len(y)) % 8 == 0))
    tuned = TunedThresholdClassifierCV(classifier(), scoring="f1", cv=3).fit(X[rare], y[rare])
    assert 0.0 < tuned.best_threshold_ < 1.0


def test_permutation_importance_by_log_loss(rows):
    X, y = rows
    model = classifier().fit(X, y)
    found = permutation_importance(
        model, X, y, scoring="neg_log_loss", n_repeats=2, random_state=0
    )
    assert found.importances_mean.max() > 0.02


def blobs(counts, features=3, seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    centres = generator.normal(scale=3.0, size=(len(counts), features))
    return centres[y] + generator.normal(size=(len(y), features)), y


HARD = {
    "parts of ten rows": (lambda: blobs([100, 100]), {"ceiling": 10}),
    "parts of one class": (lambda: blobs([60, 60, 60], seed=1), {"ceiling": 15}),
    "a class with three rows": (lambda: blobs([100, 100, 3]), {"ceiling": 50}),
    "a class with one row": (lambda: blobs([100, 100, 1]), {"ceiling": 50}),
    "two hundred classes": (lambda: blobs([5] * 200), {"ceiling": 400}),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_hard_corners_are_finite_and_sum_to_one(case, weighted, is_sparse):
    make, settings = HARD[case]
    X, y = make()
    weights = 1.0 + np.arange(len(y)) % 3 if weighted else None
    given = sparse.csr_matrix(X) if is_sparse else X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = classifier(**settings).fit(given, y, weights)
        shares = model.predict_proba(given)
        assert np.isfinite(model.predict_log_proba(given)).all()
        assert (model.predict(given) == shares.argmax(axis=1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.min() > 0.0
