"""Lazy models: neighbours trained on at prediction, like any part."""

import attrs
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestNeighbors

from dcsvm import Problem
from dcsvm.base.seed import Seed
from dcsvm.testing import easy_problem
from dcsvm.testing.trials import Centroids
from dcsvm.toolbox import LazyLearner, NeighbourModel, nearest_rows

X, y = load_iris(return_X_y=True)


def test_nearest_rows_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    rows, points = generator.normal(size=(40, 5)), generator.normal(size=(300, 5))
    expected = NearestNeighbors(n_neighbors=17).fit(points).kneighbors(rows)[1]
    assert (nearest_rows(rows, points, 17) == expected).all()
    assert (nearest_rows(sparse.csr_array(rows), sparse.csr_array(points), 17) == expected).all()


def test_of_equal_points_the_first_is_nearest():
    points = np.zeros((40, 2))
    assert nearest_rows(np.ones((3, 2)), points, 4).tolist() == [[0, 1, 2, 3]] * 3
    assert nearest_rows(points[:1], points[:2], 2).tolist() == [[0, 1]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_row_is_answered_by_a_model_of_its_neighbours(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    model = LazyLearner(20).around(Centroids()).fit(problem)
    scores = model.scores(problem.X[:5])
    for row, near in enumerate(nearest_rows(problem.X[:5], problem.X, 20)):
        local = problem.subset(np.sort(near))
        if len(np.unique(local.y)) == n_classes:
            direct = Centroids().fit(local).scores(problem.X[[row]])
            np.testing.assert_allclose(scores[[row]], direct)


def test_absent_classes_are_ruled_out():
    problem = Problem(X, y, 3, Seed(0))
    scores = NeighbourModel(X, y, None, 3, Centroids(), Seed(0), 5).scores(X[[0, 149]])
    assert scores.argmax(axis=1).tolist() == [0, 2]
    assert scores[0].tolist() == [1.0, -1.0, -1.0]  # a part of a single class
    assert problem.n_classes == 3


def test_a_learner_of_its_own_stays():
    own = Centroids()
    assert LazyLearner(5, own).around(Centroids()).learner is own


def test_a_lazy_model_is_checked_when_loaded():
    model = NeighbourModel(X, y, None, 3, Centroids(), Seed(0), 5)
    model.check_stored(features=4, columns=3)
    for changed, message in [
        ({"y": y[:9]}, "NeighbourModel.y has shape"),
        ({"y": y + 1}, "NeighbourModel.y holds 3"),
        ({"count": 151}, "count must be 1 to 150, got 151"),
        ({"weights": -np.ones(150)}, "weights holds -1"),
        ({"n_classes": 4}, "has 4 columns, but must have 3"),
        (
            {"X": X[:, :2]},
            r"NeighbourModel.X has shape \(150, 2\), but must have shape \(rows, 4\)",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            attrs.evolve(model, **changed).check_stored(features=4, columns=3)
