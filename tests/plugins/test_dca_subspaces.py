"""Subspaces of discriminant components, against Fisher's discriminant."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from dcsvm import DataError, Problem, build


def gaussians(n_classes, rows=3000, features=6, seed=0):
    """Classes with one covariance that is far from a multiple of the identity."""
    generator = np.random.default_rng(seed)
    y = np.arange(rows) % n_classes
    shape = generator.normal(size=(features, features))
    X = generator.normal(size=(rows, features)) @ shape
    return Problem(X + 2.0 * generator.normal(size=(n_classes, features))[y], y, n_classes)


def matrix(problem, **settings):
    d = problem.n_features
    spaces = build("decomposer", "dca_subspaces", groups=[list(range(d))], **settings)
    return spaces.views(problem)[0].matrix


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_first_directions_span_what_fishers_do(n_classes):
    problem = gaussians(n_classes)
    ours = matrix(problem, ridge=1e-9)[:, : n_classes - 1]
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(problem.X, problem.y)
    theirs = fisher.scalings_[:, : n_classes - 1]
    mine, others = (np.linalg.qr(each)[0] for each in (ours, theirs))
    angles = np.linalg.svd(mine.T @ others, compute_uv=False)
    np.testing.assert_allclose(angles, 1.0, atol=1e-6)


def test_for_two_classes_the_first_direction_is_the_closed_form():
    problem = gaussians(2)
    first, second = (problem.X[problem.y == label] for label in (0, 1))
    pooled = (np.cov(first.T) + np.cov(second.T)) / 2
    fisher = np.linalg.solve(pooled, second.mean(axis=0) - first.mean(axis=0))
    ours = matrix(problem, ridge=1e-9)[:, 0]
    cosine = ours @ fisher / np.linalg.norm(fisher)
    assert abs(cosine) > 1 - 1e-6


def test_directions_solve_the_generalised_eigenproblem_with_its_ridge():
    problem = gaussians(3)
    X, y = problem.X, problem.y
    total = np.cov(X.T, bias=True)
    means = np.array([X[y == label].mean(axis=0) for label in range(3)])
    within = (X - means[y]).T @ (X - means[y]) / len(X)
    metric = within + 0.1 * np.trace(within) / 6 * np.eye(6)
    V = matrix(problem, ridge=0.1, length="within")
    np.testing.assert_allclose(V.T @ metric @ V, np.eye(6), atol=1e-8)
    values = np.diag(V.T @ total @ V)
    np.testing.assert_allclose(total @ V, metric @ V * values, atol=1e-8)
    assert (np.diff(values) <= 1e-12).all()


def test_directions_have_length_one_unless_rows_of_a_class_shall_have_deviation_one():
    problem = gaussians(3)
    np.testing.assert_allclose(np.linalg.norm(matrix(problem), axis=0), 1.0)
    seen = problem.X @ matrix(problem, length="within", ridge=1e-9)
    deviations = np.sqrt(np.mean([seen[problem.y == k].var(axis=0) for k in range(3)], axis=0))
    np.testing.assert_allclose(deviations, 1.0, atol=1e-6)


def test_a_larger_ridge_turns_directions_towards_the_principal_components():
    problem = gaussians(2)
    _, principal = np.linalg.eigh(np.cov(problem.X.T))
    near, far = (abs(matrix(problem, ridge=ridge)[:, 0] @ principal[:, -1]) for ridge in (1e6, 1))
    assert near > 0.999 > far


def test_a_ridge_too_small_for_features_that_depend_on_each_other_is_refused():
    few = gaussians(2, rows=8, features=20)
    with pytest.raises(DataError, match=r"ridge = 1e-300 is too small .* use a larger ridge"):
        matrix(few, ridge=1e-300)
    assert np.isfinite(matrix(few)).all()
