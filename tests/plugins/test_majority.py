"""The majority learner: the most frequent class, by weight."""

import attrs
import numpy as np
import pytest

from dcsvm import build
from dcsvm.testing import easy_problem


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_row_gets_the_class_with_the_most_weight(n_classes):
    problem = easy_problem(n_classes)
    for winner in range(n_classes):
        weights = np.where(problem.y == winner, 3.0, 1.0)
        model = build("learner", "majority").fit(attrs.evolve(problem, weights=weights))
        assert (model.labels(problem.X) == winner).all()


def test_scores_are_shares():
    problem = easy_problem(3).subset(np.arange(50))
    scores = build("learner", "majority").fit(problem).scores(problem.X)
    np.testing.assert_allclose(scores[0], np.bincount(problem.y) / 50)


def test_it_costs_nothing():
    cost = build("learner", "majority").fit(easy_problem()).cost
    assert (cost.hyperplanes, cost.kernel_evaluations) == (0, 0)
