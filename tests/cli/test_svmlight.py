"""Sparse rows through the command line: every component takes an svmlight file."""

import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_iris

from dcsvm import DivideAndConquerClassifier
from dcsvm.datasets.loading import read
from dcsvm.drive.registry import RECIPE, default_registry
from dcsvm.numeric.array_types import narrow_indices

SHIPPED = [
    offer.name for offer in default_registry().of_kind(RECIPE) if offer.distribution == "dcsvm"
]
#: Decomposers, learners and combiners of scikit-learn's models, which want 32-bit indices.
PICKY = {
    "a tree": ("tree", "kernel_svm", "route"),
    "linear models": ("class_pairs", "linear_svm", "vote"),
    "a tree of SVMs": ("svm_tree", "kernel_svm", "route"),
    "a clustering": ("kmeans", "linear_svm", "route"),
}


@pytest.fixture
def rows(tmp_path):
    """The iris flowers in the file `iris.svm`."""
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "iris.svm"), zero_based=False)
    return "iris.svm"


def check_run(dcsvm, tmp_path, rows):
    """Whether the run in the folder `run` answers the file that it was trained on."""
    assert json.loads((tmp_path / "run" / "status.json").read_text())["state"] == "done"
    result = dcsvm("predict", "run", rows, "--out", "answers.csv", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["accuracy"] > 0.9


@pytest.mark.parametrize("title", PICKY)
def test_components_that_want_short_indices_get_them(dcsvm, recipe, rows, tmp_path, title):
    names = zip(("decomposer", "learner", "combiner"), PICKY[title], strict=True)
    lines = [f'{kind} = "{name}"' for kind, name in names]
    text = "\n".join([f'data.path = "{rows}"', *lines])
    result = dcsvm("run", recipe(text), "--out", "run", "--jobs", "1")
    assert result.exit_code == 0, result.stderr
    check_run(dcsvm, tmp_path, rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_recipe_takes_an_svmlight_file(dcsvm, rows, tmp_path, name):
    warnings.simplefilter("always")  # most recipes are meant for more rows
    quick = ("--set", "search.seconds=1", "--jobs", "1", "--out", "run")
    if name == "grouped_svm":  # which wants a column of groups
        quick += ("--set", "decomposer.column=0")
    result = dcsvm("run", name, "--data", rows, *quick)
    assert result.exit_code == 0, result.stderr
    check_run(dcsvm, tmp_path, rows)


def test_readers_give_short_indices(rows, tmp_path):
    X = read(tmp_path / rows).X
    assert X.indices.dtype == X.indptr.dtype == np.int32
    arrays = {"data": X.data, "indices": X.indices.astype(np.int64), "shape": np.array(X.shape)}
    np.savez("rows.npz", indptr=X.indptr.astype(np.int64), y=np.arange(150) % 2, **arrays)
    X = read(tmp_path / "rows.npz").X
    assert X.indices.dtype == X.indptr.dtype == np.int32


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_a_matrix_with_long_indices_can_be_learned_and_is_left_alone(kind):
    X, y = load_iris(return_X_y=True)
    long, short = kind(X), kind(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    model = DivideAndConquerClassifier("tree", "linear_svm", "route").fit(long, y)
    np.testing.assert_array_equal(model.predict(long), model.predict(short))
    assert long.indices.dtype == long.indptr.dtype == np.int64
    assert type(narrow_indices(long)) is kind


def test_indices_that_do_not_fit_stay_as_they_are():
    wide = sparse.csr_array(([1.0], ([0], [2**31])), shape=(1, 2**31 + 1))
    assert narrow_indices(wide) is wide
