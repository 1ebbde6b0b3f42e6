"""Forged model files are refused before compiled code sees their arrays."""

import json
import re
import subprocess
import sys
from pathlib import Path

import attrs
import forgery
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import ModelFileError
from dcsvm.drive.registry import default_registry
from dcsvm.numeric import Kernel, PlaneTree, Stored, axes, check_arrays
from dcsvm.persistence.field_types import _find_hints, fits
from dcsvm.persistence.stored_types import Catalogue
from dcsvm.toolbox import (
    Columns,
    Constant,
    KernelExpansion,
    LinearMap,
    NeighbourModel,
    Scaling,
)

pytest.importorskip("dcsvm_plugins", reason="the forged models are made of the built-in plugins")
import model_zoo

X, Y, ASKED = model_zoo.X, model_zoo.Y, model_zoo.ASKED


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def fit(decomposer, learner="kernel_svm", combiner="route", X=X, y=Y):
    return DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0).fit(X, y)


def forge(model, find, change, path, monkeypatch):
    """Save a model with one object changed, without the checks of `save`; return its file."""
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    for owner, name, value in walk(model.model_):
        if isinstance(value, find):
            object.__setattr__(owner, name, change(value))
            dcsvm.save(model, path)
            monkeypatch.undo()
            return path
    raise AssertionError(f"the model holds no {find.__name__}")


