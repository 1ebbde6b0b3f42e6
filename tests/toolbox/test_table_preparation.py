"""TablePreparation: columns of a table as numbers, alone and in a scikit-learn Pipeline."""

import datetime
import importlib.util
import os
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dcsvm import (
    DataError,
    DivideAndConquerClassifier,
    SettingError,
    TablePreparation,
    load,
    save,
)
from dcsvm.toolbox import Column, PreparedFeature, Scaling, TableSchema

NAN = np.nan
needs_plugins = pytest.mark.skipif(
    importlib.util.find_spec("dcsvm_plugins") is None
    or os.environ.get("DCSVM_LOAD_PLUGINS") == "",
    reason="this test fits the default strategy, which is made of built-in plugins",
)

SCHEMA = TableSchema((Column("size"), Column("colour", ("blue", "green", "red")), Column("age")))
FRAMES = [pd.DataFrame, pl.DataFrame]


def colours(*levels):
    """A preparation of one column with these levels."""
    return TableSchema((Column("colour", levels),))


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    X[:, 1] = generator.integers(3, size=60)
    X[::7, 0] = NAN
    X[::11, 1] = NAN
    return X


def labels(table):
    return np.where(np.nan_to_num(table[:, 0]) + (table[:, 1] == 2) > 0.3, "yes", "no")


@parametrize_with_checks(
    [
        TablePreparation(),
        TablePreparation("standard", missing="impute"),
        TablePreparation("robust", "codes", "mark"),
        TablePreparation("quantile", missing="impute"),
        TablePreparation("none"),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def test_numbers_come_first_then_one_feature_for_each_level(table):
    ours = TablePreparation("standard", missing="impute", schema=SCHEMA).fit_transform(table)
    numbers = SimpleImputer(strategy="median").fit_transform(table[:, [0, 2]])
    colours = SimpleImputer(strategy="most_frequent").fit_transform(table[:, [1]])
    np.testing.assert_allclose(ours[:, :2], StandardScaler().fit_transform(numbers))
    np.testing.assert_array_equal(
        ours[:, 2:], OneHotEncoder(sparse_output=False).fit_transform(colours)
    )


def test_codes_are_rescaled_like_numbers():
    X = np.array([[0.0], [1.0], [2.0]])
    prepare = TablePreparation("minmax", "codes", schema=colours("a", "b", "c"))
    assert prepare.fit_transform(X).ravel().tolist() == [0.0, 0.5, 1.0]


def test_robust_scaling_is_scikit_learns_where_quartiles_differ():
    X = np.random.default_rng(1).standard_t(2, size=(50, 3))
    ours = Scaling("robust").fit(X).apply(X)
    np.testing.assert_allclose(ours, RobustScaler().fit_transform(X))
    np.testing.assert_array_equal(TablePreparation("robust").fit_transform(X), ours)


def test_robust_scaling_of_a_feature_that_is_nearly_constant_uses_its_range():
    X = np.array([[0.0]] * 9 + [[5.0]])
    assert Scaling("robust").fit(X).apply(X).max() == 1.0


def test_robust_scaling_keeps_sparse_rows_sparse():
    X = sparse.csr_array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [-6.0, 0.0]])
    ours = Scaling("robust").fit(X).apply(X)
    assert ours.toarray().tolist() == [[0, 0], [0.5, 0], [1.0, 0], [-1.5, 0]]


def test_marks_say_where_values_were_missing_in_columns_that_had_gaps(table):
    ours = TablePreparation("none", missing="mark", schema=SCHEMA).fit_transform(table)
    assert ours.shape == (60, 2 + 3 + 2)
    np.testing.assert_array_equal(ours[:, 5], np.isnan(table[:, 0]))
    np.testing.assert_array_equal(ours[:, 6], np.isnan(table[:, 1]))


def test_everything_is_learned_from_the_rows_fitted_on():
    prepare = TablePreparation(missing="impute", schema=SCHEMA)
    prepare.fit(np.array([[0.0, 1, 5], [10, 1, 6], [4, 2, 7]]))
    ours = prepare.transform(np.array([[NAN, NAN, 6.0], [20.0, 0.0, 5.0]]))
    assert ours.tolist() == [[0.4, 0.5, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0]]


def test_an_unknown_level_is_none_of_the_known_ones():
    X, new = np.array([[0.0], [1.0], [1.0]]), np.array([[-1.0], [2.0]])
    onehot = TablePreparation(schema=colours("a", "b", "c")).fit(X)
    assert onehot.transform(new).tolist() == [[0, 0], [0, 0]]
    codes = TablePreparation("none", "codes", schema=colours("a", "b", "c")).fit(X)
    assert codes.transform(new).tolist() == [[1], [1]], "the most frequent"
    frame = pd.DataFrame({"colour": ["a", "purple"]})
    with pytest.warns(UserWarning, match="no training row had, such as 'purple'"):
        assert onehot.transform(frame).tolist() == [[1, 0], [0, 0]]


