"""Plans: the labels and scores of numpy, for one row, a few or many, for any strategy."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.drive import fitted_strategy
from dcsvm.drive.registry import default_registry
from dcsvm.numeric import native

X, Y = load_iris(return_X_y=True)
#: Rows of the classes, and rows between them and far away.
ROWS = np.vstack([X, X + np.random.default_rng(0).normal(size=X.shape)])
native_only = pytest.mark.skipif(native.library is None, reason="plans are executed in C")
#: Decomposer with settings, or several, learner and combiner.
PIPELINES = [
    ({"tree": {"ceiling": 20}}, "kernel_svm", "route"),
    ({"tree": {"ceiling": 20, "local_scaling": "minmax"}}, "linear_svm", "route"),
    ({"class_pairs": {}}, "kernel_svm", "dag"),
    ({"class_pairs": {}}, "linear_svm", "dag"),
    ({"class_pairs": {}}, "kernel_svm", "vote"),
    ({"class_rest": {}}, "krr", "argmax"),
    ({"class_codes": {}}, "kernel_svm", "decode"),
    ({"class_tree": {}}, "kernel_svm", "class_path"),
    ({"class_tree": {}, "class_tree ": {"split": "random"}}, "linear_svm", "class_path"),
    ({"ordinal": {}}, "kernel_svm", "decode"),
    ({"kernel_kmeans": {}}, "kernel_svm", "route"),
    ({"oblique_tree": {}}, "majority", "route"),
    ({"bootstrap": {}}, "kernel_svm", "vote"),
    ({"boosting": {"rounds": 3}}, "linear_svm", "weighted_sum"),
    ({"tree": {"ceiling": 20}, "chunks": {"parts": 2}}, "kernel_svm", "weighted_sum"),
    ({"tree": {"ceiling": 20}, "chunks": {"parts": 2}}, "kernel_svm", "product"),
    ({"pca_subspaces": {}}, "kernel_svm", "fusion"),
    ({"tree": {"ceiling": 20}, "chunks": {"parts": 2}}, "kernel_svm", "fusion"),
    ({"rd_subspaces": {}, "abd_subspaces": {}, "dca_subspaces": {}}, "krr", "mean"),
    ({"abd_subspaces": {"local_scaling": "standard"}}, "trbf_krr", "mean"),
    ({"blend": {"preparations": [{"scale": "minmax"}, {"scale": "none"}]}}, "krr", "mean"),
    ({"tree": {"ceiling": 20}, "tree ": {"ceiling": 40}}, "kernel_svm", "mean"),
    ({"tree": {"ceiling": 20}, "oblique_tree": {}}, "kernel_svm", "vote"),
    ({"mixture": {"experts": 3}}, "kernel_svm", "route"),
    ({"spill_forest": {"trees": 2, "ceiling": 30}}, "kernel_svm", "mean"),
    ({"spill_forest": {"trees": 2, "ceiling": 30, "overlap": 0.0}}, "kernel_svm", "mean"),
    ({"lsh": {"bits": 2, "smallest": 10}}, "kernel_svm", "route"),
    ({"groups": {"column": 3, "smallest": 8}}, "kernel_svm", "route"),
    ({"whole": {}}, "logistic", "route"),
]


def fit(divisions, learner, combiner, **settings):
    decomposers = []
    for name, given in divisions.items():
        if name == "blend":
            given = given | {"learners": [build("learner", learner, gamma=g) for g in (0.5, 2.0)]}
        decomposers.append(build("decomposer", name.strip(), **given))
    decomposer, *others = decomposers
    for other in others:
        decomposer = decomposer + other
    clf = DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0, **settings)
    return clf.fit(X[::2], Y[::2])


def name_of(pipeline):
    return " ".join([*(name.strip() for name in pipeline[0]), *pipeline[1:]])


@pytest.mark.parametrize("probability", ["off", "auto"])
@pytest.mark.parametrize("pipeline", PIPELINES, ids=name_of)
def test_rows_have_the_labels_and_scores_of_numpy(pipeline, probability, monkeypatch):
    clf = fit(*pipeline, probability=probability)
    asked = [clf.decision_function]
    if probability == "auto":
        asked.append(clf.predict_proba)
    with monkeypatch.context() as numpy_alone:
        numpy_alone.setattr(native, "library", None)
        labels, expected = clf.predict(ROWS), [ask(ROWS) for ask in asked]
    for size in (1, 7, len(ROWS)):
        batches = [ROWS[start : start + size] for start in range(0, len(ROWS), size)]
        np.testing.assert_array_equal(np.concatenate([clf.predict(x) for x in batches]), labels)
        for ask, scores in zip(asked, expected, strict=True):
            found = np.concatenate([ask(x) for x in batches])
            np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)


def test_every_built_in_combiner_is_asked_by_a_plan():
    named = {name for kind, name in default_registry().offers if kind == "combiner"}
    assert named <= {combiner for _, _, combiner in PIPELINES}


@native_only
@pytest.mark.parametrize("pipeline", PIPELINES, ids=name_of)
def test_built_in_strategies_are_plans_without_python(pipeline):
    runner = fit(*pipeline).model_.compile(X.shape[1])
    assert not {"ask", "ask_router"} & {step.kind for step in runner.plan.steps}


@native_only
@pytest.mark.parametrize("probability", ["off", "auto"])
def test_blocks_and_jobs_change_no_bit_of_a_forest(probability, monkeypatch):
    forest = {"tree": {"ceiling": 20}, "tree ": {"ceiling": 40}}
    clf = fit(forest, "kernel_svm", "mean", probability=probability)
    assert clf.model_.runs_in_blocks(ROWS, probability == "off")
    scores = clf.decision_function(ROWS)
    alone = np.vstack([clf.decision_function(x[None]) for x in ROWS])
    np.testing.assert_array_equal(alone, scores)
    runner = clf.model_.compile(4, probability == "off")
    monkeypatch.setattr(runner, "_block", 70)
    np.testing.assert_array_equal(clf.decision_function(ROWS), scores)
    monkeypatch.setattr(fitted_strategy, "SHARED", 1)
    for clf.n_jobs, size in ((1, 50), (2, 50), (2, 1000), (3, 7)):
        monkeypatch.setattr(fitted_strategy, "PLANNED", size)
        np.testing.assert_array_equal(clf.decision_function(ROWS), scores)


@native_only
def test_a_strategy_inside_a_strategy_is_in_the_same_plan():
    inner = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    clf = fit({"tree": {"ceiling": 20}}, inner, "route")
    kinds = [step.kind for step in clf.model_.compile(X.shape[1]).plan.steps]
    assert kinds.count("strategy") > 1
    assert [clf.predict(x[None])[0] for x in X] == clf.predict(X).tolist()


def test_copies_do_not_hold_the_plan():
    model = fit({"tree": {"ceiling": 20}}, "kernel_svm", "route").model_
    model.labels(X[:1])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert not other._plans
        np.testing.assert_array_equal(other.labels(X[:9]), model.labels(X[:9]))
