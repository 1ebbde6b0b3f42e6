"""A large C is approached over smaller ones, and comes to the same as from zero."""

import attrs
import numpy as np
import pytest

from dcsvm.numeric import Kernel, implementation
from dcsvm_plugins.learners.kernel_svm import smo_numpy as reference
from dcsvm_plugins.learners.kernel_svm.c_continuation import (
    FAR,
    MANY,
    _shares,
    mean_curvature,
    sample_rows,
)
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve, solve_path, solve_paths
from dcsvm_plugins.learners.kernel_svm.multiclass import iterate_grams
from dcsvm_plugins.learners.kernel_svm.smo_numpy import Tasks


def noisy(rows: int, features: int = 3):
    """Rows whose labels are wrong for a third: most of them end at a bound."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(rows, features))
    signs = np.where((X[:, 0] > 0.5) ^ (random.uniform(size=rows) < 0.33), 1.0, -1.0)
    return X, signs


def gram_of(X, gamma):
    return next(iterate_grams(Kernel("rbf", gamma=gamma), X, [gamma]))[1]


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_the_solution_is_that_of_a_path_from_a_small_c(C: float) -> None:
    X, signs = noisy(600)
    gram = gram_of(X, 1.0)
    direct = solve(gram, signs, C)
    by_path = solve_path(gram, signs, [10.0**power for power in range(-1, 6) if 10**power <= C])
    assert direct.converged
    assert direct.gap < 1e-3
    assert direct.objective == pytest.approx(by_path[-1].objective, rel=1e-6)


def test_it_takes_fewer_steps_where_most_rows_end_at_a_bound() -> None:
    X, signs = noisy(1500, features=10)
    gram, rows = gram_of(X, 0.03), len(signs)
    tasks = Tasks(np.arange(rows), np.array([0, rows]), signs, np.ones(rows))
    from_zero = attrs.evolve(tasks, starts=np.zeros((1, rows)), given=np.ones(1, dtype=np.int8))
    (near, far), (approached, cold) = zip(
        *(
            solve_paths(gram, each, np.array([1e4]), 1e-3, (10**7, 0.0))
            for each in (tasks, from_zero)
        ),
        strict=True,
    )
    assert (np.abs(near) >= 1e4).mean() > MANY
    assert np.abs(near - far).mean() < 20.0
    assert approached["newton"].sum() < cold["newton"].sum()
    # Pairwise steps in C do most of the work; in NumPy Newton steps do.
    share = 0.6 if implementation() == "native" else 1.0
    assert approached["iterations"].sum() < share * cold["iterations"].sum()
    np.testing.assert_allclose(approached["objective"], cold["objective"], rtol=1e-6)


def test_weights_count_as_c_does() -> None:
    X, signs = noisy(600)
    gram = gram_of(X, 1.0)
    by_weights = solve(gram, signs, np.full(len(signs), 1e4))
    by_path = solve_path(gram, signs, [1e4])[0]
    assert by_weights.iterations == by_path.iterations
    np.testing.assert_array_equal(by_weights.alphas, by_path.alphas)


def test_the_numpy_solver_approaches_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    X, signs = noisy(400)
    gram = gram_of(X, 1.0)
    compiled = solve(gram, signs, 1e3)
    monkeypatch.setattr(
        "dcsvm_plugins.learners.kernel_svm.dual_solvers.solve_paths", reference.solve_paths
    )
    plain = solve(gram, signs, 1e3)
    assert plain.converged
    assert plain.objective == pytest.approx(compiled.objective, rel=1e-6)


def test_shares_end_below_c_and_begin_where_the_curvature_says() -> None:
    assert list(_shares(1000, 0.99 * FAR)) == []
    assert list(_shares(10, 1e9)) == []
    np.testing.assert_allclose(list(_shares(1000, 101.0)), [0.1])
    np.testing.assert_allclose(list(_shares(1000, 5e4)), [1e-3, 1e-2, 1e-1])


def test_the_mean_curvature_is_half_the_mean_squared_distance() -> None:
    X, _ = noisy(400)
    values = X @ X.T
    squares = ((X[sample_rows(400)][:, None] - X) ** 2).sum(axis=2)
    found = mean_curvature(values[sample_rows(400)], np.diagonal(values))
    assert found == pytest.approx(0.5 * squares.mean())
    assert mean_curvature(
        values[sample_rows(400)] - 1.0, np.diagonal(values) - 1.0
    ) == pytest.approx(found)
