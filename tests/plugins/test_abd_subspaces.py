"""Subspaces of blocks of features added up."""

import time

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm import Problem, build
from dcsvm.base.seed import Seed
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse

PROBLEM = easy_problem(rows=80, features=10, gap=1.0)


def views(problem, **settings):
    return build("decomposer", "abd_subspaces", **settings).views(problem)


def test_sums_are_the_eigenvectors_of_the_matrix_of_block_products():
    groups = [[0, 3, 5], [1, 2, 4], [9, 8, 7, 6]]
    seen = [view.apply(PROBLEM.X) for view in views(PROBLEM, groups=groups)]
    padded = np.zeros((3, 80, 4))
    for place, group in enumerate(groups):
        padded[place, :, : len(group)] = PROBLEM.X[:, group]
    M = np.einsum("inb,jnb->ij", padded, padded)
    values, vectors = np.linalg.eigh(M)
    for number, each in enumerate(seen):
        expected = np.einsum("i,inb->nb", vectors[:, 2 - number], padded)
        sign = np.sign((each * expected).sum())
        np.testing.assert_allclose(each, sign * expected, atol=1e-10)
        assert (each**2).sum() == pytest.approx(values[2 - number])


def test_two_sums_are_orthogonal_as_single_vectors():
    first, second, third = (
        view.apply(PROBLEM.X) for view in views(PROBLEM, subspaces=3, features=4)
    )
    scale = (first**2).sum()
    for one, other in ((first, second), (first, third), (second, third)):
        assert abs((one * other).sum()) < 1e-10 * scale


def test_four_subspaces_of_half_the_features_are_two_halvings():
    made = views(PROBLEM, subspaces=4, features=5)
    assert [view.width for view in made] == [5, 5, 5, 5]
    assert made[0].block is made[1].block
    assert made[0].block.tolist() != made[2].block.tolist()


def test_sparse_rows_are_seen_as_dense_ones_are():
    rows = np.where(np.abs(PROBLEM.X) < 0.5, 0.0, PROBLEM.X)
    dense = attrs.evolve(PROBLEM, X=rows)
    thin = attrs.evolve(PROBLEM, X=as_sparse(rows))
    for one, other in zip(views(dense), views(thin), strict=True):
        np.testing.assert_allclose(one.apply(rows), other.apply(thin.X).toarray(), atol=1e-10)


def test_a_row_of_weight_two_counts_as_two_rows():
    weights = 1.0 + np.arange(80) % 2
    twice = PROBLEM.subset(np.repeat(np.arange(80), weights.astype(int)))
    for ours, theirs in zip(
        views(attrs.evolve(PROBLEM, weights=weights)), views(twice), strict=True
    ):
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-10)


def wide(n_features, n_rows=200, per_row=50):
    generator = np.random.default_rng(0)
    indices = generator.integers(n_features, size=n_rows * per_row).astype(np.int32)
    edges = np.arange(0, len(indices) + 1, per_row, dtype=np.int32)
    X = sparse.csr_array((np.ones(len(indices)), indices, edges), shape=(n_rows, n_features))
    X.sum_duplicates()
    return Problem(X, np.arange(n_rows) % 2, 2, Seed(0))


def test_more_than_a_million_sparse_features_stay_sparse():
    problem = wide(1_355_191)
    for view in views(problem, subspaces=10, features=0.1):
        seen = view.apply(problem.X)
        assert sparse.issparse(seen)
        assert seen.shape == (200, 135_520)
        assert seen.nnz <= problem.X.nnz


def test_the_cost_of_the_products_grows_with_rows_features_and_blocks_and_no_faster():
    """Doubling one of them may at most double the multiplications: O(M m N)."""
    counted = {}
    for key, (n, d, m) in {
        "base": (200, 240, 4),
        "rows": (400, 240, 4),
        "features": (200, 480, 4),
        "blocks": (200, 240, 8),
    }.items():
        problem = easy_problem(2, rows=n, features=d)
        counted[key] = multiplications(problem, m)
    assert counted["base"] == 200 * 240 * 4
    assert all(counted[key] == 2 * counted["base"] for key in ("rows", "features", "blocks"))


def multiplications(problem, n_blocks):
    """How many the products of blocks take: those of a (rows * width, blocks) matrix by itself."""
    from dcsvm.numeric import moments

    d = problem.n_features
    block, place = np.divmod(np.arange(d), d // n_blocks)
    roots = np.ones(problem.n_rows)
    stacked = moments._stack(problem.X, roots, place, block, n_blocks, d // n_blocks)
    return sum(each.shape[0] * each.shape[1] ** 2 for each in stacked)


def test_sparse_products_do_not_take_longer_where_there_are_more_empty_features():
    took = {}
    for n_features in (20_000, 2_000_000):
        problem = wide(n_features, n_rows=2000)
        group = np.arange(n_features)
        block, place = np.divmod(group, n_features // 4)
        best = np.inf
        for _ in range(3):
            started = time.process_time()
            build_products(problem.X, place, block, n_features // 4)
            best = min(best, time.process_time() - started)
        took[n_features] = best
    assert took[2_000_000] < 10 * took[20_000]


def build_products(X, place, block, width):
    from dcsvm.numeric import block_products

    return block_products(X, None, place, block, 4, width)
