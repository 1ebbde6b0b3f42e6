"""Subspaces that blocked elimination makes uncorrelated."""

from itertools import pairwise

import numpy as np
import pytest

from dcsvm import DataError, Problem, build
from dcsvm.base.seed import Seed
from dcsvm.testing.problems import as_sparse


def correlated(rows=500, features=12, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features)) @ generator.normal(size=(features, features)) + 3.0
    return Problem(X, np.arange(rows) % 2, 2, Seed(seed))


def with_indicators(rows=800, seed=1):
    """Numbers beside two sets of indicators, each of which always sums to one."""
    generator = np.random.default_rng(seed)
    X = [generator.normal(size=(rows, 3)), np.eye(4)[generator.integers(4, size=rows)]]
    X += [np.eye(5)[generator.integers(5, size=rows)], np.ones((rows, 1))]
    return Problem(np.hstack(X), np.arange(rows) % 2, 2, Seed(seed))


def blocks(problem, **settings):
    views = build("decomposer", "bcd_subspaces", **settings).views(problem)
    return [view.apply(problem.X) for view in views]


@pytest.mark.parametrize("problem", [correlated(), with_indicators()], ids=["dense", "singular"])
@pytest.mark.parametrize("n_groups", [2, 3, 4, 12])
def test_the_covariance_of_what_they_see_is_block_diagonal(problem, n_groups):
    features = -(-problem.n_features // n_groups)
    seen = blocks(problem, subspaces=-(-problem.n_features // features), features=features)
    covariance = np.cov(np.hstack(seen).T)
    scale = np.abs(covariance).max()
    edges = np.cumsum([0] + [each.shape[1] for each in seen])
    assert edges[-1] == problem.n_features
    for start, stop in pairwise(edges):
        covariance[start:stop, start:stop] = 0.0
    assert np.abs(covariance).max() <= 1e-8 * scale


def test_later_blocks_become_schur_complements_and_the_first_stays():
    problem = correlated()
    seen = blocks(problem, groups=[list(range(5)), list(range(5, 12))])
    S = np.cov(problem.X.T)
    np.testing.assert_allclose(np.cov(seen[0].T), S[:5, :5], atol=1e-10)
    schur = S[5:, 5:] - S[5:, :5] @ np.linalg.solve(S[:5, :5], S[:5, 5:])
    np.testing.assert_allclose(np.cov(seen[1].T), schur, atol=1e-8)


def test_what_is_left_of_a_block_is_the_residual_of_a_regression_on_those_before():
    problem = correlated()
    seen = blocks(problem, groups=[[3, 1], [0, 7, 4], [2, 5, 6, 8, 9, 10, 11]])
    before = np.column_stack([np.ones(500), problem.X[:, [3, 1]]])
    residual = (
        problem.X[:, [0, 7, 4]]
        - before @ np.linalg.lstsq(before, problem.X[:, [0, 7, 4]], rcond=None)[0]
    )
    np.testing.assert_allclose(seen[1] - seen[1].mean(axis=0), residual, atol=1e-8)


def test_four_subspaces_of_half_the_features_are_two_halvings():
    views = build("decomposer", "bcd_subspaces", subspaces=4, features=6).views(correlated())
    used = [np.flatnonzero(np.abs(view.matrix).max(axis=1) > 0) for view in views]
    assert [view.matrix.shape for view in views] == [(12, 6)] * 4
    assert [len(each) for each in used] == [6, 12, 6, 12]
    assert used[0].tolist() != used[2].tolist()


def test_sparse_rows_are_seen_alike():
    dense = with_indicators()
    sparse = Problem(as_sparse(dense.X), dense.y, 2, dense.seed)
    for one, other in zip(blocks(dense), blocks(sparse), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([[0, 1], [2, 3, 4, 5]], "feature 6 is in no group"),
        ([[0, 1, 2, 3, 4, 5, 6], list(range(6, 12))], "feature 6 is in several groups"),
    ],
)
@pytest.mark.parametrize("name", ["bcd_subspaces", "abd_subspaces"])
def test_groups_must_hold_every_feature_once(name, groups, sentence):
    with pytest.raises(DataError) as refusal:
        build("decomposer", name, groups=groups).views(correlated())
    assert str(refusal.value) == f"{name}: groups must hold every feature once, but {sentence}"


def test_a_feature_that_earlier_groups_explain_becomes_zero():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(12, 30))  # any 11 features explain all others
    first, second = blocks(Problem(X, np.arange(12) % 2, 2, Seed(0)), subspaces=2, features=15)
    assert first.std() > 0.5
    assert not second.std(axis=0).any()