def walk(owner):
    """Yield (owner, field, value) for all attrs objects below; items of tuples one by one."""
    for field in attrs.fields(type(owner)):
        value = getattr(owner, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if attrs.has(type(each)):
                yield owner, field.name, each
                yield from walk(each)


def replace(**fields):
    return lambda value: attrs.evolve(
        value, **{k: f(getattr(value, k)) for k, f in fields.items()}
    )


def put(number, place=0):
    def change(array):
        changed = array.copy()
        changed.ravel()[place] = number
        return changed

    return change


def shorten(array):
    return array[:-1].copy()


TREE = build("decomposer", "tree", ceiling=6)
PLANES = build("decomposer", "oblique_tree", grain=9)
AXIS = next(each for each in type(TREE).stored_types if each.__name__ == "AxisTree")
LOGITS = next(iter(type(build("learner", "logistic")).stored_types))
NEIGHBOURS = build("decomposer", "neighbours", count=6)
ROUTER = next(each for each in type(TREE).stored_types if each.__name__ == "TreeRouter")
FORGED = {
    "unsigned features": (
        TREE,
        AXIS,
        replace(feature=lambda f: f.astype(np.uint64)),
        "AxisTree.feature has dtype uint64, but must hold integers up to int64",
    ),
    "a child outside": (TREE, AXIS, replace(left=put(10**6)), "must name every node"),
    "a child before its parent": (TREE, AXIS, replace(right=put(0)), "must name every node"),
    "a feature outside": (TREE, AXIS, replace(feature=put(10**6)), "holds 1000000, but must be"),
    "a short threshold": (TREE, AXIS, replace(threshold=shorten), "AxisTree.threshold has shape"),
    "a member outside": (TREE, ROUTER, replace(member=lambda m: m + 99), "TreeRouter.member"),
    "a cycle of planes": (PLANES, PlaneTree, replace(children=put(0)), "PlaneTree.children"),
    "no stride": (
        PLANES,
        PlaneTree,
        replace(weights=lambda w: w[:, :0].copy()),
        "has 0 columns, but must have 16 for 4 features",
    ),
    "other dtypes": (
        PLANES,
        PlaneTree,
        replace(weights=lambda w: w.astype(float)),
        "PlaneTree.weights has dtype float64, but must be C-ordered float32",
    ),
    "short thresholds": (PLANES, PlaneTree, replace(thresholds=shorten), "PlaneTree.thresholds"),
    "short biases": (TREE, KernelExpansion, replace(biases=shorten), "KernelExpansion.biases"),
    "NaN": (
        TREE,
        KernelExpansion,
        replace(coefficients=put(np.nan)),
        "KernelExpansion.coefficients holds NaN or infinity, but must be finite",
    ),
    "class sizes": (
        "whole",
        KernelExpansion,
        replace(class_sizes=lambda sizes: sizes + np.array([-99, 99, 0])),
        "KernelExpansion.class_sizes",
    ),
    "rows of another dtype": (
        NEIGHBOURS,
        NeighbourModel,
        replace(X=lambda X: X.astype("S2")),
        "NeighbourModel.X has dtype |S2, but must hold numbers",
    ),
    "rows that no model can learn": (
        NEIGHBOURS,
        NeighbourModel,
        replace(X=lambda X: np.full(X.shape, 1e308)),
        "NeighbourModel cannot train for a row: 'gamma' must be > 0.0",
    ),
    "a kernel that takes forever": (
        TREE,
        Kernel,
        lambda kernel: _with_degree(kernel, 10**15),
        "'degree' must be <= 10000",
    ),
}


def _with_degree(kernel, degree):
    changed = attrs.evolve(kernel)
    object.__setattr__(changed, "degree", degree)
    return changed


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_array_is_refused_by_its_type(name, path, monkeypatch):
    decomposer, find, change, sentence = FORGED[name]
    forge(fit(decomposer), find, change, path, monkeypatch)
    with pytest.raises(ModelFileError, match=re.escape(sentence)) as caught:
        dcsvm.load(path)
    assert str(caught.value).startswith(f"model file {str(path)!r} is damaged")


def test_labels_of_a_model_match_its_columns(path, monkeypatch):
    """Two labels have one column of scores."""
    model = fit("whole", build("learner", "logistic", landmarks=9), y=Y > 0)
    member = model.model_.committee.members[0]
    object.__setattr__(member, "code", np.vstack([member.code, -member.code]))
    forge(model, LOGITS, replace(), path, monkeypatch)
    with pytest.raises(ModelFileError, match="NystroemLogits has 2 labels, but must have those"):
        dcsvm.load(path)


@pytest.mark.slow
def test_every_stored_type_is_edited():
    """A new component is edited without being named here; a type that no model holds is not."""
    assert not model_zoo.find_missing_types(model_zoo.write_models())


def test_a_view_that_widens_rows_is_refused(path, monkeypatch):
    """Rows wider than the tree wrote past a buffer."""
    view = LinearMap(np.ones((4, 20_000)))
    inner = DivideAndConquerClassifier(PLANES, "majority", "route")
    model = fit("whole", inner)
    member = model.model_.committee.members[0]
    object.__setattr__(member, "view", view)
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    dcsvm.save(model, path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"PlaneTree.n_features is 4, but must be 20000"):
        dcsvm.load(path)


def test_a_tree_refuses_rows_of_another_width():
    model = fit(PLANES, "majority")
    tree = model.model_.committee.groups[0].router.tree
    for rows in (np.zeros((2, 5)), sparse.csr_array(np.zeros((2, 3)))):
        with pytest.raises(ValueError, match=r"rows have \d features, but must have 4"):
            tree.route(rows)


def edited(model, path, edit):
    """Save a model, edit its objects.json and manifest, and sign it again."""
    dcsvm.save(model, path)
    entries = forgery.read_entries(path.read_bytes())
    objects, manifest = (json.loads(entries[n]) for n in ("objects.json", "manifest.json"))
    edit(objects, manifest)
    entries |= {
        "objects.json": json.dumps(objects).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    path.write_bytes(forgery.sign(entries))
    return path


def test_a_group_cannot_ask_for_members_that_are_not_there(path):
    def edit(objects, manifest):
        names = [each["name"] for each in objects["types"]]
        group = next(o for o in objects["objects"] if names[o[0]] == "dcsvm:Group")
        group[2] = 10**9

    with pytest.raises(ModelFileError, match=r"Committee.groups must divide 3 members, in order"):
        dcsvm.load(edited(fit("class_pairs", combiner="vote"), path, edit))


def test_labels_cannot_ask_for_more_memory_than_they_hold(path):
    def edit(objects, manifest):
        manifest["classes"]["dtype"] = "<U262144"

    labels = np.array(["ash", "birch", "cedar"])[Y]
    with pytest.raises(ModelFileError, match="class labels have the invalid dtype '<U262144'"):
        dcsvm.load(edited(fit(TREE, y=labels), path, edit))


def test_labels_of_a_wide_dtype_are_saved_as_wide_as_they_are(path):
    labels = np.array(["ash", "birch", "cedar"]).astype("<U5000")[Y]
    model = fit(TREE, y=labels)
    dcsvm.save(model, path)
    assert dcsvm.load(path).predict(ASKED).dtype == np.dtype("<U5")
    assert dcsvm.load(path).predict(ASKED).tolist() == model.predict(ASKED).tolist()


def test_a_class_cannot_occur_twice(path):
    def edit(objects, manifest):
        manifest["classes"]["values"] = [0, 1, 1]

    with pytest.raises(ModelFileError, match="it has a class twice"):
        dcsvm.load(edited(fit(TREE), path, edit))


def test_a_graph_cannot_name_a_member_that_is_not_there(path, monkeypatch):
    model = fit("class_pairs", combiner="dag")
    graph = model.model_.combination
    changed = attrs.evolve(graph, node=graph.node + 3)
    object.__setattr__(model.model_, "combination", changed)
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    dcsvm.save(model, path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"DecisionGraph.node holds 5, but must be at most 2"):
        dcsvm.load(path)


def test_what_could_not_be_loaded_is_not_saved(path):
    model = fit(TREE, "linear_svm")
    member = model.model_.committee.members[0]
    object.__setattr__(member, "code", member.code * 2)
    with pytest.raises(ModelFileError, match=r"cannot save the classifier: Member.code holds"):
        dcsvm.save(model, path)
    assert not path.exists()


def forge_estimator(estimator, path, X=X):
    """Save a classifier with an estimator, fitted and then changed."""
    model = model_zoo._fit_estimator(LogisticRegression(), X)()
    for member in model.model_.committee.members:
        object.__setattr__(member.model, "estimator", estimator)
    return model


MACHINES = {
    "more support vectors than there are": {"_n_support": np.array([10**6, 0, 0], dtype=np.int32)},
    "short coefficients": {"_dual_coef_": np.zeros((2, 3))},
    "short biases": {"_intercept_": np.zeros(1)},
    "rows outside": {"support_": np.array([10**6], dtype=np.int32)},
    "probabilities that it does not have": {"_effective_probability": 1},
}


@pytest.mark.parametrize("changes", MACHINES.values(), ids=MACHINES)
def test_a_machine_of_scikit_learn_is_checked(changes, path, monkeypatch):
    machine = SVC().fit(X, Y)
    machine.__dict__.update(changes)
    model = forge_estimator(machine, path)
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    dcsvm.save(model, path)
    with pytest.raises(ModelFileError, match="support vectors of an SVC do not match its classes"):
        dcsvm.load(path)


def test_sparse_support_vectors_cannot_point_outside(path, monkeypatch):
    machine = SVC().fit(sparse.csr_array(X), Y)
    machine.support_vectors_.indices[0] = 10**6
    model = forge_estimator(machine, path, sparse.csr_array(X))
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    dcsvm.save(model, path)
    with pytest.raises(ModelFileError, match="is damaged or was altered: ValueError"):
        dcsvm.load(path)


def empty_prior(boosting):
    """With no class to begin with, compiled code wrote past an array."""
    boosting.init_.class_prior_ = boosting.init_.class_prior_[:0]


def shorten_classes(voting):
    voting.le_.classes_ = voting.le_.classes_[:-1]


def shorten_member_classes(voting):
    voting.estimators_[0].classes_ = voting.estimators_[0].classes_[:1]


def spoil_tree(forest):
    tree = forest.estimators_[0].tree_
    state = tree.__getstate__()
    state["values"][:] = np.nan
    tree.__setstate__(state)


def spoil_histogram_tree(boosting):
    boosting._predictors[0][0].nodes["value"][0] = np.nan


def shorten_tree_classes(boosting):
    boosting.estimators_[0].classes_ = boosting.estimators_[0].classes_[:1]


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("gradient", empty_prior, "does not begin by class"),
        ("voting", shorten_classes, "wrong number of classes"),
        ("voting", shorten_member_classes, "members of a VotingClassifier differ in classes"),
        ("ada", shorten_tree_classes, "wrong number of classes"),
        ("forest", spoil_tree, "a decision tree holds NaN or infinity"),
        ("histograms", spoil_histogram_tree, "a decision tree holds NaN or infinity"),
    ],
)
def test_an_ensemble_of_scikit_learn_is_checked(name, change, sentence, path, monkeypatch):
    estimator = clone(model_zoo.ESTIMATORS[name]).fit(X, Y)
    change(estimator)
    monkeypatch.setattr("dcsvm.persistence.model_file._check_place", lambda *given: None)
    dcsvm.save(forge_estimator(estimator, path), path)
    with pytest.raises(ModelFileError, match=sentence):
        dcsvm.load(path)