def test_a_column_without_any_value_becomes_zero():
    X = np.array([[NAN, 1.0], [NAN, 2.0]])
    assert TablePreparation(missing="impute").fit_transform(X).tolist() == [[0, 0], [0, 1]]


def test_the_rows_given_are_not_changed(table):
    before = table.copy()
    TablePreparation(missing="mark", schema=SCHEMA).fit_transform(table)
    np.testing.assert_array_equal(table, before)


def test_it_must_be_fitted():
    with pytest.raises(NotFittedError):
        TablePreparation().transform(np.zeros((1, 3)))
    with pytest.raises(NotFittedError):
        TablePreparation().get_feature_names_out()


@pytest.mark.parametrize("frame", FRAMES)
def test_texts_and_missing_values_of_a_data_frame_are_read_by_themselves(frame):
    rows = frame({"size": [1.0, None, 3.0], "colour": ["red", "blue", None]})
    prepare = TablePreparation(missing="mark").fit(rows)
    assert prepare.columns_ == (Column("size"), Column("colour", ("blue", "red")))
    assert prepare.get_feature_names_out().tolist() == [
        *("size", "colour=blue", "colour=red", "size missing", "colour missing")
    ]
    assert prepare.transform(rows).tolist() == [
        [0, 0, 1, 0, 0],
        [0.5, 1, 0, 1, 0],
        [1, 1, 0, 0, 1],
    ]


@pytest.mark.parametrize(
    "colour",
    [
        pd.Series(["red", "blue", None], dtype=pd.CategoricalDtype(["red", "green", "blue"])),
        pl.Series(["red", "blue", None], dtype=pl.Enum(["red", "green", "blue"])),
    ],
    ids=["pandas", "polars"],
)
def test_categories_keep_their_order_and_those_without_rows_make_no_feature(colour):
    rows = type(colour).__module__.split(".")[0]
    frame = (pd if rows == "pandas" else pl).DataFrame({"colour": colour})
    prepare = TablePreparation(missing="impute").fit(frame)
    assert prepare.columns_ == (Column("colour", ("red", "green", "blue")),)
    assert prepare.get_feature_names_out().tolist() == ["colour=red", "colour=blue"]
    assert prepare.transform(frame).tolist() == [[1, 0], [0, 1], [1, 0]]
    codes = TablePreparation("none", "codes", "impute").fit_transform(frame)
    assert codes.ravel().tolist() == [0, 2, 0]


def test_a_categorical_column_of_polars_is_a_category():
    frame = pl.DataFrame({"colour": pl.Series(["red", "blue", "red"], dtype=pl.Categorical)})
    found = TablePreparation().fit(frame).columns_[0].levels
    assert {"red", "blue"} <= set(found)


def test_numbers_that_may_be_missing_and_truth_values_are_numbers():
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True], "c": [1, None, "3"]}
    )
    prepare = TablePreparation("none", missing="impute").fit(frame[["a", "b"]])
    assert [column.levels for column in prepare.columns_] == [None, None]
    assert prepare.transform(frame[["a", "b"]]).tolist() == [[1, 1], [2, 0], [3, 1]]
    assert TablePreparation(missing="impute").fit(frame[["c"]]).columns_[0].levels == ("1", "3")


def test_an_array_of_objects_holds_numbers_and_texts():
    rows = [[1.5, "red"], [2.5, "blue"], ["3.5", "red"]]
    prepare = TablePreparation("none").fit(rows)
    assert prepare.get_feature_names_out().tolist() == ["x0", "x1=blue", "x1=red"]
    assert prepare.transform(np.array(rows, dtype=object)).tolist() == [
        [1.5, 0, 1],
        [2.5, 1, 0],
        [3.5, 0, 1],
    ]


def test_texts_in_an_array_go_by_place_where_the_columns_are_known(table):
    prepare = TablePreparation("none", missing="impute", schema=SCHEMA).fit(table)
    rows = np.array([[1.5, "red", 30]], dtype=object)
    assert prepare.transform(rows).tolist() == [[1.5, 30, 0, 0, 1]]


def test_dates_are_refused_with_their_column():
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(DataError, match="dates or times in column 'when'"):
        TablePreparation().fit(frame)


