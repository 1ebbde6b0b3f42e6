"""Logistic regression: with all rows as landmarks it is exact, and its probabilities are right."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.testing import easy_problem


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_scikit_learns_logistic_regression_in_the_kernels_feature_space(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    model = build("learner", "logistic", C=2.0, gamma=0.5).fit(problem)
    gram = rbf_kernel(problem.X, gamma=0.5)
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    C = 2.0 if n_classes > 2 else 4.0  # two columns share the penalty of one
    expected = LogisticRegression(C=C, tol=1e-9, max_iter=9999).fit(features, problem.y)
    shares = expected.predict_proba(features)
    np.testing.assert_allclose(model.probabilities(problem.X), shares, atol=1e-3)


def test_scores_are_shares_from_minus_one_to_one():
    for n_classes in (2, 3):
        problem = easy_problem(n_classes, gap=1.0)
        model = build("learner", "logistic").fit(problem)
        shares = model.probabilities(problem.X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        expected = shares[:, 1:] - shares[:, :1] if n_classes == 2 else 2 * shares - 1
        np.testing.assert_allclose(model.scores(problem.X), expected)


def test_a_few_landmarks_come_close():
    problem = easy_problem(2, rows=400, gap=1.0)
    few, all_rows = (
        build("learner", "logistic", landmarks=n, gamma=0.2).fit(problem) for n in (60, 400)
    )
    one, other = (logit(each.probabilities(problem.X)[:, 1]) for each in (few, all_rows))
    assert np.corrcoef(one, other)[0, 1] > 0.99
    assert few.cost.kernel_evaluations == 60


def test_its_probabilities_are_those_of_a_classifier():
    problem = easy_problem(3, gap=1.0)
    clf = DivideAndConquerClassifier("whole", "logistic", "mean", probability="auto")
    clf.fit(problem.X, problem.y)
    (member,) = clf.model_.committee.members
    np.testing.assert_allclose(
        clf.predict_proba(problem.X), member.model.probabilities(problem.X), atol=1e-9
    )
