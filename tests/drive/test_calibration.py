"""Probabilities of classifiers: where they come from, and that they agree with the labels."""

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import dcsvm
from dcsvm import (
    DivideAndConquerClassifier,
    LocalLearner,
    LocalModel,
    build,
    component,
    setting,
)
from dcsvm.base.errors import SettingError
from dcsvm.drive.calibration import Calibration, equalize_ties, exponentiate

pytest.importorskip("dcsvm_plugins", reason="the compositions are made of the built-in plugins")

TREE = ("tree", {"ceiling": 60})
TREE_OF_SVMS = (TREE, "kernel_svm", "route")
COMPOSITIONS = [
    (("whole", {}), "kernel_svm", "route"),
    TREE_OF_SVMS,
    (("class_pairs", {}), "kernel_svm", "dag"),
    (("class_pairs", {}), "kernel_svm", "vote"),
    (("class_rest", {}), "krr", "argmax"),
    (("class_codes", {}), "kernel_svm", "decode"),
    (("bootstrap", {"samples": 8}), "kernel_svm", "vote"),
    (("chunks", {"parts": 4}), "krr", "mean"),
    (("rd_subspaces", {"subspaces": 3}), "linear_svm", "fusion"),
    (("oblique_tree", {}), "majority", "route"),
]


def compose(division, learner, combiner, **settings):
    name, given = division
    decomposer = build("decomposer", name, **given)
    return DivideAndConquerClassifier(
        decomposer, learner, combiner, random_state=0, **{"probability": "auto"} | settings
    )


def scaled(load):
    X, y = load(return_X_y=True)
    return train_test_split(X / np.abs(X).max(axis=0), y, random_state=0, stratify=y)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("composition", COMPOSITIONS, ids=lambda each: f"{each[0][0]}-{each[2]}")
def test_labels_probabilities_and_decisions_agree(load, composition):
    X, test, y, y_test = scaled(load)
    model = compose(*composition).fit(X, y)
    shares = model.predict_proba(test)
    assert shares.min() > 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    labels = model.predict(test)
    assert (labels == model.classes_[shares.argmax(axis=1)]).all()
    decisions = model.decision_function(test)
    if decisions.ndim == 1:
        assert (labels == model.classes_[(decisions > 0).astype(int)]).all()
        np.testing.assert_allclose(decisions, np.log(shares[:, 1] / shares[:, 0]), atol=1e-6)
    else:
        assert (labels == model.classes_[decisions.argmax(axis=1)]).all()
    assert log_loss(y_test, shares) < 0.7 * log_loss(
        y_test, np.tile(frequencies(y), (len(test), 1))
    )
    alone = np.vstack([model.predict_proba(test[[row]]) for row in range(len(test))])
    np.testing.assert_allclose(alone, shares, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("inner", ["auto", "off"])
@pytest.mark.parametrize("outer", [("kmeans", {"clusters": 2}), ("chunks", {"parts": 2})])
@pytest.mark.parametrize(
    "composition",
    [
        TREE_OF_SVMS,
        (("class_pairs", {}), "kernel_svm", "dag"),
        (("class_pairs", {}), "kernel_svm", "vote"),
        (("class_codes", {}), "kernel_svm", "decode"),
        (("rd_subspaces", {"subspaces": 3}), "linear_svm", "fusion"),
    ],
    ids=lambda each: f"{each[0][0]}-{each[2]}",
)
def test_labels_are_the_likeliest_classes_of_nested_classifiers(composition, outer, inner):
    X, test, y, y_test = scaled(load_iris)
    nested = compose(*composition, probability=inner)
    combiner = "route" if outer[0] == "kmeans" else "mean"
    model = compose(outer, nested, combiner).fit(X, y)
    shares = model.predict_proba(test)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.predict(test) == model.classes_[shares.argmax(axis=1)]).all()
    assert log_loss(y_test, shares) < np.log(3)


def frequencies(y):
    return np.bincount(y) / len(y)


def test_without_the_setting_there_are_no_probabilities_and_nothing_else_changes():
    X, test, y, _ = scaled(load_iris)
    plain = compose(*COMPOSITIONS[1], probability="off").fit(X, y)
    assert not hasattr(plain, "predict_proba")
    assert not hasattr(plain, "predict_log_proba")
    calibrated = compose(*COMPOSITIONS[1]).fit(X, y)
    assert (plain.model_.scores(test) == calibrated.model_.scores(test)).all()
    assert [each.path for each in plain.ledger_] == [each.path for each in calibrated.ledger_]


def test_an_unknown_method_is_refused_with_those_there_are():
    X, y = load_iris(return_X_y=True)
    message = "probability must be one of 'off', 'auto', 'scaling', 'temperature', got 'platt'"
    with pytest.raises(SettingError, match=message):
        DivideAndConquerClassifier(probability="platt").fit(X, y)


