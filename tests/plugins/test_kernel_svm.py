"""The kernel support vector machine against scikit-learn's SVC."""

import attrs
import numpy as np
import pytest
from sklearn.svm import SVC

from dcsvm import SettingError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse

KERNELS = {
    "rbf": {"gamma": 0.7},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "sigmoid": {"gamma": 0.1, "coef0": 0.2},
}


#: How near two machines come that stop where no violation is larger than 1e-8, and one machine
#: that is the other in another form.
NEAR = {"own": 1e-5, "libsvm": 1e-8}


def ours_and_theirs(problem, solver="own", **settings):
    settings = {"tol": 1e-8, **settings}
    ours = build("learner", "kernel_svm", solver=solver, **settings).fit(problem)
    theirs = SVC(**settings).fit(problem.X, problem.y, sample_weight=problem.weights)
    return ours, theirs


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", NEAR)
def test_two_classes_have_the_decision_values_of_svc(solver, kernel, weighted, form):
    problem = variant(easy_problem(2, gap=1.0), weighted, form)
    ours, theirs = ours_and_theirs(problem, solver, kernel=kernel, **KERNELS[kernel])
    expected = theirs.decision_function(problem.X)
    np.testing.assert_allclose(ours.scores(problem.X)[:, 0], expected, atol=NEAR[solver])
    assert sorted(ours.support) == sorted(theirs.support_)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", NEAR)
def test_more_classes_have_the_scores_and_predictions_of_svc(solver, kernel, weighted, form):
    problem = variant(easy_problem(4, rows=80, gap=1.0), weighted, form)
    ours, theirs = ours_and_theirs(problem, solver, kernel=kernel, **KERNELS[kernel])
    expected = theirs.decision_function(problem.X)
    np.testing.assert_allclose(ours.scores(problem.X), expected, atol=NEAR[solver])
    assert (ours.labels(problem.X) == expected.argmax(axis=1)).all()


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_may_be_said_in_words(gamma):
    ours, theirs = ours_and_theirs(easy_problem(2, gap=1.0), gamma=gamma)
    assert ours.kernel.gamma == pytest.approx(theirs._gamma)


def test_gamma_scale_counts_a_weighted_row_as_repeated():
    problem = easy_problem(2, gap=1.0)
    times = 1 + np.arange(60) % 3
    weighted = build("learner", "kernel_svm").fit(attrs.evolve(problem, weights=times * 1.0))
    repeated = build("learner", "kernel_svm").fit(problem.subset(np.repeat(np.arange(60), times)))
    assert weighted.kernel.gamma == pytest.approx(repeated.kernel.gamma, rel=1e-12)


def test_a_kernel_may_be_a_function():
    problem = easy_problem(2, gap=1.0)
    ours, theirs = ours_and_theirs(problem, kernel=plain_product)
    expected = theirs.decision_function(problem.X)
    np.testing.assert_allclose(ours.scores(problem.X)[:, 0], expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_precomputed_kernel_matrix_serves(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    gram = problem.X @ problem.X.T
    ours, theirs = ours_and_theirs(attrs.evolve(problem, X=gram), kernel="precomputed")
    scores = ours.scores(gram)
    expected = theirs.decision_function(gram).reshape(scores.shape)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert build("learner", "kernel_svm", kernel="precomputed").pairwise is True


def test_cost_counts_every_support_vector_of_every_pair():
    ours, theirs = ours_and_theirs(easy_problem(3, gap=1.0))
    assert ours.cost.kernel_evaluations == np.count_nonzero(theirs.dual_coef_)
    assert ours.cost.unique_kernel_evaluations == len(theirs.support_)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(SettingError) as refusal:
        build("learner", "kernel_svm", kernel="rbg")
    assert str(refusal.value) == (
        "kernel_svm: kernel must be 'rbf' or 'linear' or 'poly' or 'laplacian' or 'sigmoid' or "
        "'trbf' or 'precomputed' or a function, not 'rbg'"
    )


def plain_product(X, Y):
    return X @ Y.T


def variant(problem, weighted, form):
    weights = 0.5 + np.arange(problem.n_rows) % 4 if weighted else None
    X = as_sparse(problem.X) if form == "csr" else problem.X
    return attrs.evolve(problem, X=X, weights=weights)
