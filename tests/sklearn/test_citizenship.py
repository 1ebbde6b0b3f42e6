"""dcsvm among scikit-learn's own: its checks, searches, pipelines, meta-estimators and inputs."""

import copy

import cloudpickle
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from dcsvm import DataError, DivideAndConquerClassifier, GranularitySearch, SettingError, build
from dcsvm.toolbox import TablePreparation

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of the built-in plugins")

X, y = load_iris(return_X_y=True)


def classifier(decomposer="tree", learner="kernel_svm", combiner="route", **others):
    others.setdefault("random_state", 0)
    return DivideAndConquerClassifier(decomposer, learner, combiner, **others)


PIPELINES = {
    "whole, kernel_svm, route": classifier("whole", "kernel_svm"),
    "tree, linear_svm, route": classifier("tree", build("learner", "linear_svm", tol=1e-10)),
    "tree, krr, route": classifier("tree", "krr"),
    "class_pairs, kernel_svm, vote": classifier("class_pairs", "kernel_svm", "vote"),
    "class_rest, krr, argmax": classifier("class_rest", "krr", "argmax"),
    "two trees, krr, mean": classifier(2 * build("decomposer", "tree"), "krr", "mean"),
    "tree of class_pairs of whole": classifier(
        "tree", classifier("class_pairs", classifier("whole", "kernel_svm"), "vote")
    ),
    "whole of class_rest of tree": classifier(
        "whole", classifier("class_rest", classifier("tree", "krr"), "argmax")
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("pipeline", PIPELINES.values(), ids=PIPELINES.keys())
def test_every_check_of_scikit_learn_passes_with_no_expected_failure(pipeline):
    results = check_estimator(pipeline, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 50
    assert not [r["check_name"] for r in results if r["status"] == "xfail"]


def test_the_undivided_pipeline_is_the_svc_it_stands_for():
    ours = classifier("whole").fit(X, y)
    theirs = SVC(break_ties=True).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_grid_search_reaches_every_depth():
    nested = classifier("class_pairs", "kernel_svm", "vote")
    grid = {"decomposer__ceiling": [50, 1000], "learner__learner__C": [1e-3, 10.0]}
    search = GridSearchCV(classifier("tree", nested), grid, cv=3)
    search.set_params(estimator__decomposer=build("decomposer", "tree"))
    search.set_params(estimator__learner__learner=build("learner", "kernel_svm"))
    search.fit(X, y)
    assert search.best_params_["learner__learner__C"] == 10.0
    assert search.best_score_ > 0.9


def test_settings_of_components_given_by_name_may_be_searched_over():
    grid = {"decomposer__ceiling": [50, 1000], "learner__C": [1e-3, 10.0]}
    search = GridSearchCV(classifier("tree", "kernel_svm", "route"), grid, cv=3).fit(X, y)
    assert search.best_params_["learner__C"] == 10.0
    assert search.best_estimator_.learner.C == 10.0


def test_components_themselves_may_be_searched_over():
    grid = {"decomposer": ["whole", "tree"], "learner": ["kernel_svm", "krr", "linear_svm"]}
    search = GridSearchCV(classifier(), grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_it_stands_in_a_pipeline_and_is_cross_validated():
    line = make_pipeline(StandardScaler(), classifier("whole"))
    assert cross_val_score(line, X, y, cv=3).mean() > 0.9


def test_it_is_calibrated():
    clf = CalibratedClassifierCV(classifier(build("decomposer", "tree", ceiling=60)), cv=3)
    shares = clf.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert clf.score(X, y) > 0.9


def test_theirs_contain_ours_and_ours_contain_theirs():
    stack = StackingClassifier(
        [("ours", classifier()), ("svc", SVC())], LogisticRegression(), cv=3
    )
    assert stack.fit(X, y).score(X, y) > 0.9
    theirs = build("learner", "sklearn", classifier="RandomForestClassifier",
                   settings={"n_estimators": 10})  # fmt: skip
    assert classifier("tree", theirs).fit(X, y).score(X, y) > 0.9


def test_row_weights_are_routed_as_metadata():
    with sklearn.config_context(enable_metadata_routing=True):
        clf = classifier("whole").set_fit_request(sample_weight=True)
        clf.set_score_request(sample_weight=True)
        search = GridSearchCV(clf, {"class_weight": [None]}, cv=3)
        weights = np.where(y == 2, 1e-6, 1.0)
        search.fit(X, y, sample_weight=weights)
    labels = search.predict(X)
    assert (labels == 2).sum() < 10
    assert (labels == 0).sum() == 50


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_their_feature_names(frame):
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    clf = classifier().fit(table, y)
    assert clf.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(clf.predict(table), classifier().fit(X, y).predict(X))


@pytest.mark.parametrize("decomposer", ["whole", "tree", "chunks", "bootstrap", "class_pairs"])
@pytest.mark.parametrize("learner", ["kernel_svm", "linear_svm"])
def test_sparse_rows_go_end_to_end_without_becoming_dense(decomposer, learner, monkeypatch):
    rows = sparse.random(300, 10_000, density=0.01, format="csr", random_state=0)
    labels = (np.asarray(rows.sum(axis=1)).ravel() > 50).astype(int)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse_wide(kind.toarray))
    combiner = "route" if decomposer in ("whole", "tree") else "vote"
    clf = classifier(decomposer, learner, combiner).fit(rows, labels)
    assert clf.decision_function(rows).shape == (300,)


def refuse_wide(toarray):
    def guarded(self, *args, **kwargs):
        assert self.shape[-1] < 10_000, "a sparse matrix was made dense"
        return toarray(self, *args, **kwargs)

    return guarded


@pytest.mark.parametrize("decomposer", ["whole", "tree", "chunks"])
def test_sparse_and_dense_rows_give_the_same_answers(decomposer):
    dense = np.where(X > 2, X, 0.0)
    combiner = "mean"
    a = classifier(decomposer, "kernel_svm", combiner).fit(dense, y)
    b = classifier(decomposer, "kernel_svm", combiner).fit(sparse.csr_array(dense), y)
    np.testing.assert_allclose(
        a.decision_function(dense), b.decision_function(sparse.csr_array(dense)), atol=1e-5
    )


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("combiner", ["vote", "mean"])
def test_decisions_have_scikit_learns_shapes_and_agree_with_the_labels(k, combiner):
    rows, labels = make_classification(200, n_informative=4, n_classes=k, random_state=0)
    clf = classifier("class_pairs", "kernel_svm", combiner).fit(rows, labels)
    scores = clf.decision_function(rows)
    assert scores.shape == ((200,) if k == 2 else (200, 3))
    winners = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(rows), winners)


@pytest.mark.parametrize("names", [["b", "a", "c"], [30, 10, 20], [2.0, 1.0, 3.0], [-1, 0, 1]])
def test_labels_of_any_kind_come_back_as_given(names):
    labels = np.array(names)[y]
    clf = classifier("whole").fit(X, labels)
    assert clf.classes_.tolist() == sorted(names)
    assert clf.predict(X).dtype == labels.dtype
    assert (clf.predict(X) == labels).mean() > 0.9


def test_class_weights_move_the_border():
    rows, labels = make_classification(400, weights=[0.9], flip_y=0.1, random_state=0)
    plain = classifier("whole", "linear_svm").fit(rows, labels)
    heavy = classifier("whole", "linear_svm", class_weight={0: 1, 1: 20}).fit(rows, labels)
    balanced = classifier("whole", "linear_svm", class_weight="balanced").fit(rows, labels)
    assert heavy.predict(rows).sum() > balanced.predict(rows).sum() > plain.predict(rows).sum()


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_and_infinite_values_are_refused(value, word):
    broken = X.copy()
    broken[3, 1] = value
    with pytest.raises(ValueError, match=word):
        classifier().fit(broken, y)
    with pytest.raises(ValueError, match=word):
        classifier().fit(X, y).predict(broken)


def test_missing_values_are_told_with_ways_out_that_work():
    broken = X.copy()
    broken[3, 1] = np.nan
    sentence = "^X contains NaN.*TablePreparation.*SimpleImputer"
    search = GranularitySearch(classifier("tree"), {"learner__C": [1.0]}, random_state=0)
    for refuse in (classifier().fit, search.fit):
        with pytest.raises(DataError, match=sentence):
            refuse(broken, y)
    with pytest.raises(DataError, match=sentence):
        classifier().fit(X, y).predict(broken)
    with pytest.raises(DataError, match=sentence.replace("^X", "^X_val")):
        search.fit(X, y, X_val=broken, y_val=y)
    for way_out in (
        make_pipeline(SimpleImputer(), classifier()),
        make_pipeline(TablePreparation(missing="impute"), classifier()),
    ):
        assert way_out.fit(broken, y).score(broken, y) > 0.9


COLOURS = ["red", "green", "blue"] * 50


@pytest.mark.parametrize(
    "colours", [COLOURS, pd.Categorical(COLOURS)], ids=["texts", "categories"]
)
def test_texts_are_told_with_their_column_and_a_way_out_that_works(colours):
    rows = pd.DataFrame({"size": X[:, 0], "colour": colours})
    with pytest.raises(DataError) as caught:
        classifier().fit(rows, y)
    assert str(caught.value) == (
        "X holds texts, such as 'red' in column 'colour': put an encoder in front, as in "
        "make_pipeline(TablePreparation(), classifier)"
    )
    assert make_pipeline(TablePreparation(), classifier()).fit(rows, y).score(rows, y) > 0.5


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        (pd.DataFrame(pd.array([None, "1.5", *COLOURS[:-2]], dtype="string")), 0),
        (pl.DataFrame({"size": X[:, 0], "colour": COLOURS}), "colour"),
        (np.array([["1.5", colour] for colour in COLOURS]), 1),
        ([[1.5, colour] for colour in COLOURS], 1),
    ],
    ids=["gaps and numbers", "polars", "array", "list"],
)
def test_texts_are_told_whatever_holds_them(rows, column):
    with pytest.raises(DataError, match=f"such as 'red' in column {column!r}: put an encoder"):
        classifier().fit(rows, y)


