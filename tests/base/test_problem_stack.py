"""ProblemStack: which problems can be stacked, and what becomes of them."""

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm import Problem
from dcsvm.toolbox import ProblemStack

ONE = Problem(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), 2)
TWO = Problem(np.arange(8.0).reshape(4, 2), np.array([1, 0, 1, 0]), 2)


def test_rows_lie_one_after_another():
    stack = ProblemStack.of([ONE, TWO])
    np.testing.assert_array_equal(stack.X, np.concatenate([ONE.X, TWO.X]))
    np.testing.assert_array_equal(stack.y, [0, 1, 1, 1, 0, 1, 0])
    np.testing.assert_array_equal(stack.offsets, [0, 3, 7])
    assert stack.weights is stack.whole is stack.rows is None
    assert ProblemStack.of(stack) is stack


def test_problems_without_weights_weigh_one_beside_others():
    weighted = attrs.evolve(TWO, weights=np.array([2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(ProblemStack.of([ONE, weighted]).weights, [1, 1, 1, 2, 3, 4, 5])


def test_parts_of_one_problem_know_their_rows_there():
    one, two = attrs.evolve(ONE), attrs.evolve(TWO)
    one.place_within(TWO, np.array([4, 5, 6]))
    assert ProblemStack.of([one, two]).whole is None
    two.place_within(TWO, np.array([0, 1, 2, 3]))
    stack = ProblemStack.of([one, two])
    assert stack.whole is TWO
    np.testing.assert_array_equal(stack.rows, [4, 5, 6, 0, 1, 2, 3])


def test_it_is_a_sequence_of_problems_that_are_made_once():
    made = []

    def make(place):
        made.append(place)
        return (ONE, TWO)[place]

    plain = ProblemStack.of([ONE, TWO])
    stack = ProblemStack(plain.X, plain.y, plain.offsets, make)
    assert (len(stack), made) == (2, [])
    assert stack[-1] is TWO
    assert stack[:1] == [ONE]
    assert list(stack) == [ONE, TWO]
    assert made == [1, 0]


@pytest.mark.parametrize(
    "other",
    [
        attrs.evolve(TWO, n_classes=3),
        attrs.evolve(TWO, start=np.zeros(4)),
        attrs.evolve(TWO, X=TWO.X[:, :1]),
        attrs.evolve(TWO, X=sparse.csr_array(TWO.X)),
    ],
    ids=["three classes", "a start", "other features", "sparse"],
)
def test_others_cannot_be_stacked(other):
    assert ProblemStack.of([ONE, other]) is None
