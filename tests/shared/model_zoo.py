"""Valid model files of every kind, for the fuzzer to edit: small, and quick to train."""

import json
import tempfile
import warnings
from pathlib import Path

import attrs
import numpy as np
from forgery import read_entries
from registered import VARIANTS, components, small
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

import dcsvm
from dcsvm import (
    DivideAndConquerClassifier,
    LocalLearner,
    TablePreparation,
    build,
    component,
    load_plugin,
    setting,
)
from dcsvm.drive.registry import default_registry
from dcsvm.persistence.stored_types import Catalogue
from dcsvm.toolbox import Column, TableSchema, Wrapped

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = np.random.default_rng(0)
Y = np.arange(45) % 3
X = GENERATOR.normal(size=(45, 4)) + 1.5 * Y[:, None]
ASKED = np.vstack([X[:6] + 0.1, np.zeros((1, 4)), np.full((1, 4), 1e6), -X[6:10]])
MANY = 33  #: too many rows for a compiled plan
ESTIMATORS = {
    "ada": AdaBoostClassifier(n_estimators=3, random_state=0),
    "bagging": BaggingClassifier(n_estimators=3, max_features=2, random_state=0),
    "bayes": GaussianNB(),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=2),
    "centroid": NearestCentroid(),
    "extra": ExtraTreesClassifier(2, random_state=0),
    "forest": RandomForestClassifier(2, random_state=0),
    "gradient": GradientBoostingClassifier(n_estimators=2, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2),
    "kd tree": KNeighborsClassifier(algorithm="kd_tree", leaf_size=3),
    "ball tree": KNeighborsClassifier(algorithm="ball_tree", leaf_size=3),
    "brute": KNeighborsClassifier(algorithm="brute"),
    "linear svc": LinearSVC(),
    "logistic": LogisticRegression(),
    "network": MLPClassifier((3,), max_iter=1000, tol=1.0, random_state=0),
    "nusvc": NuSVC(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "process": GaussianProcessClassifier(),
    "ridge": RidgeClassifier(),
    "sgd": SGDClassifier(random_state=0),
    "stack": StackingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier())], cv=2),
    "svc": SVC(),
    "svc linear": SVC(kernel="linear"),
    "tree": DecisionTreeClassifier(random_state=0),
    "voting": VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
}
#: For combiners that work with classes only.
DECOMPOSERS = ("class_pairs", "class_rest", "class_tree")
#: Stored types that are part of ledgers and checkpoints, not of model files.
LEDGER_ONLY = (
    *("dcsvm:Seed", "dcsvm:Task", "decomposer:piecewise_tree/PiecewiseLinearModel"),
    *("decomposer:oblique_tree/GrowthSettings", "decomposer:oblique_tree/PegasosSettings"),
    "decomposer:oblique_tree/Subtree",
)


@attrs.frozen(eq=False)
class FiledModel:
    """A valid model file, and rows to ask a model that was loaded from it or from a forgery."""

    content: bytes
    rows: object

    def ask(self, model):
        """Predict in every way; rows of another width than the model's are made for it."""
        rows = self.rows
        width = getattr(model, "n_features_in_", rows.shape[1])
        if width > 10**6:
            return  # no memory has such rows
        if rows.shape[1] != width:
            rows = np.zeros((3, width))
        try:
            labels = model.predict(rows)
        except ValueError as error:
            # A scale of 1e308 is allowed, and rows that it makes infinite are not.
            if hasattr(model, "steps") and "contains infinity" in str(error):
                return
            raise
        assert labels.shape == (rows.shape[0],), labels.shape
        assert np.isin(labels, model.classes_).all(), labels
        for some in (rows, rows[:1], rows[np.arange(MANY) % rows.shape[0]]):
            _ask_in_every_way(model, some)


def _ask_in_every_way(model, rows):
    """Few rows are predicted by a compiled plan, and more by numpy."""
    scores = model.decision_function(rows)
    assert len(scores) == rows.shape[0], scores.shape
    assert len(model.predict(rows)) == rows.shape[0]
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows)
        assert shares.shape == (rows.shape[0], len(model.classes_)), shares.shape
    if hasattr(model, "cost"):
        model.cost(rows)


def write_models(only=""):
    """Return valid model files by name; all, or the one of a name."""
    load_plugin(ROOT / "examples" / "third_party_plugin" / "dcsvm_cells.py")
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (make, rows) in list_recipes().items():
            if only in ("", name):
                path = Path(folder) / "model"
                dcsvm.save(make(), path)
                found[name] = FiledModel(path.read_bytes(), rows)
    return found


def find_missing_types(models):
    """Return the names of stored types that no model holds, but those of ledgers alone."""
    catalogue = Catalogue(default_registry())
    held = {catalogue.types[name] for name in LEDGER_ONLY}
    for model in models.values():
        objects = json.loads(read_entries(model.content)["objects.json"])
        held |= {catalogue.types[each["name"]] for each in objects["types"]}
    return [name for name, cls in catalogue.types.items() if cls not in held]


def list_recipes():
    """Return functions that fit a model, with rows to ask, by name."""
    found = {}
    for kind, name in components():
        found[f"{kind} {name}"] = _fit(**_compose(kind, name, small(kind, name))), ASKED
    for number, (kind, name, settings) in enumerate(VARIANTS):
        parts = _compose(kind, name, build(kind, name, **settings))
        found[f"{kind} {name} {number}"] = _fit(**parts), ASKED
    for name, estimator in ESTIMATORS.items():
        found[f"estimator {name}"] = _fit_estimator(estimator), ASKED
    return found | _list_special()


