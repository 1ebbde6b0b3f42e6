"""Ridge regression with the truncated RBF kernel: in two spaces, the same function."""

import tracemalloc
from itertools import combinations_with_replacement
from math import comb, factorial

import attrs
import numpy as np
import pytest

from dcsvm import DataError, build
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse
from dcsvm.toolbox import KernelExpansion, MappedHyperplanes


def trbf(**settings):
    return build("learner", "trbf_krr", **settings)


def kernel_by_hand(X, Y, gamma, order):
    """The definition, term by term."""
    result = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            series = sum((2 * gamma * (x @ y)) ** k / factorial(k) for k in range(order + 1))
            result[i, j] = np.exp(-gamma * (x @ x) - gamma * (y @ y)) * series
    return result


def targets(problem):
    labels = [1] if problem.n_classes == 2 else range(problem.n_classes)
    return np.where(problem.y[:, None] == labels, 1.0, -1.0)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_spaces_give_what_the_definition_gives(n_classes, order, weighted, form):
    problem = easy_problem(n_classes, gap=1.0)
    weights = 0.5 + np.arange(60) % 4 if weighted else np.ones(60)
    X = as_sparse(problem.X) if form == "csr" else problem.X
    given = attrs.evolve(problem, X=X, weights=weights if weighted else None)
    K = kernel_by_hand(problem.X, problem.X, 0.3, order)
    expected = K @ np.linalg.solve(K + np.diag(0.2 / weights), targets(problem))
    for space in ("intrinsic", "empirical"):
        model = trbf(space=space, order=order, gamma=0.3, ridge=0.2).fit(given)
        np.testing.assert_allclose(model.scores(X), expected, atol=1e-8)


def test_the_feature_space_has_a_dimension_for_every_monomial():
    model = trbf(space="intrinsic", order=3).fit(easy_problem())
    monomials = sum(
        len(list(combinations_with_replacement(range(3), degree))) for degree in range(4)
    )
    assert model.hyperplanes.weights.shape == (monomials, 3) == (comb(6, 3), 3)
    assert trbf(order=3).dimensions(3) == monomials


def test_the_cheaper_space_is_chosen_by_size():
    few, many = easy_problem(2, rows=8), easy_problem(2, rows=60)
    assert isinstance(trbf(order=3).fit(few), KernelExpansion)
    assert isinstance(trbf(order=3).fit(many), MappedHyperplanes)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows():
    """A row more takes a few numbers more, and never the J numbers of a mapped row."""
    peaks = {}
    for rows in (20_000, 80_000):
        problem = easy_problem(2, rows=rows, features=20)
        tracemalloc.start()
        trbf(order=2, gamma=0.1).fit(problem)
        peaks[rows] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    J = comb(22, 2)
    numbers_for_a_row = (peaks[80_000] - peaks[20_000]) / 60_000 / 8
    assert numbers_for_a_row < 8 < J
    assert peaks[80_000] < 8 * J * 80_000 / 4


def test_balance_gives_every_class_the_same_weight():
    problem = easy_problem(2, gap=0.5)
    rare = problem.subset(np.concatenate([problem.rows_of(0), problem.rows_of(1)[:3]]))
    masses = np.bincount(rare.y)
    weights = (len(rare.y) / (2 * masses))[rare.y]
    by_hand = trbf(gamma=0.3).fit(attrs.evolve(rare, weights=weights))
    balanced = trbf(gamma=0.3, balance=True).fit(rare)
    np.testing.assert_allclose(balanced.scores(rare.X), by_hand.scores(rare.X), atol=1e-10)
    hits = [
        (model.labels(rare.X)[rare.y == 1] == 1).mean()
        for model in (trbf(gamma=0.3).fit(rare), balanced)
    ]
    assert hits[1] > hits[0]


def test_a_path_is_what_its_cells_are_alone_in_any_order():
    problem = easy_problem(3, gap=1.0)
    grid = [
        {"gamma": gamma, "ridge": ridge, "order": order}
        for order, ridge, gamma in [(2, 1.0, 0.1), (2, 0.1, 0.1), (3, 0.1, 0.1), (2, 9.0, 0.7)]
    ]
    path = list(trbf().fit_path(problem, grid))
    assert [cell for cell, _ in path] == grid
    for cell, model in path:
        alone = trbf(**cell).fit(problem)
        np.testing.assert_allclose(model.scores(problem.X), alone.scores(problem.X), atol=1e-9)


def test_a_ridge_that_rounding_swallows_is_borne():
    problem = easy_problem(2, rows=200)
    model = trbf(space="intrinsic", order=6, ridge=1e-300).fit(problem)
    assert (model.labels(problem.X) == problem.y).mean() > 0.9


def test_systems_that_are_too_large_are_refused():
    with pytest.raises(DataError) as refusal:
        trbf(order=2, max_size=9).fit(easy_problem(rows=60))
    assert str(refusal.value) == (
        "trbf_krr of order 2 on 60 rows of 3 features has 10 unknowns, but max_size is 9; "
        "lower the order, use smaller parts, or raise max_size if memory allows"
    )


def test_memory_is_told_before_and_a_simpler_learner_takes_less():
    learner = trbf(order=2)
    assert learner.memory(10**6, 520) == pytest.approx(32.0 * comb(522, 2) ** 2, rel=0.01)
    simpler = learner.simpler()
    assert simpler.order == 1
    assert simpler.memory(10**6, 520) < learner.memory(10**6, 520) / 1000
    assert simpler.simpler() is None


def test_products_beyond_all_numbers_are_refused():
    learner = trbf(gamma=1e300, space="empirical")
    with (
        np.errstate(all="ignore"),
        pytest.raises(DataError, match="kernel values of these rows overflow"),
    ):
        learner.fit(easy_problem(rows=20))
