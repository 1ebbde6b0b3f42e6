"""The fast path: the labels of the classifier, one row in microseconds, and C code alone."""

import contextlib
import ctypes
import shutil
import subprocess
import timeit
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from dcsvm import DataError, DivideAndConquerClassifier, TablePreparation, build
from dcsvm.base.errors import CompositionError
from dcsvm.inspection import compile_tree
from dcsvm.numeric import implementation
from dcsvm.numeric.native import numpy_only

pytest.importorskip("dcsvm_plugins")


def moons(n=1500, d=20):
    X, y = make_moons(n, noise=0.3, random_state=0)
    noise = np.random.default_rng(0).normal(size=(n, d - 2))
    return np.column_stack([X, noise]), np.array(["no", "yes"])[y]


@cache
def classifier(scaled=False, classes=2, **settings):
    X, y = moons()
    if classes > 2:
        y = np.where(X[:, 2] > 0.5, "maybe", y)
    tree = build("decomposer", "oblique_tree", iterations=1000, **settings)
    inner = DivideAndConquerClassifier(tree, "majority", random_state=0)
    outer = make_pipeline(TablePreparation("standard"), inner)
    return (outer if scaled else inner).fit(X[:1000], y[:1000])


@pytest.mark.parametrize("scaled", [False, True], ids=["as is", "scaled"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("merge", ["none", "pure", "majority"])
def test_its_labels_are_those_of_the_classifier(merge, classes, scaled):
    X, _ = moons()
    slow = classifier(scaled, classes, merge=merge, smallest=0.01)
    fast = compile_tree(slow)
    expected = slow.predict(X)
    assert (fast.predict(X) == expected).all()
    assert [fast.one(x) for x in X] == expected.tolist()
    with numpy_only():
        twin = compile_tree(slow)
        assert (twin.predict(X) == expected).all()
        assert [twin.one(x) for x in X[:50]] == expected[:50].tolist()


def test_a_tree_of_one_leaf_answers_too():
    X, _ = moons()
    fast = compile_tree(classifier(smallest=1.0))
    assert len(fast.tree.thresholds) == 0
    assert fast.one(X[0]) == fast.predict(X)[0]


def test_one_row_takes_less_than_ten_microseconds():
    if implementation() == "numpy":
        pytest.skip("the library is not built")
    X, _ = moons()
    fast, x = compile_tree(classifier(scaled=True)), X[0]
    import time

    # Time of the processor, for others may be at work; the best of ten, for caches may be cold.
    seconds = timeit.repeat(lambda: fast.one(x), timer=time.process_time, number=2000, repeat=10)
    assert min(seconds) / 2000 < 10e-6


@pytest.mark.parametrize("compiler", ["cc", "gcc", "clang"])
@pytest.mark.parametrize("optimised", ["-O0", "-O3"])
@pytest.mark.parametrize("scaled", [False, True], ids=["as is", "scaled"])
def test_exported_c_code_gives_the_same_answers_bit_by_bit(tmp_path, compiler, optimised, scaled):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler} here")
    X, _ = moons()
    X = np.concatenate([X, 1e3 * X, 1e300 * X[:3]])
    fast = compile_tree(classifier(scaled))
    (tmp_path / "tree.c").write_text(fast.c_source("answer"))
    flags = [*("-std=c99", "-Wall", "-Wextra", "-Werror"), *("-shared", "-fPIC", optimised)]
    subprocess.run([compiler, *flags, "-o", "tree.so", "tree.c"], cwd=tmp_path, check=True)
    answer = ctypes.CDLL(str(tmp_path / "tree.so")).answer
    found = [answer(ctypes.c_void_p(x.ctypes.data)) for x in np.ascontiguousarray(X)]
    assert (np.array(["no", "yes"])[found] == fast.predict(X)).all()


def test_a_tree_of_one_leaf_is_c_code_as_well(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler here")
    (tmp_path / "tree.c").write_text(compile_tree(classifier(smallest=1.0)).c_source())
    subprocess.run(
        ["cc", "-Wall", "-Werror", "-c", "-o", "tree.o", "tree.c"], cwd=tmp_path, check=True
    )


def test_rows_of_another_length_are_refused():
    fast = compile_tree(classifier())
    with pytest.raises(DataError, match="takes rows of 20 features, got 3"):
        fast.one(np.zeros(3))
    with pytest.raises(DataError, match=r"takes rows of 20 features, got shape \(2, 3\)"):
        fast.predict(np.zeros((2, 3)))


@pytest.mark.parametrize("library", [True, False], ids=["compiled", "numpy"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_refused(value, library):
    X, _ = moons()
    slow = classifier()
    with contextlib.nullcontext() if library else numpy_only():
        fast = compile_tree(slow)
        row = X[0].copy()
        row[7] = value
        with pytest.raises(DataError, match="takes finite numbers only, neither missing values"):
            fast.one(row)
        with pytest.raises(DataError, match="takes finite numbers only, neither missing values"):
            fast.predict(np.vstack([X[:3], row]))
        assert fast.one(X[0]) == fast.predict(X[:1])[0]


def test_the_largest_numbers_are_taken():
    slow = classifier()
    X = np.full((1, 20), np.finfo(float).max)
    assert compile_tree(slow).one(X[0]) == compile_tree(slow).predict(X)[0]


def test_what_is_no_row_is_refused_in_a_sentence():
    fast = compile_tree(classifier())
    X, _ = moons()
    with pytest.raises(DataError, match=r"takes a single row \(20,\), got shape \(1, 20\): use"):
        fast.one(X[:1])
    with pytest.raises(DataError, match=r"takes a single row \(20,\), got shape \(20, 20\): use"):
        fast.one(X[:20])
    with pytest.raises(DataError, match=r"takes a single row \(20,\), got shape \(\): use"):
        fast.one(3.0)
    with pytest.raises(DataError, match="takes rows of numbers: could not convert string"):
        fast.one(["a"] * 20)
    with pytest.raises(DataError, match=r"takes dense rows: pass x.toarray\(\)\[0\]"):
        fast.one(sparse.csr_array(X[:1]))
    with pytest.raises(DataError, match=r"predict takes rows \(n, d\): use one"):
        fast.predict(X[0])
    with pytest.raises(DataError, match=r"takes dense rows: pass X.toarray\(\)"):
        fast.predict(sparse.csr_array(X))
    with pytest.raises(DataError, match="takes rows of numbers: could not convert string"):
        fast.predict([["a"] * 20])


@pytest.mark.parametrize("name", ["my tree", "é", "int", "weights", "2nd", ""])
def test_a_function_needs_a_name_that_c_can_have(name):
    with pytest.raises(DataError, match=f"'{name}' cannot be the name of a C function"):
        compile_tree(classifier()).c_source(name)


def test_labels_are_a_table_of_the_c_code_whatever_they_are_called(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler here")
    names = ["*/ int", "/* \\", 'say "no"', "??/ \n é%s 7"]
    generator = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = 5.0 * np.eye(4)[y] + generator.normal(size=(400, 4))
    slow = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0)
    slow.fit(X, np.array(names)[y])
    (tmp_path / "tree.c").write_text(compile_tree(slow).c_source("answer"))
    flags = [*("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"), "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", "tree.so", "tree.c"], cwd=tmp_path, check=True)
    built = ctypes.CDLL(str(tmp_path / "tree.so"))
    labels = (ctypes.c_char_p * 4).in_dll(built, "answer_labels")
    found = [labels[built.answer(ctypes.c_void_p(x.ctypes.data))].decode() for x in X]
    assert found == slow.predict(X).tolist()
    assert set(found) == set(names)


def test_what_is_no_tree_of_hyperplanes_is_refused():
    X, y = moons()
    pairs = DivideAndConquerClassifier("class_pairs", "pegasos", "vote").fit(X, y)
    with pytest.raises(CompositionError, match="only trees of hyperplanes can be compiled"):
        compile_tree(pairs)


def test_leaves_whose_answers_depend_on_the_row_are_refused():
    X, y = moons()
    tree = build("decomposer", "oblique_tree", smallest=0.2)
    svms = DivideAndConquerClassifier(tree, "linear_svm", random_state=0).fit(X, y)
    with pytest.raises(CompositionError, match="is a Hyperplanes, whose answers depend on the"):
        compile_tree(svms)


def test_what_cannot_be_a_scaling_is_refused():
    from dcsvm.toolbox import Column, TablePreparation, TableSchema

    X, y = moons(d=3)
    X[:, 2] = np.arange(len(X)) % 2
    inner = DivideAndConquerClassifier("oblique_tree", "majority")
    schema = TableSchema((Column("a"), Column("b"), Column("c", ("no", "yes"))))
    table = make_pipeline(TablePreparation(schema=schema), inner).fit(X, y)
    ways_out = "cannot be compiled; turn such columns into numbers .* or drop them"
    with pytest.raises(CompositionError, match=ways_out):
        compile_tree(table)
