"""Output codes: which questions are asked of the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from dcsvm import DivideAndConquerClassifier, SettingError, build


def columns(code, n_classes, seed=0, **settings):
    codes = build("decomposer", "class_codes", code=code, **settings)
    return codes.columns(n_classes, np.random.default_rng(seed))


def smallest_distance(code):
    return min(
        int((code[:, i] * code[:, j] < 0).sum())
        for i in range(code.shape[1])
        for j in range(i + 1, code.shape[1])
    )


@given(
    st.sampled_from(["auto", "exhaustive", "dense", "sparse", "one_per_class"]),
    st.integers(2, 9),
    st.integers(0, 5),
)
def test_no_two_columns_ask_the_same_and_all_have_two_sides(code, n_classes, seed) -> None:
    table = columns(code, n_classes, seed, tries=5).astype(int)
    questions = {max(tuple(column), tuple(-column)) for column in table}
    assert len(questions) == len(table)
    assert (table.max(axis=1) == 1).all()
    assert (table.min(axis=1) == -1).all()
    assert smallest_distance(table) > 0


def test_an_exhaustive_code_has_every_column_once() -> None:
    assert [len(columns("exhaustive", k)) for k in range(2, 8)] == [1, 3, 7, 15, 31, 63]


def test_a_sparse_code_of_all_its_columns_is_complete() -> None:
    # All 3^4 columns, less those without a + or without a -, by halves.
    assert len(columns("sparse", 4, length=25)) == 25
    with pytest.raises(SettingError) as caught:
        columns("sparse", 4, length=26)
    assert str(caught.value) == (
        "class_codes: length is 26, but 4 classes have only 25 different columns"
    )


def test_few_classes_get_all_columns_and_many_get_random_ones() -> None:
    assert len(columns("auto", 7)) == 63
    assert len(columns("auto", 10)) == 34
    assert (columns("auto", 10) != 0).all()
    assert (columns("sparse", 10) == 0).mean() == pytest.approx(0.5, abs=0.15)


def test_one_per_class_sets_each_class_against_the_others() -> None:
    assert columns("one_per_class", 3).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert columns("one_per_class", 2).tolist() == [[1, -1]]


def test_more_tries_give_words_farther_apart() -> None:
    once, often = columns("dense", 12, tries=1), columns("dense", 12, tries=200)
    assert smallest_distance(often.astype(int)) > smallest_distance(once.astype(int))


def test_the_seed_decides_the_code() -> None:
    assert (columns("dense", 10, seed=3) == columns("dense", 10, seed=3)).all()
    assert (columns("dense", 10, seed=3) != columns("dense", 10, seed=4)).any()


def test_a_code_too_short_to_tell_classes_apart_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        columns("dense", 20, length=3)
    assert str(caught.value) == (
        "class_codes: none of 100 random codes of 3 columns tells 20 classes apart; "
        "set length to 9 or more"
    )


def test_an_exhaustive_code_of_many_classes_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        columns("exhaustive", 20)
    assert str(caught.value) == (
        "class_codes: an exhaustive code of 20 classes has 524287 columns; "
        "set code to 'dense' beyond 12"
    )


def test_a_part_holds_only_rows_of_the_classes_it_asks_about() -> None:
    X, y = load_digits(return_X_y=True)
    codes = build("decomposer", "class_codes", code="sparse", length=20)
    clf = DivideAndConquerClassifier(codes, "linear_svm", "decode", random_state=0).fit(X / 16, y)
    for record, member in zip(clf.ledger_, clf.model_.committee.members, strict=True):
        asked = np.flatnonzero(member.code[0])
        assert record.rows == np.isin(y, asked).sum()
        assert record.about["code"] == "".join("-0+"[sign + 1] for sign in member.code[0])


def test_codes_learn_about_as_well_as_those_of_scikit_learn() -> None:
    from sklearn.multiclass import OutputCodeClassifier
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)
    X, train, test = X / 16, slice(0, 600), slice(600, 1200)
    theirs = OutputCodeClassifier(SVC(), code_size=2, random_state=0).fit(X[train], y[train])
    codes = build("decomposer", "class_codes", code="dense", length=20)
    ours = DivideAndConquerClassifier(codes, "kernel_svm", "decode", random_state=0)
    score = ours.fit(X[train], y[train]).score(X[test], y[test])
    assert score >= theirs.score(X[test], y[test]) - 0.01