def _list_special():
    tree = small("decomposer", "tree")
    two, texts = Y > 0, np.array(["ash", "birch", "cedar"])[Y]
    pairs = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag")
    thin = sparse.csr_array(np.where(X > 1, X, 0.0))
    table = np.column_stack([texts, X.round(2).astype(str)])
    names = tuple(Column(f"x{number}") for number in range(4))
    preparation = TablePreparation(missing="mark")
    few = {"max_iter": 2, "min_samples_leaf": 5}
    boosted = build(
        "learner", "sklearn", classifier="HistGradientBoostingClassifier", settings=few
    )
    blend = build(
        "decomposer",
        "blend",
        learners=(build("learner", "logistic"), build("learner", "kernel_svm")),
        weights=[0.3, 0.7],
        preparations=[{"scale": "quantile"}, {"scale": "standard", "encode": "onehot"}],
        n_levels=[0, 9, 0, 0],
    )
    tables = [
        make_pipeline(preparation, DivideAndConquerClassifier(tree, "kernel_svm", "route")),
        make_pipeline(
            TablePreparation("standard", "codes"),
            DivideAndConquerClassifier("class_pairs", "linear_svm", "vote"),
        ),
        make_pipeline(
            TablePreparation("robust", schema=TableSchema(names, "y", ("id",))),
            DivideAndConquerClassifier("whole", "majority", "route"),
        ),
    ]
    return {
        "two classes": (_fit(tree, y=two), ASKED),
        "two pairs": (_fit("class_pairs", combiner="dag", y=two), ASKED),
        "texts": (_fit(tree, y=texts), ASKED),
        "nested": (_fit(tree, pairs), ASKED),
        "cells": (_fit("cells"), ASKED),
        "sparse": (_fit(tree, X=thin), sparse.csr_array(ASKED)),
        "sparse pairs": (_fit("class_pairs", combiner="vote", X=thin), sparse.csr_array(ASKED)),
        "sparse svc": (_fit_estimator(SVC(), thin), sparse.csr_array(ASKED)),
        "sparse planes": (_fit("oblique_tree", "majority", X=thin), sparse.csr_array(ASKED)),
        "precomputed": (
            _fit(
                "chunks",
                build("learner", "krr", kernel="precomputed"),
                build("combiner", "mean"),
                X=X @ X.T,
            ),
            ASKED @ X.T,
        ),
        "float32": (_fit("whole", build("learner", "kernel_svm", precision="float32")), ASKED),
        "poly": (_fit("class_pairs", build("learner", "kernel_svm", kernel="poly")), ASKED),
        "probability": (_fit(tree, probability="auto"), ASKED),
        "probability by region": (_fit(tree, y=two, probability="scaling"), ASKED),
        "probability of two": (_fit("whole", y=two, probability="auto"), ASKED),
        "probability of members": (_fit(tree, "logistic", probability="auto"), ASKED),
        "probability of bayes": (_fit_estimator(GaussianNB(), probability="auto"), ASKED),
        "probability of trees": (
            _fit_estimator(RandomForestClassifier(2, random_state=0), probability="auto"),
            ASKED,
        ),
        "probability of pairs": (_fit("class_pairs", probability="temperature"), ASKED),
        "boosted trees": (_fit("whole", boosted, probability="auto"), ASKED),
        "boosted trees of two": (_fit("whole", boosted, y=two), ASKED),
        "blend": (_fit(blend, combiner="mean", X=np.abs(X.round()), probability="auto"), ASKED),
        "table": (lambda: tables[0].fit(table, Y), table[:9]),
        "codes": (lambda: tables[1].fit(table, Y), table[:9]),
        "schema": (lambda: tables[2].fit(X, Y), ASKED),
    }


def _compose(kind, name, component):
    """Return a composition with this component in it."""
    parts = {"decomposer": small("decomposer", "tree"), "learner": "kernel_svm"}
    parts["combiner"] = build("combiner", "vote")
    parts |= {kind: component}
    choices = {"decomposer": DECOMPOSERS, "combiner": ["class_path"]}
    for other, names in choices.items():
        for each in names if other != kind else []:
            if not parts["decomposer"].yields <= parts["combiner"].accepts:
                parts[other] = build(other, each)
    return parts


def _fit(decomposer, learner="kernel_svm", combiner=None, X=X, y=Y, **settings):
    if combiner is None:
        combiner = "vote" if decomposer == "class_pairs" else "route"
    settings["random_state"] = 0
    classifier = DivideAndConquerClassifier(decomposer, learner, combiner, **settings)
    return lambda: classifier.fit(X, y)


@component
class Given(LocalLearner):
    """Any estimator of scikit-learn."""

    name = "given"

    estimator: object = setting(None)

    def fit(self, problem):
        return Wrapped(clone(self.estimator).fit(problem.X, problem.y))


def _fit_estimator(estimator, X=X, **settings):
    def make():
        model = _fit(small("decomposer", "chunks"), Given(estimator), "mean", X, **settings)()
        model.learner = "sklearn"  # the name of a registered learner
        return model

    return make
