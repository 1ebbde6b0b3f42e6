"""Subspaces of features as they are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from dcsvm import DataError, DivideAndConquerClassifier, Problem, SettingError, build, load, save
from dcsvm.base.seed import Seed
from dcsvm.testing import easy_problem

X, Y = load_breast_cancer(return_X_y=True)


def columns_of(problem, **settings):
    return [view.columns.tolist() for view in build_rd(**settings).views(problem)]


def build_rd(**settings):
    return build("decomposer", "rd_subspaces", **settings)


def wide(n_features, n_rows=20):
    return Problem(np.zeros((n_rows, n_features)), np.arange(n_rows) % 2, 2, Seed(3))


def test_every_feature_is_used_equally_often_or_once_more():
    groups = columns_of(wide(54), subspaces=4, features=40)
    assert [len(set(group)) for group in groups] == [40, 40, 40, 40]
    counts = np.bincount(np.concatenate(groups), minlength=54)
    assert set(counts) == {2, 3}


def test_half_the_features_twice_are_two_disjoint_halves():
    first, second = columns_of(wide(54), subspaces=2, features=0.5)
    assert sorted(first + second) == list(range(54))


def test_a_share_is_rounded_up_and_a_number_is_never_more_than_there_are():
    assert [len(group) for group in columns_of(wide(7), subspaces=2)] == [4, 4]
    assert [len(group) for group in columns_of(wide(7), subspaces=1, features=40)] == [7]


def test_groups_are_given_by_number_or_by_name():
    table = pd.DataFrame(X[:, :4], columns=["radius", "texture", "length", "area"])
    spaces = build_rd(groups=[["area", "radius"], [1, 2]])
    clf = DivideAndConquerClassifier(spaces, "krr", "mean").fit(table, Y)
    seen = [member.view.columns.tolist() for member in clf.model_.committee.members]
    assert seen == [[3, 0], [1, 2]]


def test_names_reach_a_pipeline_inside_another_as_far_as_its_view_keeps_them():
    table = pd.DataFrame(X[:, :3], columns=["radius", "texture", "length"])
    inner = DivideAndConquerClassifier(build_rd(groups=[["length"]]), "krr", "mean")
    outer = DivideAndConquerClassifier(build_rd(groups=[["texture", "length"]]), inner, "mean")
    member = outer.fit(table, Y).model_.committee.members[0]
    assert member.model.committee.members[0].view.columns.tolist() == [1]


@pytest.mark.parametrize(
    ("groups", "error", "sentence"),
    [
        ([[0, 99]], DataError, "group 0 names feature 99, but the features are 0 to 2"),
        ([[0], ["x"]], DataError, "group 1 names 'x', but the features have no names"),
        ([[0, 0]], SettingError, "group 0 names a feature twice"),
        ([[]], SettingError, "group 0 is empty"),
        (["radius"], SettingError, "group 0 must be a list of features, got 'radius'"),
        ([[0.5]], SettingError, "group 0 must hold numbers or names of features, got 0.5"),
        ([[True]], SettingError, "group 0 must hold numbers or names of features, got True"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups, error, sentence):
    with pytest.raises(error) as refusal:
        columns_of(easy_problem(), groups=groups)
    assert str(refusal.value) == f"rd_subspaces: {sentence}"


def test_a_name_that_is_nearly_right_is_suggested():
    table = pd.DataFrame(X[:, :2], columns=["radius", "texture"])
    with pytest.raises(DataError, match="no feature is called 'radus'; did you mean 'radius'"):
        DivideAndConquerClassifier(build_rd(groups=[["radus"]]), "krr", "mean").fit(table, Y)


def test_a_share_above_one_is_refused():
    with pytest.raises(SettingError) as refusal:
        columns_of(easy_problem(), features=1.5)
    assert str(refusal.value) == (
        "rd_subspaces: features must be an integer or a share of at most 1, got 1.5"
    )


def test_what_a_subspace_sees_can_be_rescaled():
    (part,) = next(build_rd(subspaces=1, local_scaling="minmax").divide(easy_problem()))
    seen = part.view.fit(easy_problem().X).apply(easy_problem().X)
    np.testing.assert_allclose([seen.min(axis=0), seen.max(axis=0)], [[0, 0], [1, 1]])


def test_more_than_a_million_sparse_features_stay_sparse():
    rows = sparse.random_array((50, 1_300_000), density=1e-4, format="csr", rng=0)
    problem = Problem(rows, np.arange(50) % 2, 2, Seed(0))
    seen = [view.apply(rows) for view in build_rd(subspaces=2).views(problem)]
    assert [each.shape for each in seen] == [(50, 650_000), (50, 650_000)]
    assert all(sparse.issparse(each) for each in seen)
    assert sum(each.nnz for each in seen) == rows.nnz


def test_learners_take_the_subspaces_in_turn_and_survive_a_file(tmp_path):
    widths = tuple(build("learner", "kernel_svm", gamma=gamma) for gamma in (0.01, 0.1))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    spaces = build_rd(subspaces=3, features=10, learners=widths) + build_rd(subspaces=1)
    clf = DivideAndConquerClassifier(
        spaces, build("learner", "kernel_svm", gamma=1.0), "mean", random_state=0
    ).fit(scaled, Y)
    used = [member.model.kernel.gamma for member in clf.model_.committee.members]
    assert used == [0.01, 0.1, 0.01, 1.0]
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.decision_function(scaled) == clf.decision_function(scaled)).all()
    second = clone(clf).set_params(decomposer__summands=(spaces.summands[0],)).fit(scaled, Y)
    assert len(second.model_.committee.members) == 3


def test_a_pipeline_may_be_one_of_the_learners_of_subspaces():
    inner = DivideAndConquerClassifier("chunks", "linear_svm", "mean")
    spaces = build_rd(subspaces=2, learners=(inner, "krr"))
    clf = DivideAndConquerClassifier(spaces, "krr", "fusion", random_state=0).fit(X, Y)
    first, second = clf.model_.committee.members
    assert type(first.model).__name__ == "FittedStrategy"
    assert type(second.model).__name__ != "Composite"
