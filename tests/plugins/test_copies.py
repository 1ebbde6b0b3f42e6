"""Fitted models of every built-in can be copied, pickled and written by skops at any time."""

import copy
import io
import pickle
from itertools import product

import fakes
import joblib
import numpy as np
import pytest
from registered import VARIANTS, components, small
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedShuffleSplit

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError
from dcsvm.drive.registry import Offer, Registry, default_registry
from dcsvm.experiments.recipe import find_recipe
from dcsvm.experiments.run.runner import run_recipe
from dcsvm.inspection import compile_tree
from dcsvm.persistence.sklearn_estimators import TRUSTED_TYPES
from dcsvm.persistence.stored_types import trusted_types

cloudpickle = pytest.importorskip("cloudpickle")
skops = pytest.importorskip("skops.io")

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
NAMES = {kind: [name for each, name in components() if each == kind] for kind, _ in components()}


def by_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    return joblib.load(buffer)


def by_skops(model):
    return skops.loads(skops.dumps(model), trusted=trusted_types() + list(TRUSTED_TYPES))


WAYS = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "joblib": by_joblib,
    "skops": by_skops,
}


def check_copies(model, ways=tuple(WAYS)):
    """Copies before and after the first prediction give the same bits as the model."""
    before = {way: WAYS[way](model) for way in ways}
    labels, scores = model.predict(X), model.decision_function(X)
    model.predict(X[:1])
    model.cost(X)
    after = {f"{way}, after predict": WAYS[way](model) for way in ways}
    for way, other in (before | after).items():
        np.testing.assert_array_equal(other.predict(X), labels, way)
        assert other.decision_function(X).tobytes() == scores.tobytes(), way
    return after


def fit(decomposer, learner, combiner):
    parts = decomposer, learner, combiner
    try:
        return DivideAndConquerClassifier(*parts, random_state=0).fit(X, Y)
    except CompositionError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decomposer", "combiner"), list(product(NAMES["decomposer"], NAMES["combiner"]))
)
def test_every_composition_is_copied_by_skops(decomposer, combiner):
    model = fit(small("decomposer", decomposer), "kernel_svm", small("combiner", combiner))
    if model is not None:
        check_copies(model, ["skops", "deepcopy"])


@pytest.mark.parametrize("decomposer", NAMES["decomposer"])
def test_models_of_every_decomposer_are_copied(decomposer):
    combiners = ("vote", "route", "class_path")
    models = [fit(small("decomposer", decomposer), "kernel_svm", each) for each in combiners]
    assert any(models)
    check_copies(next(filter(None, models)))


@pytest.mark.parametrize("learner", NAMES["learner"])
def test_models_of_every_learner_are_copied(learner):
    check_copies(fit(small("decomposer", "tree"), small("learner", learner), "route"))


@pytest.mark.parametrize("combiner", NAMES["combiner"])
def test_models_of_every_combiner_are_copied(combiner):
    decomposer = {"argmax": "class_rest", "dag": "class_pairs", "decode": "class_codes"}
    decomposer["class_path"] = "class_tree"
    dividing = small("decomposer", decomposer.get(combiner, "tree"))
    check_copies(fit(dividing, "kernel_svm", small("combiner", combiner)))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "settings"), VARIANTS)
def test_models_of_other_settings_are_copied(kind, name, settings):
    parts = {"decomposer": "tree", "learner": "kernel_svm", "combiner": "vote"}
    if name in ("dag", "decode", "class_codes"):
        parts["decomposer"] = "class_pairs"
    if name == "class_tree":
        parts["combiner"] = "class_path"
    check_copies(fit(*(parts | {kind: build(kind, name, **settings)}).values()))


def test_pairs_with_a_shared_kernel_are_copied_after_predict():
    inner = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag")
    check_copies(fit(small("decomposer", "tree"), inner, "route"))


def test_a_copy_after_predict_holds_as_much_as_one_before():
    model = fit("class_pairs", "kernel_svm", "dag")
    before = pickle.dumps(model)
    model.predict(X)
    assert len(pickle.dumps(model)) == len(before)


def test_joblib_writes_points_that_pairs_share_once(tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 50))
    labels = np.arange(200) % 10
    model = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(rows, labels)
    joblib.dump(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 10 * rows.nbytes
    other = joblib.load(tmp_path / "model")
    assert other.decision_function(rows).tobytes() == model.decision_function(rows).tobytes()


def test_a_copy_can_be_trained_and_keeps_its_ledger():
    model = fit("tree", "kernel_svm", "route")
    other = copy.deepcopy(model)
    assert other.ledger_ == model.ledger_
    assert other.fit(X[::2], Y[::2]).n_rows_ < model.n_rows_


def test_a_compiled_tree_is_copied():
    compiled = compile_tree(fit("oblique_tree", "majority", "route"))
    for way in ("deepcopy", "pickle"):
        np.testing.assert_array_equal(WAYS[way](compiled).predict(X), compiled.predict(X))
        assert WAYS[way](compiled).one(X[0]) == compiled.one(X[0])


def find_model(title):
    """A fitted classifier, search or recipe pipeline."""
    grid = {"learner__C": [1.0, 10.0]}
    classifier = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    if title == "grid search":
        return GridSearchCV(classifier, grid, cv=2).fit(X, Y)
    if title == "search by another score":
        splitter = StratifiedShuffleSplit(2, random_state=0)
        asked = {"n_iter": 2, "scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}
        return RandomizedSearchCV(classifier, grid, cv=splitter, **asked).fit(X, Y)
    if title == "recipe":
        return run_recipe(find_recipe(None, default_registry(), ("--data iris",))).model
    return fit(title, "kernel_svm", "route")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("title", ["grid search", "search by another score", "recipe"])
def test_searches_and_recipe_pipelines_are_copied(title, way):
    model = find_model(title)
    rows = load_iris().data  # in the order of the recipe's columns
    before = WAYS[way](model)
    labels = model.predict(rows)
    for other in (before, WAYS[way](model)):
        np.testing.assert_array_equal(other.predict(rows), labels)


@pytest.mark.filterwarnings("ignore")  # those of MLflow
@pytest.mark.parametrize(
    "title", ["tree", "oblique_tree", "grid search", "search by another score", "recipe"]
)
def test_mlflow_saves_and_loads(title, tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    model, rows = find_model(title), load_iris().data
    for when in ("before", "after"):  # predictions
        mlflow.save_model(model, tmp_path / when, skops_trusted_types=trusted_types())
        other = mlflow.load_model(tmp_path / when)
        np.testing.assert_array_equal(other.predict(rows), model.predict(rows))


def test_types_of_plugins_from_elsewhere_are_trusted():
    registry = Registry(())
    offer = Offer("decomposer", "strips", fakes.Strips, "fakes", "0")
    registry.offers["decomposer", "strips"] = offer
    listed = trusted_types(registry)
    for cls in (fakes.Strips, fakes.StripRouter):
        assert f"{cls.__module__}.{cls.__qualname__}" in listed