@pytest.mark.parametrize("composition", COMPOSITIONS[1:7], ids=lambda each: each[0][0])
def test_any_number_of_jobs_gives_the_same_bits(composition):
    X, test, y, _ = scaled(load_iris)
    one, two = (compose(*composition, n_jobs=n).fit(X, y).predict_proba(test) for n in (1, 2))
    assert (one == two).all()


@pytest.mark.parametrize("composition", COMPOSITIONS, ids=lambda each: f"{each[0][0]}-{each[2]}")
def test_a_saved_classifier_gives_the_same_bits(composition, tmp_path):
    X, test, y, _ = scaled(load_iris)
    model = compose(*composition).fit(X, y)
    dcsvm.save(model, tmp_path / "model.dcsvm")
    again = dcsvm.load(tmp_path / "model.dcsvm")
    assert (again.predict_proba(test) == model.predict_proba(test)).all()
    assert (again.predict(test) == model.predict(test)).all()


def test_members_with_probabilities_are_averaged():
    X, test, y, _ = scaled(load_iris)
    learner = build("learner", "sklearn", classifier="GaussianNB")
    model = compose(("chunks", {"parts": 3}), learner, "mean").fit(X, y)
    assert model.model_.calibration.source == "members"
    shares = [
        member.model.estimator.predict_proba(test) for member in model.model_.committee.members
    ]
    np.testing.assert_allclose(model.predict_proba(test), np.mean(shares, axis=0), atol=1e-9)
    learned = compose(("chunks", {"parts": 3}), learner, "mean", probability="scaling").fit(X, y)
    assert learned.model_.calibration.source == "margins"


def test_a_region_of_one_class_answers_what_its_rows_support():
    """Regions of 20 and of 200 rows of one class: by Laplace's rule 1/22 and 1/202 are left."""
    generator = np.random.default_rng(0)
    centres = np.repeat([0.0, 10.0, 20.0], [20, 200, 100])
    X = (centres + generator.normal(size=320))[:, None]
    y = np.where(centres < 15, 0, generator.integers(0, 2, 320))
    regions = build("decomposer", "kmeans", clusters=3)
    model = DivideAndConquerClassifier(regions, "kernel_svm", probability="auto", random_state=0)
    shares = model.fit(X, y).predict_proba([[0.0], [10.0]])
    assert model.model_.calibration.excess == 0.0
    np.testing.assert_allclose(shares[:, 1], [1 / 22, 1 / 202], rtol=1e-9)


def test_row_weights_count_as_repeated_rows_in_probabilities():
    X, y = make_classification(300, 4, flip_y=0.2, random_state=0)
    svm = build("learner", "kernel_svm", gamma=0.2)
    plain = DivideAndConquerClassifier("whole", svm, probability="auto", random_state=0)
    even = plain.fit(X, y).predict_proba(X).mean(axis=0)
    weights = np.where(y == 1, 5.0, 1.0)
    heavy = plain.fit(X, y, weights).predict_proba(X)
    assert abs(even[1] - y.mean()) < 0.05
    counted = np.average(heavy[:, 1], weights=weights)
    assert abs(counted - np.average(y, weights=weights)) < 0.05


def test_ties_and_sums_of_probabilities():
    logs = np.log([[0.5, 0.5 + 1e-13], [0.25, 0.75]])
    assert (equalize_ties(logs)[0] == logs[0].max()).all()
    assert (exponentiate(equalize_ties(logs)).argmax(axis=1) == [0, 1]).all()
    np.testing.assert_allclose(exponentiate(logs - 1000.0).sum(axis=1), 1.0)


def test_a_calibration_is_checked_when_it_is_loaded():
    shares = np.array([0.5, 0.3, 0.2])
    zeros, one = np.zeros(3), np.ones(1)
    Calibration("margins", one, zeros, shares, scales=zeros).check_stored(classes=3)
    with pytest.raises(ValueError, match="must have 1 slopes, 3 shifts, 3 scales and"):
        Calibration("margins", one, zeros, shares).check_stored(classes=3)
    falling = np.array([1.0, 0.0])
    curve = Calibration("margins", np.ones(3), zeros, shares, knots=falling, scales=zeros)
    with pytest.raises(ValueError, match="ascending knots for 3 classes"):
        curve.check_stored(classes=3)
    with pytest.raises(ValueError, match=r"holds -1\.0, but must be at least 0"):
        Calibration("margins", -one, zeros, shares, scales=zeros).check_stored(classes=3)
    with pytest.raises(ValueError, match=r"excess must be in \[0, 1\], got 2.0"):
        Calibration("margins", one, zeros, shares, 2.0, scales=zeros).check_stored(classes=3)


