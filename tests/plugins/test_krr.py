"""Kernel ridge regression as a classifier, against scikit-learn's KernelRidge."""

import attrs
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from dcsvm import DataError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse

KERNELS = {
    "rbf": {"gamma": 0.7},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "laplacian": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.05, "coef0": 0.1},
}


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_kernel_ridge_on_plus_and_minus_one(n_classes, kernel, weighted, form):
    problem = easy_problem(n_classes, gap=1.0)
    weights = 0.5 + np.arange(60) % 4 if weighted else None
    X = as_sparse(problem.X) if form == "csr" else problem.X
    ours = build("learner", "krr", kernel=kernel, ridge=0.3, **KERNELS[kernel])
    model = ours.fit(attrs.evolve(problem, X=X, weights=weights))
    labels = [1] if n_classes == 2 else range(n_classes)
    targets = np.where(problem.y[:, None] == labels, 1.0, -1.0)
    theirs = KernelRidge(alpha=0.3, kernel=kernel, **KERNELS[kernel]).fit(X, targets, weights)
    np.testing.assert_allclose(model.scores(X), theirs.predict(X), rtol=1e-6, atol=1e-7)


def test_every_row_is_kept():
    model = build("learner", "krr").fit(easy_problem(3))
    assert model.support.tolist() == list(range(60))
    assert model.duals.shape == (60, 3)


def test_a_truncated_rbf_kernel_comes_near_the_rbf():
    problem = easy_problem(2)
    near, rbf = (
        build("learner", "krr", kernel=kernel, gamma=0.1, degree=degree).fit(problem)
        for kernel, degree in (("trbf", 20), ("rbf", 3))
    )
    np.testing.assert_allclose(near.scores(problem.X), rbf.scores(problem.X), atol=1e-6)


def test_a_kernel_that_is_not_positive_definite_is_solved_all_the_same():
    problem = easy_problem(2, gap=1.0)
    krr = build("learner", "krr", kernel=negative_distance, ridge=0.1)
    assert (krr.fit(problem).labels(problem.X) == problem.y).mean() > 0.8


def test_a_part_that_is_too_large_is_refused():
    with pytest.raises(DataError) as refusal:
        build("learner", "krr", max_rows=59).fit(easy_problem(rows=60))
    assert str(refusal.value) == (
        "krr was given a part of 60 rows, but max_rows is 59; "
        "divide finer, or raise max_rows if the memory allows"
    )


def negative_distance(X, Y):
    return -np.linalg.norm(X[:, None] - Y[None], axis=2)


def test_a_precomputed_kernel_that_is_not_square_is_refused():
    problem = easy_problem()
    with pytest.raises(DataError) as refusal:
        build("learner", "krr", kernel="precomputed").fit(problem)
    assert str(refusal.value) == (
        f"krr: a precomputed kernel must be square, got {problem.X.shape}"
    )
