"""SpSVM: the coefficients minimize its objective, and a small basis comes close."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from dcsvm import DivideAndConquerClassifier, Problem, build
from dcsvm.testing import easy_problem


def loss(flat, gram, basis, targets, C):
    weights, bias = flat[:-1], flat[-1]
    short = np.maximum(1.0 - targets * (gram[:, basis] @ weights + bias), 0.0)
    return 0.5 * weights @ gram[np.ix_(basis, basis)] @ weights + 0.5 * C * short @ short


@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_minimize_the_regularized_squared_hinge_loss(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    model = build("learner", "spsvm", C=2.0, gamma=0.5, basis=12).fit(problem)
    gram, basis = rbf_kernel(problem.X, gamma=0.5), model.support
    for column, label in enumerate([1] if n_classes == 2 else range(n_classes)):
        targets = np.where(problem.y == label, 1.0, -1.0)
        given = gram, basis, targets, 2.0
        best = minimize(loss, np.zeros(13), given, method="BFGS", options={"gtol": 1e-7})
        ours = np.append(model.coefficients[:, column], model.biases[column])
        assert loss(ours, *given) <= best.fun * (1 + 1e-6)


def test_a_greedy_basis_is_better_than_a_random_one():
    X, y = make_moons(400, noise=0.2, random_state=0)
    problem = Problem(X, y, 2)
    gram, targets = rbf_kernel(X, gamma=2.0), np.where(y == 1, 1.0, -1.0)
    chosen, drawn = (
        build("learner", "spsvm", gamma=2.0, basis=8, candidates=count).fit(problem)
        for count in (59, 1)
    )
    losses = [
        loss(np.append(each.coefficients, each.biases), gram, each.support, targets, 1.0)
        for each in (chosen, drawn)
    ]
    assert losses[0] < losses[1]


def test_a_small_basis_comes_close_to_the_svm():
    X, y = make_moons(1200, noise=0.25, random_state=0)
    accuracy = {}
    for name, settings in (("spsvm", {"basis": 25}), ("kernel_svm", {})):
        learner = build("learner", name, gamma=2.0, **settings)
        clf = DivideAndConquerClassifier("whole", learner, "route", random_state=0)
        accuracy[name] = clf.fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert accuracy["spsvm"] > accuracy["kernel_svm"] - 0.01


def test_a_basis_of_all_rows_ends():
    problem = easy_problem(2, rows=10)
    assert len(build("learner", "spsvm").fit(problem).support) == 10