def test_all_columns_of_dates_are_named_objects_of_dates_as_well():
    days = [datetime.date(2020, 1, 1), None]
    frame = pd.DataFrame({"a": [1, 2], "when": pd.to_datetime(["2020-01-01"] * 2), "born": days})
    with pytest.raises(DataError) as caught:
        TablePreparation(missing="impute").fit(frame)
    assert str(caught.value) == (
        "X holds dates or times in columns 'when', 'born': turn them into numbers first, such as "
        "X['when'].dt.year of a pandas column, or leave them out"
    )


def test_columns_of_a_known_schema_are_found_by_name_others_must_keep_their_order(table):
    frame = pd.DataFrame({"age": [1.0, 2], "colour": ["red", "blue"], "size": [3.0, 4]})
    known = TablePreparation("none", schema=SCHEMA).fit(frame)
    assert known.transform(frame).tolist() == [[3, 1, 0, 1], [4, 2, 1, 0]]
    inferred = TablePreparation("none").fit(frame)
    with pytest.raises(ValueError, match="same order"):
        inferred.transform(frame[["size", "colour", "age"]])
    with pytest.raises(DataError, match=r"X has 2 columns, but the schema has 3 features"):
        TablePreparation(missing="impute", schema=SCHEMA).fit(table[:, :2])


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_what_comes_out_may_be_a_data_frame(container):
    frame = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    prepared = TablePreparation().set_output(transform=container).fit_transform(frame)
    assert type(prepared).__module__.startswith(container)
    assert list(prepared.columns) == ["size", "colour=blue", "colour=red"]


@pytest.mark.parametrize("least", [1, 3, 8, 0.1])
def test_rare_levels_are_pooled_as_by_scikit_learn(least):
    levels = tuple("abcdefgh")
    codes = np.random.default_rng(0).geometric(0.4, size=(60, 1)).clip(max=7) - 1.0
    new = np.array([[0.0], [6.0], [7.0], [-1.0]])  # frequent, rare, not seen, unknown
    ours = TablePreparation(schema=colours(*levels), min_frequency=least).fit(codes)
    theirs = OneHotEncoder(
        min_frequency=least, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(codes)
    assert (ours.transform(codes) == theirs.transform(codes)).all()
    assert (ours.transform(new) == theirs.transform(new)).all()
    assert ours.is_sound()


@needs_plugins
def test_the_feature_of_rare_levels_has_a_name_and_is_kept_in_files(tmp_path):
    frame = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 4 + ["green", "grey"]})
    model = make_pipeline(TablePreparation(min_frequency=2), DivideAndConquerClassifier())
    model.fit(frame, [0] * 5 + [1] * 6)
    assert model[0].get_feature_names_out().tolist() == [
        *("colour=blue", "colour=red", "colour rare")
    ]
    save(model, tmp_path / "model.dcsvm")
    loaded = load(tmp_path / "model.dcsvm")
    assert (loaded[0].transform(frame) == model[0].transform(frame)).all()


def test_codes_and_missing_values_know_no_rare_levels():
    codes = np.array([[0.0], [0.0], [1.0], [NAN]])
    given = {"schema": colours("a", "b"), "missing": "impute", "min_frequency": 2}
    assert TablePreparation(**given).fit_transform(codes).tolist() == [
        *([1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0])
    ]
    coded = TablePreparation("none", "codes", **given).fit_transform(codes)
    assert coded.ravel().tolist() == [0.0, 0.0, 1.0, 0.0]


def test_features_say_what_they_are_made_of(table):
    prepare = TablePreparation("minmax", missing="mark", schema=SCHEMA).fit(
        np.array([[0.0, 1, 5], [10, 2, 6], [NAN, 2, 7]])
    )
    assert prepare.features() == (
        PreparedFeature("size", 0, "number", 0.0, 0.1),
        PreparedFeature("age", 2, "number", 5.0, 0.5),
        PreparedFeature("colour=green", 1, "indicator"),
        PreparedFeature("colour=red", 1, "indicator"),
        PreparedFeature("size missing", 0, "indicator"),
    )
    assert prepare.invert(1, 0.5) == (2, 6.0)
    assert prepare.invert(2, 1.0) is None
    codes = TablePreparation("none", "codes", schema=SCHEMA).fit(np.ones((2, 3)))
    assert [each.kind for each in codes.features()] == ["number", "code", "number"]
    assert codes.invert(1, 1.0) is None


@pytest.mark.parametrize("given", [-1, "rare", NAN])
def test_other_frequencies_are_refused(given):
    with pytest.raises(SettingError, match='min_frequency must be "auto" or at least 0, got'):
        TablePreparation(min_frequency=given).fit([[1.0]])


