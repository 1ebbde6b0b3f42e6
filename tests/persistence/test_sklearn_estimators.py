"""Estimators of scikit-learn in model files: through skops, and from trusted types only."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest
from fakes import Average, Everything, Strips, blobs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from store_fakes import FAKES, Keeps, Wraps, again, assert_same, fitted, registry_of

import dcsvm
from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import ModelFileError
from dcsvm.persistence import model_file_format
from dcsvm.persistence.model_file_format import FormatError
from dcsvm.persistence.sklearn_arrays import check_estimator
from dcsvm.persistence.sklearn_estimators import make_canonical


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    registry = registry_of(*FAKES)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: registry)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


ESTIMATORS = {
    "linear": LogisticRegression(),
    "bayes": GaussianNB(),
    "machine": SVC(),
    "descent": SGDClassifier(random_state=0),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(3, random_state=0),
    "bags": BaggingClassifier(n_estimators=3, max_features=1, random_state=0),
    "boosted stumps": AdaBoostClassifier(n_estimators=3, random_state=0),
    "boosted trees": GradientBoostingClassifier(n_estimators=2, random_state=0),
    "boosted histograms": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2),
    "neighbours": KNeighborsClassifier(algorithm="kd_tree", leaf_size=3),
    "more neighbours": KNeighborsClassifier(algorithm="ball_tree", leaf_size=3),
    "a network": MLPClassifier((3,), max_iter=1000, tol=1.0, random_state=0),
    "a process": GaussianProcessClassifier(),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=2),
    "a line": make_pipeline(StandardScaler(), FunctionTransformer(np.tanh), LogisticRegression()),
    "a stack": StackingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier())], cv=2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_come_back_to_the_bit_and_save_to_the_same_bytes(name, path, tmp_path):
    model, X = fitted(Everything(), Wraps(ESTIMATORS[name]), n=45)
    after = again(model, path)
    dcsvm.save(after, tmp_path / "second")  # first, since trees of neighbours count who asks
    # A copy: scikit-learn treats rows that are the very array it keeps in a way of their own.
    assert_same(model, after, X[:20].copy())
    assert (tmp_path / "second").read_bytes() == path.read_bytes()


def test_an_estimator_of_sparse_rows_comes_back(path, tmp_path):
    X, y = blobs(60, 3)
    X = sparse.csr_matrix(np.maximum(X, 0))
    model = DivideAndConquerClassifier(Everything(), Wraps(SVC()), Average()).fit(X, y)
    after = again(model, path)
    assert_same(model, after, X[:20])
    dcsvm.save(after, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == path.read_bytes()


def test_two_fits_of_the_same_model_give_the_same_bytes(path, tmp_path):
    for place in (path, tmp_path / "second"):
        model, _ = fitted(Strips(2), Wraps(RandomForestClassifier(2, random_state=0)))
        dcsvm.save(model, place)
    assert (tmp_path / "second").read_bytes() == path.read_bytes()


class Homemade(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_an_estimator_of_someone_else_is_refused_when_saved(path):
    model, _ = fitted(Everything(), Wraps(Homemade()), k=2)
    model.learner = "wraps"
    with pytest.raises(ModelFileError) as caught:
        dcsvm.save(model, path)
    sentence = str(caught.value)
    assert sentence.startswith("cannot save Wrapped: estimator holds a Homemade with ")
    assert sentence.endswith(
        "Homemade, but a model file holds estimators made of types of scikit-learn, numpy and "
        "scipy only; write a learner plugin with stored_types for it"
    )
    assert not path.exists()


def test_a_function_inside_an_estimator_is_refused_when_saved(path):
    model, _ = fitted(Everything(), Keeps(FunctionTransformer(json.dumps)), k=2)
    with pytest.raises(ModelFileError, match=r"holds a FunctionTransformer with json\.dumps"):
        dcsvm.save(model, path)


def test_an_estimator_that_skops_cannot_write_is_refused(path):
    model, _ = fitted(Everything(), Wraps(GaussianNB()), k=2)
    model.model_.committee.members[0].model.estimator.extra = (each for each in ())
    model.learner = "wraps"
    with pytest.raises(ModelFileError, match="holds a GaussianNB, which skops cannot write"):
        dcsvm.save(model, path)


NEEDS_SKOPS = r"needs skops: pip install 'dcsvm\[sklearn\]'"


def test_without_skops_an_estimator_is_refused_and_the_error_says_what_to_install(
    path, monkeypatch
):
    model, _ = fitted(Everything(), Wraps(GaussianNB()), k=2)
    model.learner = "wraps"
    dcsvm.save(model, path)
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ModelFileError, match=f"holds a GaussianNB, which {NEEDS_SKOPS}"):
        dcsvm.save(model, path)
    with pytest.raises(
        ModelFileError, match=f"has an estimator of scikit-learn, which {NEEDS_SKOPS}"
    ):
        dcsvm.load(path)


def test_a_model_of_our_own_needs_no_skops(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    model, X = fitted(Everything(), Keeps(np.arange(3)), k=2)
    dcsvm.save(model, path)
    assert_same(model, dcsvm.load(path), X)


def with_estimator(content, path):
    """A model file with these bytes as its estimator, and checksums that match."""
    model, _ = fitted(Everything(), Wraps(GaussianNB()), k=2)
    model.learner = "wraps"
    dcsvm.save(model, path)
    with zipfile.ZipFile(path) as zipped:
        entries = {name: [zipped.read(name)] for name in zipped.namelist()}
    head = json.loads(entries.pop("manifest.json")[0])
    del entries["manifest.sha256"], head["entries"]
    model_file_format.write_archive(str(path), head, entries | {"estimators/0.skops": [content]})


def sentence_for(content, path):
    with_estimator(content, path)
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(path)
    return str(caught.value).removeprefix(f"model file {str(path)!r} ")


def test_an_estimator_of_someone_else_is_refused_when_loaded(path):
    from skops.io import dumps

    sentence = sentence_for(make_canonical(dumps(Homemade())), path)
    assert sentence.startswith("has an estimator with untrusted types: ")
    assert sentence.endswith("Homemade")
    sentence = sentence_for(make_canonical(dumps(FunctionTransformer(json.dumps))), path)
    assert sentence == "has an estimator with untrusted types: json.dumps"


def test_what_skops_trusts_must_still_come_from_scikit_learn(path):
    from skops.io import dumps

    with zipfile.ZipFile(io.BytesIO(dumps(GaussianNB()))) as zipped:
        schema = zipped.read("schema.json").replace(b"sklearn.naive_bayes", b"elsewhere")
    content = model_file_format.zip_entries({"schema.json": schema})
    assert sentence_for(content, path).endswith("with untrusted types: elsewhere.GaussianNB")


def test_a_compressed_estimator_is_refused(path):
    from skops.io import dumps

    content = dumps(GaussianNB(), compression=zipfile.ZIP_DEFLATED)
    assert sentence_for(content, path).startswith("has a compressed entry")
    matrix = io.BytesIO()
    sparse.save_npz(matrix, sparse.csr_matrix((1000, 1000)))
    content = model_file_format.zip_entries({"schema.json": b"{}", "0.npz": matrix.getvalue()})
    assert sentence_for(content, path).startswith("has a compressed entry")


def forged_tree(change):
    """A decision tree whose nodes were changed behind its back."""
    X, y = blobs(45, 3)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    state = model.tree_.__getstate__()
    change(state["nodes"], state)
    model.tree_.__setstate__(state)
    return model


def forged_boosting(change):
    X, y = blobs(45, 2)
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=2).fit(X, y)
    nodes = model._predictors[0][0].nodes.copy()
    change(nodes)
    model._predictors[0][0].nodes = nodes
    return model


def forged_neighbours(place, change):
    X, y = blobs(45, 3)
    model = KNeighborsClassifier(algorithm="kd_tree", leaf_size=3).fit(X, y)
    state = list(model._tree.__getstate__())
    state[place] = change(np.array(state[place]))
    model._tree.__setstate__(tuple(state))
    return model


def setting(field, value):
    def change(nodes, state=None):
        nodes[field][0] = value

    return change


def started_late(nodes):
    nodes["idx_end"][0] = 10**6
    return nodes


FORGED = {
    "a child outside": lambda: forged_tree(setting("left_child", 10**6)),
    "a child before its parent": lambda: forged_tree(setting("right_child", 0)),
    "a negative child": lambda: forged_tree(setting("right_child", -2)),
    "a feature outside": lambda: forged_tree(setting("feature", 10**6)),
    "a wrong number of nodes": lambda: forged_tree(
        lambda nodes, state: state.update(node_count=len(nodes) - 1)
    ),
    "other features than its owner": lambda: _other_features(),
    "a boosted child outside": lambda: forged_boosting(setting("left", 10**6)),
    "a boosted feature outside": lambda: forged_boosting(setting("feature_idx", 10**6)),
    "a boosted set outside": lambda: forged_boosting(setting("is_categorical", 1)),
    "a row outside": lambda: forged_neighbours(1, lambda order: order + 10**6),
    "a node of rows outside": lambda: forged_neighbours(2, started_late),
    "too few nodes": lambda: forged_neighbours(2, lambda nodes: nodes[:1]),
}


def _other_features():
    X, y = blobs(45, 3)
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    wider = RandomForestClassifier(2, random_state=0).fit(np.hstack([X, X]), y)
    forest.estimators_ = wider.estimators_
    return forest


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_tree_cannot_point_outside_itself(forged, path):
    from skops.io import dumps

    sentence = sentence_for(make_canonical(dumps(forged())), path)
    assert sentence.startswith(("is damaged: a decision tree", "is damaged: a neighbor tree"))


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_estimator_never_ends_in_a_traceback(path, data):
    content = bytearray(SMALL)
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with_estimator(bytes(content), path)
    try:
        dcsvm.load(path)
    except ModelFileError as error:
        assert str(error).startswith("model file ")  # noqa: PT017


def _small():
    from skops.io import dumps

    return make_canonical(dumps(LogisticRegression().fit(*blobs(20, 2))))


SMALL = _small()


def test_a_neighbor_tree_of_countless_levels_is_refused_at_once():
    tree = KDTree(np.zeros((5, 2)))
    check_estimator(tree)
    state = list(tree.__getstate__())
    state[5] = 2**62
    tree.__setstate__(tuple(state))
    with pytest.raises(FormatError, match="a neighbor tree has invalid node or row numbers"):
        check_estimator(tree)
