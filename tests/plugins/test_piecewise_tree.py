"""Trees that ask whose linear function is the largest."""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris, make_moons
from sklearn.svm import LinearSVC

from dcsvm import DivideAndConquerClassifier, Problem, build
from dcsvm.inspection import compile_tree
from dcsvm_plugins.decomposers.piecewise_tree import PiecewiseLinearLearner, _build_tree, _minimize

X, Y = make_moons(600, noise=0.15, random_state=0)
LEARNED, TESTED = slice(300), slice(300, None)


def fitted(learner="majority", rows=X[LEARNED], labels=Y[LEARNED], weights=None, **settings):
    tree = build("decomposer", "piecewise_tree", **settings)
    classifier = DivideAndConquerClassifier(tree, learner, random_state=0)
    return classifier.fit(rows, labels, sample_weight=weights)


def tree_of(classifier):
    return classifier.model_.committee.groups[0].router.tree


def test_the_leaf_says_whose_largest_function_is_larger():
    generator = np.random.default_rng(0)
    plus, minus = generator.normal(size=(3, 5)), generator.normal(size=(4, 5))
    rows = generator.normal(size=(500, 4)).astype(np.float32).astype(float)
    tree, wins = _build_tree(plus, minus)
    leaf, passed = tree.route(rows)
    one, other = ((rows @ each[:, :-1].T + each[:, -1]).max(axis=1) for each in (plus, minus))
    assert ((wins[leaf] > 0) == (one > other)).all()
    assert passed.min() >= 3
    assert passed.max() <= 3 + 4 - 1
    assert len(np.unique(leaf)) > 10


def test_the_slope_is_that_of_the_objective():
    signs = np.where(Y == 1, 1.0, -1.0)
    start = np.random.default_rng(0).normal(size=(4, 3))
    costs = np.full(len(Y), 2.0)

    def objective(flat):
        values = X @ flat.reshape(4, 3)[:, :2].T + flat.reshape(4, 3)[:, 2]
        gap = values[:, :2].max(axis=1) - values[:, 2:].max(axis=1)
        return costs @ np.maximum(0, 1 - signs * gap) ** 2 + flat @ flat / 2

    ours = _minimize(X, signs, costs, start, 2, 200)
    theirs = minimize(objective, start.ravel(), method="L-BFGS-B")
    assert objective(ours.ravel()) <= 1.05 * theirs.fun
    assert objective(ours.ravel()) < 0.5 * objective(start.ravel())


def test_one_function_each_is_a_linear_svm():
    # Both functions are half of the machine, and pay half of what it pays for its length.
    machine = LinearSVC(C=2.0, tol=1e-8, max_iter=100_000).fit(X, Y)
    ours = fitted(functions=1, C=1.0, iterations=500, rows=X, labels=Y)
    tree = tree_of(ours)
    found = np.append(tree.weights[0, :2], -tree.thresholds[0])
    wanted = np.append(machine.coef_, machine.intercept_)
    assert abs(np.abs(found) - np.abs(wanted)).max() < 1e-3 * np.abs(wanted).max()


def test_more_functions_make_fewer_errors_and_pass_more_hyperplanes():
    scores, passed = [], []
    for functions in (1, 2, 4):
        classifier = fitted(functions=functions, C=10.0)
        scores.append(classifier.score(X[TESTED], Y[TESTED]))
        hyperplanes = classifier.cost(X[TESTED]).hyperplanes
        assert functions <= hyperplanes.min()
        assert hyperplanes.max() <= 2 * functions - 1
        passed.append(hyperplanes.mean())
    assert scores[0] < scores[1] <= scores[2]
    assert scores[2] > 0.97
    assert passed[0] < passed[1] < passed[2]


def test_several_classes_contest_in_groups():
    rows, labels = load_iris(return_X_y=True)
    classifier = fitted(rows=rows, labels=labels, functions=2)
    assert classifier.score(rows, labels) > 0.95
    assert len(classifier.model_.committee.members) == 3


def test_sparse_rows_are_learned_as_dense_ones():
    dense, csr = fitted(), fitted(rows=sparse.csr_array(X[LEARNED]))
    assert np.allclose(tree_of(dense).weights, tree_of(csr).weights, atol=1e-3)
    assert (dense.predict(X) == csr.predict(X)).mean() > 0.99


def test_a_row_of_weight_three_costs_as_much_as_three_rows_where_weights_have_mean_one():
    problem = Problem(X, Y, 2)
    weights = np.ones(len(Y))
    weights[:50] = 3.0
    repeated = np.concatenate([np.arange(len(Y)), np.arange(50), np.arange(50)])
    learner = PiecewiseLinearLearner(1, 1.0, 500)
    heavier = PiecewiseLinearLearner(1, weights.mean(), 500)
    one = heavier.fit(Problem(X, Y, 2, problem.seed, weights)).tree
    other = learner.fit(Problem(X[repeated], Y[repeated], 2)).tree
    assert np.allclose(one.weights, other.weights, rtol=1e-3, atol=1e-4)
    assert not np.allclose(one.weights, heavier.fit(problem).tree.weights, rtol=1e-2)


def test_any_learner_may_stand_in_the_leaves_and_the_tree_can_be_compiled():
    assert fitted("kernel_svm").score(X[TESTED], Y[TESTED]) > 0.97
    classifier = fitted()
    assert (compile_tree(classifier).predict(X) == classifier.predict(X)).all()
