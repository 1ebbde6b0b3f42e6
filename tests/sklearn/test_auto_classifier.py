"""The search of a portfolio as a scikit-learn estimator."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import dcsvm
from dcsvm import (
    AutoClassifier,
    DataError,
    DivideAndConquerClassifier,
    SettingError,
    TablePreparation,
)
from dcsvm.base.errors import ModelFileError, RecipeError
from dcsvm.drive.observers import Observer
from dcsvm.experiments.portfolio import portfolio_search, recipe_trials
from dcsvm.experiments.portfolio.budget import Budget


def auto(**settings):
    given = {"recipes": ["linear_svm"], "seconds": 30, "random_state": 0, **settings}
    return AutoClassifier(**given)


def why_not(estimator):
    return {}


@pytest.mark.slow
@parametrize_with_checks([auto()], expected_failed_checks=why_not)
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [AutoClassifier(seconds=0.2, random_state=0)], expected_failed_checks=why_not
)
def test_it_passes_them_with_the_whole_portfolio_and_little_time(estimator, check, monkeypatch):
    """Time passes with each look at the clock, so that fits of the same rows try the same."""
    ticks = itertools.count()

    def clock():
        return 0.02 * next(ticks)

    def begin(seconds, began, overhead):
        return Budget(seconds, clock, overhead=overhead)

    monkeypatch.setattr(portfolio_search, "Budget", begin)
    monkeypatch.setattr(recipe_trials, "time", SimpleNamespace(perf_counter=clock))
    check(estimator)


def table(n=300, seed=0):
    """Numbers with gaps, texts and categories, and labels that are texts."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "colour": generator.choice(["blue", "red", None], n),
            "shop": pd.Categorical(generator.choice(list("abc"), n)),
        }
    )
    frame.loc[::7, "size"] = np.nan
    return frame, np.where((frame["colour"] == "red") ^ (frame["size"] > 1), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    frame, y = table()
    return auto(recipes=["global_svm", "kernel_logistic"]).fit(frame, y)


def test_data_frames_with_texts_and_gaps_are_learned_and_stored(fitted, tmp_path):
    frame, y = table(200, seed=1)
    assert fitted.score(frame, y) > 0.85
    shares = fitted.predict_proba(frame)
    assert (fitted.classes_[shares.argmax(axis=1)] == fitted.predict(frame)).all()
    dcsvm.save(fitted, tmp_path / "auto.dcsvm")
    assert (dcsvm.load(tmp_path / "auto.dcsvm").predict_proba(frame) == shares).all()


def test_the_leaderboard_tells_what_was_tried(fitted):
    assert {each.recipe for each in fitted.leaderboard_} == {"global_svm", "kernel_logistic"}
    assert all(each.rows_per_second > 0 for each in fitted.leaderboard_)
    assert "held-out rows" in fitted.reason_
    assert 0.8 < fitted.best_score_ <= 1.0


def test_a_blend_of_all_that_was_tried_can_be_read_from_a_data_frame(monkeypatch):
    from dcsvm.experiments.portfolio.blending import HeldOutScorer

    monkeypatch.setattr(HeldOutScorer, "accepts", lambda *_: True)
    frame, y = table()
    clf = auto(recipes=["global_svm", "kernel_logistic"], scoring="log_loss").fit(frame, y)
    members = sum(each.weight > 0 for each in clf.leaderboard_)
    assert len(clf.best_estimator_[-1].model_.committee.members) == members
    assert clf.score(frame, y) > 0.85


def test_rows_of_polars_and_sparse_rows_are_learned():
    frame, y = table(200)
    assert auto().fit(pl.from_pandas(frame), y).score(pl.from_pandas(frame), y) > 0.5
    X, labels = load_iris(return_X_y=True)
    assert auto().fit(sparse.csr_array(X), labels).score(sparse.csr_array(X), labels) > 0.8


def test_without_time_the_first_recipe_is_taken_all_the_same():
    X, y = load_iris(return_X_y=True)
    assert auto(seconds=0.01).fit(X, y).score(X, y) > 0.8


def test_labels_that_are_none_are_counted():
    told = r"y has no label \(None\) in 2 rows of 4, the first is 0: 1, 3; leave them out"
    for classifier in (auto(), DivideAndConquerClassifier("whole", "kernel_svm")):
        with pytest.raises(DataError, match=told):
            classifier.fit([[1.0], [2.0], [3.0], [4.0]], [0, None, 1, None])


def test_a_pipeline_with_a_search_at_its_end_is_saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    X[3, 1] = np.nan
    model = make_pipeline(TablePreparation(missing="impute"), auto()).fit(X, y)
    dcsvm.save(model, tmp_path / "m.dcsvm")
    again = dcsvm.load(tmp_path / "m.dcsvm")
    assert [type(step).__name__ for _, step in again.steps][-1] == "DivideAndConquerClassifier"
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ModelFileError, match="cannot save a Pipeline with a StandardScaler"):
        dcsvm.save(make_pipeline(StandardScaler(), auto()).fit(X, y), tmp_path / "m.dcsvm")


def test_mistakes_are_told():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SettingError, match="seconds must be a number above 0, got -1"):
        auto(seconds=-1).fit(X, y)
    with pytest.raises(RecipeError, match="no registered recipe is called 'linear_smv'"):
        auto(recipes=["linear_smv"]).fit(X, y)
    with pytest.raises(DataError, match="no score is called 'acuracy'; did you mean 'accuracy'"):
        auto(scoring="acuracy").fit(X, y)


class Impatient(Observer):
    """Presses Ctrl-C at the second recipe."""

    def on_step_begin(self, title, n_rows=0):
        if "kernel_logistic" in title:
            raise KeyboardInterrupt


def test_an_interrupted_search_keeps_the_best_so_far():
    X, y = load_iris(return_X_y=True)
    clf = auto(recipes=["linear_svm", "kernel_logistic"], observers=[Impatient()])
    with pytest.warns(UserWarning, match="interrupted: the best model so far is kept"):
        clf.fit(X, y)
    assert clf.score(X, y) > 0.8
