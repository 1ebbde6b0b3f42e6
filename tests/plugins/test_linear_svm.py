"""The linear support vector machine against scikit-learn's LinearSVC."""

from concurrent.futures import ThreadPoolExecutor

import attrs
import numpy as np
import pytest
from sklearn.svm import LinearSVC

from dcsvm import SettingError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_decision_values_are_those_of_linear_svc(n_classes, weighted, form):
    problem = easy_problem(n_classes, gap=1.0)
    X = as_sparse(problem.X) if form == "csr" else problem.X
    weights = 0.5 + np.arange(60) % 4 if weighted else None
    ours = build("learner", "linear_svm").fit(attrs.evolve(problem, X=X, weights=weights))
    theirs = LinearSVC(dual=False).fit(X, problem.y, weights)
    scores = ours.scores(X)
    expected = theirs.decision_function(X).reshape(scores.shape)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    assert (ours.labels(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_its_optimum_is_that_of_the_loss_it_is_told(loss):
    problem = easy_problem(2, gap=1.0)
    settings = {"loss": loss, "tol": 1e-8, "C": 0.5}
    ours = build("learner", "linear_svm", max_iterations=100_000, **settings).fit(problem)

    def objective(weights, bias):
        margins = 1 - np.where(problem.y == 1, 1, -1) * (problem.X @ weights + bias)
        losses = np.maximum(margins, 0) ** (2 if loss == "squared_hinge" else 1)
        return 0.5 * (weights @ weights + bias**2) + 0.5 * losses.sum()

    found = objective(ours.weights[:, 0], ours.biases[0])
    generator = np.random.default_rng(0)
    for _ in range(200):
        step = 0.01 * generator.normal(size=4)
        assert found <= objective(ours.weights[:, 0] + step[:3], ours.biases[0] + step[3]) + 1e-9


def test_the_hinge_loss_is_trained_in_processes_for_its_solver_shares_random_numbers():
    assert build("learner", "linear_svm").releases_gil is True
    assert build("learner", "linear_svm", loss="hinge").releases_gil is False


def test_fits_with_the_hinge_loss_do_not_disturb_each_other_in_threads():
    svm = build("learner", "linear_svm", loss="hinge", tol=1e-2)
    problems = [easy_problem(3, rows=200, gap=1.0, seed=seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        side_by_side = list(pool.map(svm.fit, problems))
    for model, problem in zip(side_by_side, problems, strict=True):
        assert (model.weights == svm.fit(problem).weights).all()


def test_more_features_than_rows_are_learned_as_well():
    problem = easy_problem(2, rows=20, features=50, gap=1.0)
    ours = build("learner", "linear_svm").fit(problem)
    theirs = LinearSVC(dual=False).fit(problem.X, problem.y)
    np.testing.assert_allclose(
        ours.scores(problem.X)[:, 0], theirs.decision_function(problem.X), atol=1e-9
    )


def test_it_costs_one_hyperplane_for_each_column():
    for n_classes, planes in ((2, 1), (3, 3)):
        cost = build("learner", "linear_svm").fit(easy_problem(n_classes)).cost
        assert (cost.hyperplanes, cost.kernel_evaluations) == (planes, 0)


@pytest.mark.parametrize("name", ["C", "intercept_scaling"])
@pytest.mark.parametrize("value", [1e-300, 1e300])
def test_values_that_its_solver_never_comes_back_from_are_refused(name, value):
    with pytest.raises(SettingError) as refusal:
        build("learner", "linear_svm", **{name: value})
    assert str(refusal.value) == (
        f"linear_svm: {name} must be a number of at least 1e-12 and at most 1e+12, got {value}"
    )