def test_an_estimator_of_other_features_is_refused(path, monkeypatch):
    model = forge_estimator(LogisticRegression().fit(X[:, :3], Y), path)
    with pytest.raises(ModelFileError, match="must be a classifier of 4 features, got"):
        dcsvm.save(model, path)


def test_every_stored_type_has_resolvable_annotations():
    """Otherwise the types of its fields would not be checked."""
    for name, cls in Catalogue(default_registry()).types.items():
        assert _find_hints(cls), name


@pytest.mark.parametrize(
    ("value", "hint", "fitting"),
    [
        (1, int, True),
        (True, int, False),
        (1.5, int, False),
        (1, float, True),
        ("1", float, False),
        (None, int | None, True),
        ((1, 2), tuple[int, ...], True),
        ([1, 2], tuple[int, ...], False),
        ((1, "a"), tuple[int, ...], False),
        ((1, "a"), tuple[int, str], True),
        ({"a": 1.0}, dict[str, float], True),
        ({"a": "b"}, dict[str, float], False),
        ([1, "a"], list[int], False),
    ],
)
def test_values_are_compared_with_annotations(value, hint, fitting):
    assert fits(value, hint) is fitting


@attrs.frozen(eq=False)
class Mine(Stored):
    table: np.ndarray = attrs.field(metadata=axes("rows", "features", at_least=0))
    owner: np.ndarray = attrs.field(metadata=axes("rows", dtype=np.integer, below="members"))


