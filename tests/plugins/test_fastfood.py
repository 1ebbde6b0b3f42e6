"""Fastfood: the transform is that of its matrices, and products of features are the kernel."""

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix
from sklearn.metrics.pairwise import rbf_kernel

from dcsvm import build
from dcsvm.testing import easy_problem


def test_angles_are_products_with_the_stacked_matrices_of_the_paper():
    problem = easy_problem(2)
    model = build("learner", "fastfood", frequencies=7, gamma=0.3).fit(problem).directions
    blocks, length = model.signs.shape
    H = hadamard_matrix(length)
    stacked = [
        np.diag(model.scales[block])
        @ (H @ np.diag(model.normals[block]) @ np.eye(length)[model.order[block]] @ H)
        @ np.diag(model.signs[block])
        for block in range(blocks)
    ]
    directions = np.vstack(stacked)[:7, : problem.n_features]
    np.testing.assert_allclose(
        model.products(problem.X)[:, :7], problem.X @ directions.T, atol=1e-12
    )


def test_products_of_features_are_the_gaussian_kernel_with_many_frequencies():
    problem = easy_problem(2, rows=40)
    waves = build("learner", "fastfood", frequencies=500, gamma=0.05).fit(problem)
    found = waves.waves(problem.X) @ waves.waves(problem.X).T
    expected = rbf_kernel(problem.X, gamma=0.05)
    assert np.abs(found - expected).max() < 0.2
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.05


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_comes_close_to_kernel_ridge_regression(n_classes):
    problem = easy_problem(n_classes, rows=200, gap=1.0)
    near = build("learner", "fastfood", frequencies=300, gamma=0.1, ridge=1.0).fit(problem)
    exact = build("learner", "krr", gamma=0.1, ridge=1.0).fit(problem)
    one, other = near.scores(problem.X), exact.scores(problem.X)
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.98
    assert near.cost.hyperplanes == 300
