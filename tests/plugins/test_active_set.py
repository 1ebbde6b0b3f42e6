"""Parts with many features, solved by the rows that matter, against all rows at once."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.kernel_svm import active_set
from dcsvm_plugins.learners.kernel_svm.active_set import solve_active_set
from dcsvm_plugins.learners.kernel_svm.dual_solvers import solve
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_part, suits_active_set

KERNELS = {
    "rbf": Kernel("rbf", gamma=0.02),
    "poly": Kernel("poly", gamma=1 / 64, degree=3),
    "linear": Kernel("linear"),
}


def digits(noise: float):
    """Odd digits against even ones, some labels turned round."""
    X, y = load_digits(return_X_y=True)
    X, signs = X[:900] / 16, np.where(y[:900] % 2, 1.0, -1.0)
    turned = np.random.default_rng(0).uniform(size=900) < noise
    return X, np.where(turned, -signs, signs)


def exact_gap(kernel, X, y, bounds, alphas):
    """The largest violation of optimality by a pair of rows, worked out from all kernel values."""
    f = kernel(X, X) @ (alphas * y) - y
    rise, fall = alphas < bounds, alphas > 0
    grow = np.where(np.where(y > 0, rise, fall), f, np.inf)
    drop = np.where(np.where(y > 0, fall, rise), f, -np.inf)
    return drop.max() - grow.min()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("kind", KERNELS)
def test_the_solution_is_that_of_all_rows(kind, noise, C):
    kernel, (X, y) = KERNELS[kind], digits(noise)
    bounds = C * np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    found, whole = solve_active_set(kernel, X, y, bounds), solve(kernel(X), y, bounds)
    assert found.converged
    assert found.objective == pytest.approx(whole.objective, rel=1e-4)
    assert (found.alphas >= 0).all()
    assert (found.alphas <= bounds * (1 + 1e-9)).all()
    assert found.alphas @ y == pytest.approx(0.0, abs=1e-6 * bounds.sum())
    assert exact_gap(kernel, X, y, bounds, found.alphas) < 1e-3
    assert found.gap < 1e-3


def test_a_start_is_gone_on_from():
    kernel, (X, y) = KERNELS["rbf"], digits(0.02)
    once = solve_active_set(kernel, X, y, 10.0)
    again = solve_active_set(kernel, X, y, 10.0, start=once.alphas)
    assert again.iterations < 0.5 * once.iterations
    assert again.objective == pytest.approx(once.objective, rel=1e-5)


def test_few_kernel_values_are_needed_where_few_rows_matter(monkeypatch):
    y = np.repeat([1.0, -1.0], 450)
    X = np.random.default_rng(0).normal(size=(900, 80)) + 0.5 * y[:, None]
    worked_out, values = [], active_set._values

    def counted(*given):
        worked_out.append(values(*given))
        return worked_out[-1]

    monkeypatch.setattr(active_set, "_values", counted)
    solve_active_set(Kernel("rbf", gamma=0.002), X, y, 10.0)
    # As many as one matrix of half of the rows has: none that was known is worked out again.
    assert sum(block.size for block in worked_out) <= 450**2


def test_narrow_small_large_and_sparse_parts_are_solved_otherwise():
    kernel = KERNELS["rbf"]
    X = np.zeros((600, 100))
    assert suits_active_set(kernel, X)
    assert not suits_active_set(kernel, X[:, :63])
    assert not suits_active_set(kernel, X[:400])
    assert not suits_active_set(kernel, np.zeros((5000, 100)))
    assert not suits_active_set(Kernel("sigmoid"), X)


def test_a_part_with_many_features_is_solved_so(monkeypatch):
    called = []
    monkeypatch.setattr(
        "dcsvm_plugins.learners.kernel_svm.size_dispatch.solve_active_set",
        lambda *given, **others: called.append(others),
    )
    X, y = digits(0.0)
    solve_part(KERNELS["rbf"], X, y, 1.0, tol=1e-4)
    assert called == [{"tol": 1e-4}]