@pytest.mark.parametrize(
    ("table", "owner", "sentence"),
    [
        (np.ones((3, 2)), np.zeros(2, int), "Mine.owner has shape (2,), but must have shape"),
        (np.ones((3, 4)), np.zeros(3, int), "must have shape (rows, features=2)"),
        (np.ones((3, 2)), np.full(3, 5), "holds 5, but must be at most 4 (members = 5)"),
        (np.ones((3, 2)), np.ones(3), "Mine.owner has dtype float64, but must hold integers"),
        (-np.ones((3, 2)), np.zeros(3, int), "Mine.table holds -1.0, but must be at least 0"),
        (np.full((3, 2), np.nan), np.zeros(3, int), "holds NaN or infinity, but must be finite"),
        ([[1]], np.zeros(3, int), "Mine.table is a list, but must be an array"),
        (np.array([["a", "b"]]), np.zeros(1, int), "Mine.table has dtype <U1, but must hold"),
    ],
)
def test_declared_arrays_say_what_is_wrong_and_what_is_allowed(table, owner, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Mine(table, owner).check_stored(features=2, members=5)


def test_declared_arrays_that_fit_are_accepted():
    sizes = check_arrays(Mine(np.ones((3, 2)), np.zeros(3, int)), features=2)
    assert sizes == {"rows": 3, "features": 2}


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (Columns(np.array([4])), "Columns.columns holds 4, but must be at most 3"),
        (LinearMap(np.ones((3, 2))), "LinearMap.matrix has shape (3, 2), but must have shape"),
        (Scaling(), "Scaling.factor is missing"),
    ],
)
def test_views_are_checked_against_the_features_they_are_given(view, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        view.count_features(4)


def test_a_view_of_a_plugin_is_tried_on_a_row():
    class Doubled(dcsvm.toolbox.View):
        def apply(self, X):
            return np.hstack([X, X])

    assert Doubled().count_features(3) == 6


def test_a_constant_is_finite():
    with pytest.raises(ValueError, match=r"Constant.value must be finite"):
        Constant(np.nan).check_stored()


@pytest.mark.slow
def test_edited_files_are_refused_or_answered():
    """A process of its own: it forks, which a process with threads must not do."""
    script = Path(__file__).parent / "fuzz_model_files.py"
    command = [sys.executable, str(script), "--cases", "600", "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    told = r"600 cases of \d+ models in \d+ s: \d{3} refused, \d{3} answered, 0 failed"
    assert re.search(told, done.stdout)


def test_an_edited_file_is_signed(path):
    dcsvm.save(fit(TREE), path)
    content = path.read_bytes()
    altered, told = forgery.edit(content, np.random.default_rng(1))
    assert told
    assert forgery.read_entries(altered) != forgery.read_entries(content)
