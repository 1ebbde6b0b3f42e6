"""The Bayesian committee machine is Tresp's formula over scikit-learn's Gaussian processes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from dcsvm import DivideAndConquerClassifier, build

NOISE, GAMMA = 0.2, 0.5


def committee(X, y, ceiling, combiner="route"):
    machine = build("decomposer", "bayesian_committee", ceiling=ceiling, noise=NOISE, gamma=GAMMA)
    clf = DivideAndConquerClassifier(machine, "krr", combiner, random_state=0, keep_rows=True)
    return clf.fit(X, y)


def combine(X, y, parts, asked):
    """The mean of Tresp's equation (3), one row at a time, with a prior of variance 1."""
    precision, total = -(len(parts) - 1.0), 0.0
    for rows in parts:
        process = GaussianProcessRegressor(
            RBF(np.sqrt(0.5 / GAMMA)), alpha=NOISE, optimizer=None
        ).fit(X[rows], y[rows])
        mean, deviation = process.predict(asked, return_std=True)
        precision, total = precision + deviation**-2, total + mean * deviation**-2
    return total / precision


@pytest.mark.parametrize("combiner", ["route", "mean"])
def test_labels_are_those_of_the_papers_formula(combiner):
    X, y = make_moons(300, noise=0.3, random_state=0)
    clf = committee(X, y, 60, combiner)
    parts = [member.rows for member in clf.model_.committee.members]
    assert len(parts) == 5
    asked = np.random.default_rng(0).uniform(-2, 3, size=(400, 2))
    expected = combine(X, np.where(y == 1, 1.0, -1.0), parts, asked)
    found = clf.decision_function(asked)
    np.testing.assert_array_equal(found > 0, expected > 0)
    assert (np.abs(found) <= np.abs(expected) + 1e-9).all()  # the prior is left out of the scale


def test_one_factor_for_all_classes_is_left_out():
    X, y = load_iris(return_X_y=True)
    clf = committee(X, y, 40)
    parts = [member.rows for member in clf.model_.committee.members]
    expected = [combine(X, np.where(y == k, 1.0, -1.0), parts, X) for k in range(3)]
    found = clf.decision_function(X)
    np.testing.assert_allclose(found[:, 0] / found[:, 1], expected[0] / expected[1], rtol=1e-6)


def test_one_part_is_the_gaussian_process():
    X, y = make_moons(80, noise=0.3, random_state=0)
    found = committee(X, y, 80).decision_function(X)
    np.testing.assert_allclose(
        found, combine(X, np.where(y == 1, 1.0, -1.0), [np.arange(80)], X), atol=1e-9
    )
