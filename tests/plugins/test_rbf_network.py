"""The network against scikit-learn's ridge regression on its own bumps."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from dcsvm import Problem, build

X, Y = make_moons(200, noise=0.2, random_state=0)


def test_the_weights_are_those_of_ridge_regression_on_the_bumps():
    model = build("learner", "rbf_network", centres=15, gamma=2.0, ridge=0.5).fit(Problem(X, Y, 2))
    bumps = rbf_kernel(X, X[model.support_rows], gamma=2.0)
    reference = Ridge(alpha=0.5).fit(bumps, 2.0 * Y - 1.0)
    np.testing.assert_allclose(model.scores(X)[:, 0], reference.predict(bumps), atol=1e-8)
    assert model.cost.kernel_evaluations == 15


def test_a_sparse_matrix_gives_the_same_answers():
    labels = load_iris().target
    rows = load_iris().data
    network = build("learner", "rbf_network", centres=len(rows), gamma=0.5)
    dense = network.fit(Problem(rows, labels, 3)).scores(rows)
    thin = network.fit(Problem(sparse.csr_array(rows), labels, 3)).scores(sparse.csr_array(rows))
    np.testing.assert_allclose(thin, dense, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_share_a_bump(form):
    twice = form(np.vstack([X, X]))
    model = build("learner", "rbf_network", centres=1000).fit(
        Problem(twice, np.concatenate([Y, Y]), 2)
    )
    assert len(model.support_rows) == 200