@pytest.mark.parametrize(
    ("n_rows", "n_rare", "feature"),
    [(500, 4, "rare"), (500, 5, "b"), (9000, 39, "rare"), (9000, 40, "b")],
)
def test_levels_are_rare_by_their_rows_and_their_share(n_rows, n_rare, feature):
    codes = np.zeros((n_rows, 1))
    codes[:n_rare] = 1.0
    prepare = TablePreparation(schema=colours("a", "b"), min_frequency="auto").fit(codes)
    assert prepare.get_feature_names_out().tolist() == [
        *("colour=a", "colour rare" if feature == "rare" else "colour=b")
    ]


@pytest.mark.parametrize("setting", ["scale", "encode", "missing"])
def test_what_a_setting_does_not_allow_is_refused(setting):
    with pytest.raises(
        SettingError, match=re.escape(f"TablePreparation: {setting} must be one of '")
    ) as caught:
        TablePreparation(**{setting: "log"}).fit(np.ones((2, 1)))
    assert str(caught.value).endswith(", got 'log'")


def test_missing_values_are_refused_unless_asked_for(table):
    with pytest.raises(DataError, match=r'^X contains NaN, .* with missing="impute" or "mark"'):
        TablePreparation(schema=SCHEMA).fit(table)


def test_sparse_rows_are_only_rescaled():
    X = sparse.random_array((20, 4), density=0.5, rng=0, format="csr")
    schema = TableSchema((), "label", first_index=1)
    prepare = TablePreparation("standard", schema=schema).fit(X)
    assert sparse.issparse(prepare.transform(X))
    assert prepare.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    np.testing.assert_allclose(
        prepare.transform(X.toarray()), prepare.transform(X).toarray(), atol=1e-15
    )
    assert repr(schema) == "<sparse features from number 1 on>"
    assert repr(SCHEMA) == "<3 features, 1 of them categorical>"


@needs_plugins
@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["known", "inferred"])
def test_a_saved_pipeline_knows_its_columns_and_answers_raw_rows_the_same(table, tmp_path, schema):
    frame = pd.DataFrame(table, columns=["size", "colour", "age"]).astype({"colour": object})
    frame["colour"] = frame["colour"].map(dict(enumerate(["blue", "green", "red"])))
    prepare = TablePreparation(missing="mark", schema=schema)
    model = make_pipeline(prepare, DivideAndConquerClassifier(random_state=0))
    model.fit(frame, labels(table))
    save(model, tmp_path / "a.dcsvm")
    again = load(tmp_path / "a.dcsvm")
    assert [name for name, _ in again.steps] == [name for name, _ in model.steps]
    assert again[0].get_params() == prepare.get_params()
    assert again[0].columns_ == SCHEMA.features
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    assert again.score(frame, labels(table)) > 0.8
    assert again[0].get_feature_names_out().tolist() == prepare.get_feature_names_out().tolist()


@needs_plugins
def test_the_preparation_can_be_searched_and_cloned(table):
    model = make_pipeline(
        TablePreparation(missing="impute", schema=SCHEMA), DivideAndConquerClassifier()
    )
    assert clone(model)[0].schema == SCHEMA
    grid = {
        "tablepreparation__scale": ["minmax", "robust"],
        "tablepreparation__encode": ["onehot", "codes"],
    }
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(table, labels(table))
    assert search.best_score_ > 0.6


def test_ranks_are_those_of_a_sorted_column_and_know_the_way_back():
    X = np.random.default_rng(0).lognormal(sigma=2, size=(500, 2))
    X[:, 1] = np.round(X[:, 1])
    prepare = TablePreparation("quantile").fit(X)
    ours = prepare.transform(X)
    np.testing.assert_allclose(ours.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(ours.std(axis=0), 1)
    np.testing.assert_array_equal(np.argsort(ours[:, 0]), np.argsort(X[:, 0]))
    assert len(np.unique(ours[:, 1])) == len(np.unique(X[:, 1]))
    column, value = prepare.invert(0, ours[7, 0])
    assert (column, value) == (0, pytest.approx(X[7, 0]))
    assert prepare.features()[0].kind == "rank"
    beyond = prepare.transform([[1e9, -1e9]])[0]
    assert beyond[0] == ours[:, 0].max()
    assert beyond[1] <= ours[:, 1].min()


@needs_plugins
def test_a_pipeline_of_ranks_can_be_saved(tmp_path, table):
    model = make_pipeline(
        TablePreparation("quantile", missing="impute"),
        DivideAndConquerClassifier("whole", "majority", "route"),
    )
    model.fit(table, labels(table))
    save(model, tmp_path / "m.dcsvm")
    again = load(tmp_path / "m.dcsvm")
    np.testing.assert_array_equal(again[0].transform(table), model[0].transform(table))
