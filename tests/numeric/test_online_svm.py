"""The online solver ends at the SVM of libsvm, and its duals are feasible after one pass."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from dcsvm.numeric import Kernel, OnlineRun

X, y = make_moons(200, noise=0.3, random_state=0)
SIGNS = np.where(y == 1, 1.0, -1.0)


def run(costs, **settings):
    solver = OnlineRun(X, SIGNS, costs, Kernel("rbf", gamma=1.0), 1e-5)
    return solver, solver.learn(np.random.default_rng(0), **settings)


@pytest.mark.parametrize("C", [0.5, 10.0])
def test_the_support_vectors_are_those_of_libsvm(C):
    solver, bias = run(np.full(200, C), epochs=20, steps=100_000)
    judge = SVC(C=C, gamma=1.0, tol=1e-7).fit(X, y)
    scores = solver.kernel(X, solver.points) @ solver.duals + bias
    np.testing.assert_allclose(scores, judge.decision_function(X), atol=1e-3)
    assert set(solver.rows.tolist()) == set(judge.support_.tolist())


def test_one_pass_leaves_duals_within_their_bounds():
    costs = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    solver, _ = run(costs, epochs=1, steps=0)
    own = solver.duals * SIGNS[solver.rows]
    assert own.min() >= 0.0
    assert (own <= costs[solver.rows]).all()
    assert abs(solver.duals.sum()) < 1e-9
    assert len(np.unique(solver.rows)) == len(solver.rows) < 200
