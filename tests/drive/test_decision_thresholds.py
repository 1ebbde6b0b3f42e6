"""Labels by a threshold or by costs."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef
from sklearn.svm import SVC

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import DataError, SettingError
from dcsvm.drive.calibration import Calibration
from dcsvm.drive.decision_thresholds import SCORES, build_costs, choose_threshold

pytest.importorskip("dcsvm_plugins", reason="the classifiers are made of the built-in plugins")
FUNCTIONS = {
    "f1": f1_score,
    "accuracy": lambda y, said: (y == said).mean(),
    "balanced_accuracy": balanced_accuracy_score,
    "mcc": matthews_corrcoef,
}


def draw_rows(n=1200):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, weights=[0.93], flip_y=0.02, random_state=0
    )


def compose(learner="kernel_svm", **settings):
    return DivideAndConquerClassifier(
        "whole", learner, probability="auto", random_state=0, **settings
    )


@pytest.mark.parametrize("name", SCORES)
def test_the_best_threshold_is_the_one_that_a_search_of_all_finds(name):
    generator = np.random.default_rng(0)
    y = generator.random(200) < 0.2
    shares = np.round(np.clip(0.3 * y + 0.6 * generator.random(200), 0, 1), 2)
    threshold = choose_threshold(name, shares, y)
    tried = [FUNCTIONS[name](y, shares >= each) for each in np.unique(shares)]
    assert FUNCTIONS[name](y, shares >= threshold) == pytest.approx(max(tried))
    assert choose_threshold(name, shares, y & False) == 0.5


@pytest.mark.parametrize("learner", ["kernel_svm", "logistic"])
@pytest.mark.parametrize("threshold", [0.2, "best f1"])
def test_a_threshold_decides_and_is_kept(learner, threshold, tmp_path):
    X, y = draw_rows()
    y = 1 - y  # the rarer class is the first one
    model = compose(learner, threshold=threshold).fit(X[:600], y[:600])
    shares = model.predict_proba(X[600:])
    costs = model.model_.calibration.costs
    limit = costs[1, 0]
    assert costs[0, 1] == 1.0 - limit
    assert isinstance(threshold, str) or limit == threshold
    assert (model.predict(X[600:]) == np.where(shares[:, 0] > limit, 0, 1)).all()
    plain = compose(learner).fit(X[:600], y[:600])
    assert (plain.predict_proba(X[600:]) == shares).all()
    assert (model.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    dcsvm.save(model, tmp_path / "model.dcsvm")
    again = dcsvm.load(tmp_path / "model.dcsvm")
    assert (again.predict(X) == model.predict(X)).all()
    assert again.threshold == threshold


def test_the_class_of_least_expected_cost_is_answered():
    X, y = load_iris(return_X_y=True)
    costs = {"virginica": 20.0, "setosa": {"versicolor": 5.0}}
    labels = np.array(["setosa", "versicolor", "virginica"])
    table = build_costs(costs, labels)
    assert table.tolist() == [[0, 5, 1], [1, 0, 1], [20, 20, 0]]
    model = compose(costs=costs).fit(X, labels[y])
    expected = model.predict_proba(X) @ table
    assert (model.predict(X) == labels[expected.argmin(axis=1)]).all()
    assert (model.predict(X) == "virginica").sum() > 50
    with pytest.raises(DataError, match=r"costs: there is no class 'rosa'; did you mean 'setosa'"):
        compose(costs={"rosa": 2.0}).fit(X, labels[y])


def test_the_rarer_class_is_known_where_weights_are_balanced():
    X, y = draw_rows()
    model = compose(class_weight="balanced", threshold=0.9).fit(X, y)
    assert model.model_.calibration.rarest == 1
    assert model.predict(X).mean() < 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": "best auc"}, "or one of 'best f1', .*, got 'best auc'"),
        ({"threshold": 1.5}, r"threshold must be None, a number from 0 to 1 .*, got 1\.5"),
        ({"costs": {"a": -1.0}}, "costs must map each class .* at least 0"),
        ({"costs": {}}, "costs must map each class"),
        ({"costs": {"0": 2.0}, "threshold": 0.5}, "both decide on labels: leave out one"),
        ({"threshold": 0.5, "probability": "off"}, "threshold needs probabilities"),
    ],
)
def test_what_cannot_decide_is_refused(settings, message):
    X, y = draw_rows(60)
    with pytest.raises(SettingError, match=message):
        compose().set_params(**settings).fit(X, y)


def test_a_threshold_needs_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SettingError, match="decides between two classes, and y has 3: give costs"):
        compose(threshold=0.5).fit(X, y)


def test_costs_are_checked_when_they_are_loaded():
    given = "members", np.zeros(0), np.zeros(0), np.ones(2) / 2
    with pytest.raises(ValueError, match="costs has shape"):
        Calibration(*given, costs=np.zeros((3, 3))).check_stored(classes=2)
    with pytest.raises(ValueError, match="rarest must be a class, got 2"):
        Calibration(*given, rarest=2).check_stored(classes=2)


def test_a_nested_classifier_does_not_decide():
    X, y = draw_rows(300)
    inner = compose(threshold=0.01)
    chunks = build("decomposer", "chunks", parts=2)
    outer = DivideAndConquerClassifier(chunks, inner, "mean", random_state=0)
    assert outer.fit(X, y).predict(X).mean() < 0.3


def test_a_chosen_threshold_finds_a_rare_class():
    """Two in a hundred rows: a threshold finds as much as balanced weights of an SVC."""
    X, y = make_classification(
        4000, 8, n_informative=5, n_clusters_per_class=3, weights=[0.98], flip_y=0.01,
        class_sep=0.7, random_state=0,
    )  # fmt: skip
    X /= X.std(axis=0)
    learn, test = slice(0, 2000), slice(2000, None)
    found = [
        balanced_accuracy_score(y[test], each.fit(X[learn], y[learn]).predict(X[test]))
        for each in (
            compose(),
            SVC(class_weight="balanced"),
            compose(threshold="best balanced_accuracy"),
        )
    ]
    assert found[0] < found[1] - 0.03
    assert found[2] > found[1]