def test_a_kernel_matrix_may_be_given():
    gram = X @ X.T
    svm = build("learner", "kernel_svm", kernel="precomputed", tol=1e-8)
    clf = classifier("class_pairs", svm, "vote")
    assert clf.__sklearn_tags__().input_tags.pairwise
    same = build("learner", "kernel_svm", kernel="linear", tol=1e-8)
    linear = classifier("class_pairs", same, "vote")
    np.testing.assert_allclose(
        clf.fit(gram, y).decision_function(gram), linear.fit(X, y).decision_function(X), atol=1e-6
    )
    assert cross_val_score(clf, gram, y, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    "pipeline", [("whole", "route"), ("class_pairs", "vote"), ("class_pairs", "dag")]
)
def test_a_classifier_that_has_answered_can_be_copied_and_sent(pipeline):
    decomposer, combiner = pipeline
    clf = classifier(decomposer, build("learner", "kernel_svm", gamma=0.5), combiner).fit(X, y)
    before = clf.decision_function(X)
    clf.predict(X[:1])
    for copied in (copy.deepcopy(clf), cloudpickle.loads(cloudpickle.dumps(clf))):
        np.testing.assert_array_equal(copied.decision_function(X), before)


def test_clones_are_unfitted_and_have_the_same_parameters():
    clf = PIPELINES["tree of class_pairs of whole"]
    copy = clone(clf)
    assert str(copy.get_params()) == str(clf.get_params())
    assert not hasattr(clone(clf.fit(X, y)), "model_")


def test_progress_reaches_scikit_learns_callbacks():
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    told = []

    class Recorder:
        def setup(self, estimator, context):
            told.append("setup")

        def on_fit_task_begin(self, estimator, context):
            told.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            told.append(f"end {context.task_name}")

        def teardown(self, estimator, context):
            told.append("teardown")

    clf = classifier("class_pairs", "kernel_svm", "vote").set_callbacks(Recorder())
    clf.fit(X, y)
    assert told[:3] == ["setup", "begin fit", "begin parts"]
    assert told.count("end part") == 3
    assert told[-3:] == ["end parts", "end fit", "teardown"]


def test_a_setting_without_its_component_is_led_there():
    classifier = DivideAndConquerClassifier("tree", "kernel_svm", "route")
    with pytest.raises(SettingError, match=r"no setting 'C'; did you mean 'learner__C'\?$"):
        classifier.set_params(C=1.0)
    with pytest.raises(SettingError, match=r"no setting 'learnr__C'; did you mean 'learner__C'\?"):
        classifier.set_params(learnr__C=1.0)
    assert classifier.set_params(learner__C=3.0).learner.C == 3.0
