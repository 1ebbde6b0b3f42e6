"""LASVM ends at the SVM of libsvm, and one pass comes close."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from dcsvm import Problem, build
from dcsvm.base.seed import Seed
from dcsvm.numeric import Kernel, online_svm
from dcsvm.testing import easy_problem

X, y = make_moons(300, noise=0.3, random_state=0)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_libsvm(weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    ours = build("learner", "lasvm", C=2.0, gamma=1.0, tol=1e-5).fit(
        Problem(X, y, 2, weights=weights)
    )
    theirs = SVC(C=2.0, gamma=1.0, tol=1e-6).fit(X, y, weights)
    np.testing.assert_allclose(ours.scores(X)[:, 0], theirs.decision_function(X), atol=1e-3)
    assert set(ours.support) == set(theirs.support_)


def test_each_class_is_separated_from_the_rest():
    problem = easy_problem(3, gap=1.0)
    ours = build("learner", "lasvm", gamma=0.5, tol=1e-5).fit(problem)
    for label in range(3):
        theirs = SVC(gamma=0.5, tol=1e-6).fit(problem.X, problem.y == label)
        expected = theirs.decision_function(problem.X)
        np.testing.assert_allclose(ours.scores(problem.X)[:, label], expected, atol=1e-3)


def test_duals_are_feasible_after_one_pass():
    model = build("learner", "lasvm", gamma=1.0, epochs=1).fit(Problem(X, y, 2))
    assert abs(model.duals.sum()) < 1e-9
    signed = model.duals[:, 0] * np.where(y[model.support] == 1, 1.0, -1.0)
    assert signed.min() > 0
    assert signed.max() <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_one_pass_is_as_accurate_as_libsvm_on_new_rows(seed):
    new, labels = make_moons(3000, noise=0.3, random_state=1)
    model = build("learner", "lasvm", gamma=1.0, epochs=1).fit(Problem(X, y, 2, Seed(seed)))
    exact = SVC(gamma=1.0).fit(X, y)
    assert (model.labels(new) == labels).mean() > exact.score(new, labels) - 0.005
    assert len(model.support) <= len(exact.support_)


def test_margins_are_computed_in_blocks_of_few_kernel_values(monkeypatch):
    sizes = []
    monkeypatch.setattr(online_svm, "BLOCK_VALUES", 2000)
    kernel = Kernel.__call__

    def ask(self, X, Y=None):
        found = kernel(self, X, Y)
        sizes.append(found.size)
        return found

    whole = build("learner", "lasvm", gamma=1.0).fit(Problem(X, y, 2)).scores(X)
    monkeypatch.setattr(Kernel, "__call__", ask)
    model = build("learner", "lasvm", gamma=1.0).fit(Problem(X, y, 2))
    assert max(sizes) <= 2000
    np.testing.assert_allclose(model.scores(X), whole, atol=1e-9)
