"""Single rows by plans: the labels and scores of a batch, for any strategy."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.numeric import native

X, Y = load_iris(return_X_y=True)
native_only = pytest.mark.skipif(native.library is None, reason="plans are executed in C")
PIPELINES = [
    ("tree", "kernel_svm", "route"),
    ("class_pairs", "kernel_svm", "dag"),
    ("class_pairs", "linear_svm", "dag"),
    ("class_pairs", "kernel_svm", "vote"),
    ("class_rest", "krr", "argmax"),
    ("class_codes", "kernel_svm", "decode"),
    ("kernel_kmeans", "kernel_svm", "route"),
    ("oblique_tree", "majority", "route"),
    ("bootstrap", "kernel_svm", "vote"),
    ("pca_subspaces", "kernel_svm", "fusion"),
    ("tree + tree", "kernel_svm", "mean"),
]


def fit(decomposer, learner, combiner):
    one = build("decomposer", decomposer.split()[0])
    two = one + one if "+" in decomposer else one
    return DivideAndConquerClassifier(two, learner, combiner, random_state=0).fit(X[::2], Y[::2])


@pytest.mark.parametrize("names", PIPELINES, ids=" ".join)
def test_single_rows_have_the_labels_and_scores_of_a_batch(names):
    clf = fit(*names)
    labels, scores = clf.predict(X), clf.decision_function(X)
    assert [clf.predict(x[None])[0] for x in X] == labels.tolist()
    alone = np.vstack([clf.decision_function(x[None]) for x in X])
    np.testing.assert_allclose(alone, scores, rtol=1e-9, atol=1e-9)


@native_only
@pytest.mark.parametrize("names", PIPELINES, ids=" ".join)
def test_built_in_strategies_are_plans_without_python(names):
    runner = fit(*names).model_.compile(X.shape[1])
    assert "ask" not in {step.kind for step in runner.plan.steps}


@native_only
def test_a_strategy_inside_a_strategy_is_in_the_same_plan():
    inner = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    clf = fit("tree", inner, "route")
    kinds = [step.kind for step in clf.model_.compile(X.shape[1]).plan.steps]
    assert kinds.count("strategy") > 1
    assert [clf.predict(x[None])[0] for x in X] == clf.predict(X).tolist()


def test_copies_do_not_hold_the_plan():
    model = fit("tree", "kernel_svm", "route").model_
    model.labels(X[:1])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert not other._plans
        np.testing.assert_array_equal(other.labels(X[:9]), model.labels(X[:9]))
