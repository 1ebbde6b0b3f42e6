"""Many small problems in one call: each comes out as it does alone."""

from itertools import pairwise

import numpy as np
import pytest
from dual_formulas import exact_rbf, gap
from sklearn.exceptions import ConvergenceWarning

from dcsvm.numeric import Kernel, native
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve, solve_parts, solve_tasks
from dcsvm_plugins.learners.kernel_svm.gram import rbf_gram
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_part

SIZES, GAMMAS = (5, 40, 2, 130), (0.5, 0.1, 3.0, 1.0)


def stacked(features=3, seed=0):
    """Rows, signs, bounds and offsets of problems of several sizes."""
    random = np.random.default_rng(seed)
    offsets = np.cumsum([0, *SIZES])
    X = random.normal(size=(offsets[-1], features))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=len(X)) > 0, 1.0, -1.0)
    y[offsets[:-1]], y[offsets[:-1] + 1] = 1.0, -1.0
    return X, y, random.uniform(1.0, 10.0, size=len(X)), offsets


def each(offsets):
    return [slice(*pair) for pair in pairwise(offsets)]


@pytest.mark.parametrize("features", [1, 3, 17])
def test_parts_are_solved_to_the_same_bits_in_any_company(features):
    X, y, bounds, offsets = stacked(features)
    betas, outcomes = solve_parts(X, offsets, GAMMAS, y, bounds)
    for part, gamma, outcome in zip(each(offsets), GAMMAS, outcomes, strict=True):
        alone = solve_part(Kernel("rbf", gamma), X[part], y[part], bounds[part])
        np.testing.assert_array_equal(betas[part], y[part] * alone.alphas)
        assert outcome["bias"] == alone.bias
        assert alone.converged
        K = exact_rbf(X[part], gamma)
        assert gap(K, y[part], alone.alphas, bounds[part]) < 1e-3


def test_both_implementations_solve_parts_to_the_same_optimum():
    X, y, bounds, offsets = stacked()
    _, outcomes = solve_parts(X, offsets, GAMMAS, y, bounds, tol=1e-6)
    with native.numpy_only():
        betas, reference = solve_parts(X, offsets, GAMMAS, y, bounds, tol=1e-6)
    np.testing.assert_allclose(outcomes["objective"], reference["objective"], rtol=1e-6)
    for part in each(offsets):
        assert betas[part].sum() == pytest.approx(0.0, abs=1e-9)


def test_tasks_of_one_matrix_are_solved_to_the_same_bits_in_any_company():
    X, y, bounds, offsets = stacked()
    gram = rbf_gram(X, 0.5)
    rows = np.random.default_rng(1).permutation(len(X))
    betas, outcomes = solve_tasks(gram, rows, offsets, y, bounds)
    for part, outcome in zip(each(offsets), outcomes, strict=True):
        alone = solve(gram, y[part], bounds[part], rows=rows[part])
        np.testing.assert_array_equal(betas[part], y[part] * alone.alphas)
        assert outcome["objective"] == alone.objective


def test_parts_that_reach_a_limit_are_counted():
    X, y, bounds, offsets = stacked()
    with pytest.warns(ConvergenceWarning, match="of 4 problems reached a limit"):
        solve_parts(X, offsets, GAMMAS, y, bounds, max_iterations=3)
