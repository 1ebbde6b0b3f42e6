"""Columns of a table as numbers: filled in, encoded, rescaled, and kept with the model."""

import importlib.util
import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder, RobustScaler, StandardScaler

from dcsvm import DataError, DivideAndConquerClassifier, SettingError, load, save
from dcsvm.toolbox import Column, Layout, Prepared, Scaling
from dcsvm.toolbox.table_preparation import Preparation

NAN = np.nan
needs_plugins = pytest.mark.skipif(
    importlib.util.find_spec("dcsvm_plugins") is None
    or os.environ.get("DCSVM_LOAD_PLUGINS") == "",
    reason="this test fits the default pipeline, which is made of built-in plugins",
)

LAYOUT = Layout((Column("size"), Column("colour", ("blue", "green", "red")), Column("age")))
LEVELS = np.array([0, 3, 0])


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    X[:, 1] = generator.integers(3, size=60)
    X[::7, 0] = NAN
    X[::11, 1] = NAN
    return X


def test_numbers_come_first_then_one_feature_for_each_level(table):
    ours = Preparation(LEVELS, "standard").fit(table).apply(table)
    numbers = SimpleImputer(strategy="median").fit_transform(table[:, [0, 2]])
    colours = SimpleImputer(strategy="most_frequent").fit_transform(table[:, [1]])
    np.testing.assert_allclose(ours[:, :2], StandardScaler().fit_transform(numbers))
    np.testing.assert_array_equal(
        ours[:, 2:], OneHotEncoder(sparse_output=False).fit_transform(colours)
    )


@needs_plugins
def test_texts_that_come_without_the_names_of_their_columns_are_told_with_the_way_out(table):
    prepared = Prepared(LAYOUT, missing="impute")
    model = DivideAndConquerClassifier(prepared).fit(table, np.arange(60) % 2)
    with pytest.raises(DataError) as caught:
        model.predict(np.array([[1.5, "red", 30]], dtype=object))
    assert str(caught.value) == (
        "X holds texts, such as 'red' in column 1: the model knows texts by the names of their "
        "columns; pass a data frame with the columns size, colour, age"
    )


def test_codes_are_rescaled_like_numbers():
    X = np.array([[0.0], [1.0], [2.0]])
    view = Preparation(np.array([3]), "minmax", "codes").fit(X)
    assert view.apply(X).ravel().tolist() == [0.0, 0.5, 1.0]


def test_robust_scaling_is_scikit_learns_where_quartiles_differ():
    X = np.random.default_rng(1).standard_t(2, size=(50, 3))
    ours = Scaling("robust").fit(X).apply(X)
    np.testing.assert_allclose(ours, RobustScaler().fit_transform(X))


def test_robust_scaling_of_a_feature_that_is_nearly_constant_uses_its_range():
    X = np.array([[0.0]] * 9 + [[5.0]])
    assert Scaling("robust").fit(X).apply(X).max() == 1.0


def test_robust_scaling_keeps_sparse_rows_sparse():
    X = sparse.csr_array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [-6.0, 0.0]])
    ours = Scaling("robust").fit(X).apply(X)
    assert ours.toarray().tolist() == [[0, 0], [0.5, 0], [1.0, 0], [-1.5, 0]]


def test_marks_say_where_values_were_missing_in_columns_that_had_gaps(table):
    ours = Preparation(LEVELS, "none", mark=True).fit(table).apply(table)
    assert ours.shape == (60, 2 + 3 + 2)
    np.testing.assert_array_equal(ours[:, 5], np.isnan(table[:, 0]))
    np.testing.assert_array_equal(ours[:, 6], np.isnan(table[:, 1]))


def test_everything_is_learned_from_the_rows_fitted_on(table):
    view = Preparation(LEVELS, "minmax").fit(np.array([[0.0, 1, 5], [10, 1, 6], [4, 2, 7]]))
    ours = view.apply(np.array([[NAN, NAN, 6.0], [20.0, 0.0, 5.0]]))
    assert ours.tolist() == [[0.4, 0.5, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0]]


def test_an_unknown_level_is_none_of_the_known_ones():
    X = np.array([[0.0], [1.0], [1.0]])
    onehot = Preparation(np.array([3])).fit(X)
    assert onehot.apply(np.array([[-1.0], [2.0]])).tolist() == [[0, 0], [0, 0]]
    assert onehot.unknown(np.array([[-1.0], [2.0], [0.0], [NAN]])).tolist() == [2]
    codes = Preparation(np.array([3]), "none", "codes").fit(X)
    assert codes.apply(np.array([[-1.0], [2.0]])).tolist() == [[1], [1]], "the most frequent"


def test_a_column_without_any_value_becomes_zero():
    X = np.array([[NAN, 1.0], [NAN, 2.0]])
    assert Preparation(np.zeros(2, int)).fit(X).apply(X).tolist() == [[0, 0], [0, 1]]


def test_a_preparation_must_be_fitted():
    with pytest.raises(ValueError, match="a Preparation must be fitted before it is applied"):
        Preparation(LEVELS).apply(np.zeros((1, 3)))


def labels(table):
    return np.where(np.nan_to_num(table[:, 0]) + (table[:, 1] == 2) > 0.3, "yes", "no")


@needs_plugins
def test_a_model_file_knows_its_columns_and_answers_the_same(table, tmp_path):
    model = DivideAndConquerClassifier(Prepared(LAYOUT, missing="mark")).fit(table, labels(table))
    save(model, tmp_path / "a.dcsvm")
    again = load(tmp_path / "a.dcsvm")
    assert again.decomposer.layout == LAYOUT
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))
    assert again.score(table, labels(table)) > 0.8


@needs_plugins
def test_missing_values_are_refused_unless_asked_for(table):
    with pytest.raises(ValueError, match="NaN"):
        DivideAndConquerClassifier(Prepared(LAYOUT)).fit(table, labels(table))


@needs_plugins
def test_the_preparation_can_be_searched_and_cloned(table):
    model = DivideAndConquerClassifier(Prepared(LAYOUT, missing="impute"))
    assert clone(model).decomposer.layout == LAYOUT
    grid = {"decomposer__scale": ["minmax", "robust"], "decomposer__encode": ["onehot", "codes"]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(table, labels(table))
    assert search.best_score_ > 0.6


def test_what_a_preparation_does_not_know():
    with pytest.raises(SettingError) as caught:
        Prepared(scale="log")
    assert str(caught.value) == (
        "prepared: scale must be 'minmax' or 'standard' or 'robust' or 'none', got 'log'"
    )


@needs_plugins
def test_sparse_rows_are_only_rescaled():
    X = sparse.random_array((20, 4), density=0.5, rng=0, format="csr")
    y = np.arange(20) % 2
    layout = Layout((), "label", first_index=1)
    model = DivideAndConquerClassifier(Prepared(layout, "standard")).fit(X, y)
    assert model.predict(X).shape == (20,)
    assert repr(layout) == "<sparse features from number 1 on>"
    assert repr(LAYOUT) == "<3 features, 1 of them categorical>"
