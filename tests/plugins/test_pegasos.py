"""The Pegasos learner: what C and lambda mean, and how near the optimum it comes."""

import attrs
import numpy as np
import pytest
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, SettingError, build
from dcsvm.testing import easy_problem


@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_its_c_is_that_of_other_machines_and_the_gap_to_their_optimum_below_one_percent(
    C, weighted
):
    problem = easy_problem(2, rows=200, gap=1.0)
    masses = 1.0 + np.arange(200) % 3 if weighted else np.ones(200)
    signs = np.where(problem.y == 1, 1.0, -1.0)
    exact = SVC(kernel="linear", C=C, tol=1e-8).fit(problem.X, signs, masses)
    ours = build("learner", "pegasos", C=C).fit(attrs.evolve(problem, weights=masses))

    def primal(weights, bias):
        hinge = np.maximum(0.0, 1.0 - signs * (problem.X @ weights + bias))
        return 0.5 * weights @ weights + C * (masses * hinge).sum()

    least = primal(exact.coef_[0], exact.intercept_[0])
    assert primal(ours.weights[:, 0], ours.biases[0]) <= 1.01 * least


def test_lambda_is_one_over_c_and_the_sum_of_weights():
    problem = easy_problem(2, gap=1.0)
    weights = 1.0 + np.arange(60) % 2
    weighted = attrs.evolve(problem, weights=weights)
    by_C = build("learner", "pegasos", C=2.0).fit(weighted)
    given = build("learner", "pegasos", regularization=1.0 / (2.0 * weights.sum())).fit(weighted)
    assert (by_C.weights == given.weights).all()


def test_several_classes_go_one_against_the_rest_or_through_class_pairs():
    problem = easy_problem(4)
    assert build("learner", "pegasos").fit(problem).weights.shape == (3, 4)
    pairs = DivideAndConquerClassifier("class_pairs", "pegasos", "vote", random_state=0)
    assert pairs.fit(problem.X, problem.y).score(problem.X, problem.y) > 0.95
    assert (pairs.cost(problem.X).hyperplanes == 6).all()


def test_the_exact_bias_repairs_one_that_had_no_time_to_move():
    problem = easy_problem(2, rows=200, gap=1.0)
    shifted = attrs.evolve(problem, X=problem.X + 5.0)
    slow = {"bias_rate": 0.0, "iterations": 2000}
    right = [
        (build("learner", "pegasos", exact_bias=exact, **slow).fit(shifted).labels(shifted.X))
        == problem.y
        for exact in (True, False)
    ]
    assert right[0].mean() > right[1].mean()


def test_a_lambda_of_nothing_is_refused():
    with pytest.raises(SettingError, match="regularization must be a number of at least 1e-15 or"):
        build("learner", "pegasos", regularization=0.0)
