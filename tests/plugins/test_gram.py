"""Machines on all rows of a Gram matrix work on it as it is: it must come back as it was."""

import attrs
import numpy as np
import pytest

from dcsvm.numeric import Kernel, distances_within, native
from dcsvm_plugins.learners.kernel_svm.gram import as_gram, gram_from_distances, rbf_gram
from dcsvm_plugins.learners.kernel_svm.multiclass import RestLayout, solve_all

pytestmark = pytest.mark.skipif(
    native.implementation() == "numpy", reason="numpy's solver takes a copy always"
)
CS = [1.0, 1e3, 1e6]


@pytest.fixture(params=[64, 150, 321])
def rows(request):
    random = np.random.default_rng(request.param)
    X = random.random((request.param, 3)).round(2)
    return X, random.integers(0, 4, request.param)


def grams(X):
    """By rows, by distances and by values; the last two also know exact values."""
    kernel = Kernel("rbf", gamma=0.01)
    yield rbf_gram(X, 0.01)
    yield gram_from_distances(distances_within(X), 0.01)
    yield as_gram(kernel(X))
    yield as_gram(kernel(X) * 3.0 + np.eye(len(X)))


def solve_rest(gram, y, Cs):
    """The solutions of one class against the rest, for every C."""
    layout = RestLayout.of(y)
    found = solve_all(gram, layout, Cs)
    return [layout.cell(*each) for each in zip(*found, strict=True)]


def unpadded(gram):
    """The same matrix without room behind its rows, which the solver has to copy."""
    return attrs.evolve(gram, values=np.ascontiguousarray(gram.values))


def test_results_are_those_of_a_copy_to_the_last_bit(rows):
    X, y = rows
    for gram in grams(X):
        lent, copied = (solve_rest(each, y, CS) for each in (gram, unpadded(gram)))
        for one, other in zip(lent, copied, strict=True):
            np.testing.assert_array_equal(one.coefficients, other.coefficients)
            np.testing.assert_array_equal(one.biases, other.biases)


def test_a_class_does_not_depend_on_those_solved_before_it(rows):
    X, y = rows
    for gram in grams(X):
        together = solve_rest(gram, y, CS)
        alone = solve_rest(gram, (y == 3).astype(int), CS)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one.coefficients[:, 3], other.coefficients[:, 1])


def test_the_matrix_is_not_written_to(rows):
    X, y = rows
    for gram in grams(X):
        before = gram.values.base.copy()
        solve_rest(gram, y, CS)
        np.testing.assert_array_equal(gram.values.base, before)


def test_what_lies_behind_a_row_is_zero(rows):
    for gram in grams(rows[0]):
        whole = gram.values.base
        assert whole.shape[1] % 64 == 0
        assert not whole[:, len(whole) :].any()