def test_a_region_has_a_curve_of_its_own_drawn_to_the_common_one():
    """Left of zero labels are certain, right of it they are half random."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (3000, 2))
    X[:, 0] += np.sign(X[:, 0]) * 2.0
    y = (X[:, 1] > 0).astype(int)
    noisy = (X[:, 0] > 0) & (generator.random(3000) < 0.6)
    y[noisy] = generator.integers(0, 2, noisy.sum())
    regions = build("decomposer", "kmeans", clusters=2)
    svm = build("learner", "kernel_svm", kernel="linear")
    model = DivideAndConquerClassifier(regions, svm, probability="auto", random_state=0).fit(X, y)
    calibration = model.model_.calibration
    assert calibration.regions.shape == (2, 3)
    homes = model.model_.committee.find_assigned_members(np.array([[-2.5, 0.0], [2.5, 0.0]]))
    certain, unsure = calibration.regions[homes, 0]
    assert certain > 1.0 > unsure > 0.0
    shares = model.predict_proba([[2.5, 0.9], [-2.5, 0.9]])[:, 1]
    assert shares[0] == pytest.approx(0.7, abs=0.08)
    assert shares[1] > 0.97
    wrong = Calibration(
        "margins", np.ones(1), np.zeros(1), np.ones(2) / 2, regions=np.ones((3, 3))
    )
    with pytest.raises(ValueError, match="regions has 3 entries, but must have 2"):
        wrong.check_stored(classes=2, members=2)
    with pytest.raises(ValueError, match="regions must have 3 columns for 2 classes, got 2"):
        attrs.evolve(wrong, regions=np.ones((2, 2))).check_stored(classes=2, members=2)


def make_noise(n_rows, seed, wrong=0.3):
    """Rows of two classes, whose labels are wrong with a probability."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 5))
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (generator.random(n_rows) < wrong)).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("ceiling", [2, 10, 50])
@pytest.mark.parametrize("trees", [1, 3])
def test_leaves_of_few_noisy_rows_are_no_worse_than_a_constant(ceiling, trees):
    (X, y), (test, y_test) = make_noise(2000, 0), make_noise(4000, 1)
    tree = build("decomposer", "tree", ceiling=ceiling)
    division, combiner = (tree, "route") if trees == 1 else (trees * tree, "mean")
    svm = build("learner", "kernel_svm", gamma=0.2)
    model = DivideAndConquerClassifier(
        division, svm, combiner, probability="auto", random_state=0
    ).fit(X, y)
    constant = log_loss(y_test, np.tile(frequencies(y), (len(y_test), 1)))
    assert log_loss(y_test, model.predict_proba(test)) <= constant


ASKED_AGAIN: list[float] = []


@attrs.frozen(eq=False)
class RowRecorder(LocalModel):
    """Knows its training rows by their first feature, and notes those whose margins are asked."""

    seen: np.ndarray

    def scores(self, X):
        return np.sin(1000.0 * X[:, :1])

    def margins(self, X):
        ASKED_AGAIN.extend(np.intersect1d(X[:, 0], self.seen).tolist())
        return self.scores(X)


@component
class RecordRows(LocalLearner):
    name = "record_rows"

    def fit(self, problem):
        return RowRecorder(problem.X[:, 0].copy())


@pytest.mark.parametrize(
    ("division", "combiner"),
    [
        (("kmeans", {"clusters": 4}), "route"),
        (("tree", {"ceiling": 4}), "route"),
        (("tree", {"ceiling": 90, "border": 0.5}), "route"),
        (("chunks", {"parts": 5}), "mean"),
        (("chunks", {"parts": 2}), "mean"),
        (("bootstrap", {"samples": 9}), "mean"),
        (("class_pairs", {}), "dag"),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_no_margin_is_one_of_a_member_that_was_trained_on_the_row(division, combiner, seed):
    """Two rows of both classes are a region of their own, which may be held out as a whole."""
    X = np.column_stack([np.linspace(0.0, 1.0, 302), np.repeat([0, 10, 20, 90], [100] * 3 + [2])])
    y = np.arange(302) % 2
    ASKED_AGAIN.clear()
    decomposer = build("decomposer", division[0], **division[1])
    model = DivideAndConquerClassifier(
        decomposer, RecordRows(), combiner, probability="auto", random_state=seed
    ).fit(X, y)
    assert division[0] != "kmeans" or min(record.rows for record in model.ledger_) == 2
    assert not ASKED_AGAIN
    model.predict_proba(X)
    assert ASKED_AGAIN  # members that predict know these rows


TRAINED = []


@component
class RecordFits(RecordRows):
    name = "record_fits"

    effort: str = setting("whole")

    def fit(self, problem):
        TRAINED.append((self.effort, problem.n_rows))
        return super().fit(problem)

    def coarse(self):
        return RecordFits(effort="less")


def test_only_members_that_score_held_out_rows_are_trained_coarsely():
    X, y = np.arange(300.0)[:, None], np.arange(300) % 2
    TRAINED.clear()
    DivideAndConquerClassifier(
        "whole", RecordFits(), "route", probability="auto", random_state=0
    ).fit(X, y)
    assert TRAINED == [("whole", 300), ("less", 150), ("less", 150)]
