"""Data sets: what is read, and how it is split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.base.errors import DataError
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.loading import load_embedded, read, split


def labelled(y):
    y = np.asarray(y)
    return Dataset("some rows", np.zeros((len(y), 1)), y, ("a",))


def test_a_csv_file_gives_numbers_texts_and_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('\ufeffa, kind ,"b, c"\n1,x,2.5\n\n-3e2,y,"4"\n', encoding="utf-8")
    data = read(path, "kind")
    assert data.features == ("a", "b, c")
    np.testing.assert_array_equal(data.X, [[1.0, 2.5], [-300.0, 4.0]])
    assert data.y.tolist() == ["x", "y"]


def test_labels_that_are_all_whole_numbers_become_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,kind\n1,0\n2,1\n")
    assert read(path, "kind").y.tolist() == [0, 1]
    path.write_text("a,kind\n1,007\n2,7\n")
    assert read(path, "kind").y.tolist() == ["007", "7"], "no two labels become one"
    path.write_text("a,kind\n1,0\n2,one\n")
    assert read(path, "kind").y.tolist() == ["0", "one"]


def test_an_npz_file_keeps_its_published_halves(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
    np.savez(tmp_path / "a.npz", X_train=X[:4], y_train=y[:4], X_test=X[4:], y_test=y[4:])
    data = read(tmp_path / "a.npz")
    np.testing.assert_array_equal(data.X, X)
    halves = split(data, None, seed=0)
    assert (halves.train.tolist(), halves.test.tolist()) == ([0, 1, 2, 3], [4, 5])


def test_an_ending_that_no_reader_knows(tmp_path):
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(DataError) as caught:
        read(tmp_path / "a.xlsx")
    assert str(caught.value).endswith(
        "has the suffix '.xlsx', which no reader knows; available: .csv, .tsv, .svm, "
        ".svmlight, .libsvm, .arff, .npz, .parquet, .feather, .arrow, .npy"
    )


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_have_the_rows_they_promise_and_are_always_the_same(name):
    data, again = load_embedded(name), load_embedded(name)
    assert data.X.shape == (EMBEDDED[name].rows, len(data.features))
    assert len(np.unique(data.y)) >= 2
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)


def test_a_generated_set_has_as_many_rows_as_one_asks_for():
    assert load_embedded("two_moons", 123).n_rows == 123


@given(
    st.lists(st.integers(0, 3), min_size=8, max_size=200),
    st.floats(0.1, 0.9),
    st.integers(0, 5),
)
def test_a_split_is_a_partition_that_spreads_every_class(y, share, seed):
    y = [0, 0, 0, 0, 1, 1, 1, 1, *y]
    halves = split(labelled(y), share, seed)
    assert sorted([*halves.train, *halves.test]) == list(range(len(y)))
    assert len(halves.test) == round(share * len(y))
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        held_out = np.count_nonzero(np.asarray(y)[halves.test] == label)
        assert abs(held_out - share * count) < 2


def test_the_only_row_of_a_class_stays_where_it_can_be_learned():
    halves = split(labelled([0] * 10 + [1] * 10 + [2]), 0.3, seed=0)
    assert 20 in halves.train


def test_a_split_depends_on_its_seed_alone():
    data = labelled(np.arange(100) % 3)
    first, same, other = (split(data, 0.25, seed).test.tolist() for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_a_split_that_leaves_one_class_to_learn_from_says_so():
    with pytest.raises(DataError) as caught:
        split(labelled([0, 0, 0, 0, 0, 1]), 0.8, seed=0)
    assert str(caught.value) == (
        "some rows: all 1 training rows (of 6) have class 0, and only test rows have other "
        "classes: a classifier needs two classes or more"
    )
