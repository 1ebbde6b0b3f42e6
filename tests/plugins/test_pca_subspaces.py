"""Subspaces of principal components, against scikit-learn's PCA."""

import attrs
import numpy as np
import pytest
from sklearn.decomposition import PCA

from dcsvm import DataError, SettingError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse

PROBLEM = easy_problem(rows=200, features=6, gap=1.0)


def views(problem=PROBLEM, **settings):
    return build("decomposer", "pca_subspaces", **settings).views(problem)


def test_components_are_those_of_pca_but_for_their_sign():
    ((first, second),) = (views(groups=[[0, 1, 2], [3, 4, 5]]),)
    ours = np.hstack([first.apply(PROBLEM.X), second.apply(PROBLEM.X)])
    theirs = PCA().fit_transform(PROBLEM.X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-10)


def test_no_two_features_of_any_two_subspaces_are_correlated():
    seen = np.hstack([each.apply(PROBLEM.X) for each in views(groups=[[0, 4], [1, 2], [5, 3]])])
    covariance = np.cov(seen.T)
    off = covariance - np.diag(covariance.diagonal())
    assert np.abs(off).max() < 1e-12 * covariance.max()


def test_a_subspace_has_its_components_by_importance():
    for view in views(subspaces=5, features=3):
        variances = view.apply(PROBLEM.X).var(axis=0)
        assert (np.diff(variances) <= 0).all()


def test_directions_are_orthonormal_so_that_distances_are_kept():
    (view,) = views(subspaces=1, features=6)
    np.testing.assert_allclose(view.matrix.T @ view.matrix, np.eye(6), atol=1e-12)


def test_sparse_rows_have_the_same_components():
    sparse = attrs.evolve(PROBLEM, X=as_sparse(PROBLEM.X))
    for ours, theirs in zip(views(sparse), views(), strict=True):
        np.testing.assert_allclose(ours.matrix, theirs.matrix, atol=1e-10)


def test_a_row_of_weight_two_counts_as_two_rows():
    weights = 1.0 + np.arange(200) % 2
    twice = PROBLEM.subset(np.repeat(np.arange(200), weights.astype(int)))
    weighted = attrs.evolve(PROBLEM, weights=weights)
    for ours, theirs in zip(views(weighted), views(twice), strict=True):
        np.testing.assert_allclose(ours.matrix, theirs.matrix, atol=1e-10)
        np.testing.assert_allclose(ours.offset, theirs.offset, atol=1e-10)


def test_directions_have_no_names():
    with pytest.raises(SettingError) as refusal:
        views(groups=[["age"]])
    assert str(refusal.value) == (
        "pca_subspaces: group 0 names 'age', but directions have numbers only, 0 for the first"
    )


@pytest.mark.parametrize("name", ["pca_subspaces", "dca_subspaces", "bcd_subspaces"])
def test_too_many_features_are_refused(name):
    with pytest.raises(DataError) as refusal:
        build("decomposer", name, max_features=5).views(PROBLEM)
    assert str(refusal.value) == (
        f"{name} makes a matrix of features by features, and 6 features are more than "
        "max_features = 5; use rd_subspaces or abd_subspaces, or raise max_features if the "
        "memory allows"
    )
