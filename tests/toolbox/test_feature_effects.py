"""Importances and effects of features, measured by what a model answers."""

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm.toolbox import FeatureReport, measure_features
from dcsvm.toolbox import feature_effects as module


class Threshold:
    """Answers "high" where the first feature is above one half, whatever the others are."""

    classes_ = np.array(["high", "low", "none"])

    def predict(self, X):
        first = X[:, [0]].toarray().ravel() if sparse.issparse(X) else X[:, 0]
        return np.where(np.isnan(first), "none", np.where(first > 0.5, "high", "low"))


class Ranker(Threshold):
    """The same for two classes, with scores."""

    classes_ = np.array(["high", "low"])

    def decision_function(self, X):
        return 0.5 - X[:, 0]


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    return X, np.where(X[:, 0] > 0.5, "high", "low")


@pytest.mark.parametrize("model", [Threshold(), Ranker()])
def test_only_the_feature_that_counts_is_important(rows, model):
    found = measure_features(model, *rows, ["a", "b", "c"])
    assert [each.name for each in found.importances] == ["a", "b", "c"]
    first, *others = found.importances
    assert first.loss == pytest.approx(0.5, abs=0.06)
    assert 0 < first.spread < 0.1
    assert all(each.loss == each.spread == 0 for each in others)
    ranked = isinstance(model, Ranker)
    assert found.score == ("area under the ROC curve" if ranked else "mean recall")


def test_the_effect_of_a_number_is_traced_from_low_to_high(rows):
    (effect,) = measure_features(Ranker(), *rows, ["a", "b", "c"]).effects
    assert effect.classes == ["low"]
    assert effect.values == sorted(effect.values)
    assert effect.shares[0] == [1.0 if value <= 0.5 else 0.0 for value in effect.values]
    assert set(effect.errors[0]) == {0.0}


def test_the_effect_is_that_of_the_rare_class(rows):
    X, y = rows
    kept = np.r_[np.flatnonzero(y == "high")[:20], np.flatnonzero(y == "low")]
    (effect,) = measure_features(Ranker(), X[kept], y[kept], ["a", "b", "c"]).effects
    assert effect.classes == ["high"]


def test_the_effect_of_a_category_is_traced_by_level(rows):
    X, y = np.round(rows[0]), rows[1]
    (effect,) = measure_features(
        Threshold(), X, y, ["a", "b", "c"], [("no", "yes"), (), ()]
    ).effects
    shares = dict(zip(effect.classes, effect.shares, strict=True))
    places = [effect.values.index(level) for level in ("no", "yes")]
    assert [shares["high"][place] for place in places] == [0, 1]


def test_sparse_rows_have_the_same_importances(rows):
    dense = measure_features(Threshold(), *rows, ["a", "b", "c"])
    X = sparse.csr_array(rows[0])
    assert measure_features(Threshold(), X, rows[1], ["a", "b", "c"]) == dense


def test_of_very_many_features_those_that_tell_classes_apart_are_measured(rows, monkeypatch):
    monkeypatch.setattr(module, "ASKED_ROWS", 1000)
    monkeypatch.setattr(module, "FEWEST_ROWS", 20)
    X = np.hstack([np.random.default_rng(1).uniform(size=(300, 50)), rows[0][:, :1]])
    model = Threshold()
    model.predict = lambda rows: Threshold().predict(rows[:, [50]])
    found = measure_features(model, X, rows[1], [f"x{j}" for j in range(51)])
    assert found.n_features == 51
    assert found.n_rows * len(found.importances) * 5 <= 1000
    assert found.importances[0].name == "x50"


def test_a_report_of_features_survives_json(rows):
    found = measure_features(Ranker(), *rows, ["a", "b", "c"])
    again = FeatureReport.from_dict(attrs.asdict(found))
    assert again == found
