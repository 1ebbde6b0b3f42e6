"""What members kept and their duals, as the start of a next part."""

import numpy as np

from dcsvm import Member, Part, support_of
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Constant, KernelExpansion, duals_of

CODE = np.array([[-1, 1]], dtype=np.int8)


def member(rows, support, duals, code=CODE):
    """A member that learned `rows` and kept `support` (ids of the problem) with these duals."""
    rows, support = np.array(rows), np.array(support)
    table = np.array(duals, dtype=float).reshape(len(support), -1)
    local = np.searchsorted(rows, support)
    model = KernelExpansion(
        np.zeros((len(support), 1)), table, np.zeros(table.shape[1]), Kernel("linear"), local
    )
    return Member(model, code, None, support, len(rows), Part(rows))


def constant(rows):
    return Member(Constant(), CODE, None, np.zeros(0, dtype=int), len(rows), Part(np.array(rows)))


def test_disjoint_members_hand_on_their_own_duals():
    left, right = member([0, 1, 2], [0, 2], [1.0, -1.0]), member([3, 4], [3, 4], [2.0, -2.0])
    part = support_of(left, right, warm=True)
    assert part.rows.tolist() == [0, 2, 3, 4]
    assert part.start.tolist() == [1.0, -1.0, 2.0, -2.0]


def test_a_row_that_two_members_learned_has_the_mean_of_their_duals():
    left, right = member([0, 1, 2], [0, 2], [1.0, -1.0]), member([1, 2, 3], [1, 3], [4.0, -4.0])
    assert duals_of(left, right, rows=np.arange(5)).tolist() == [1.0, 2.0, -0.5, -4.0, 0.0]


def test_a_cold_part_has_no_start():
    assert support_of(member([0, 1], [0, 1], [1.0, -1.0])).start is None


def test_a_member_of_one_class_keeps_its_rows_and_has_no_duals():
    part = support_of(member([0, 1], [0, 1], [1.0, -1.0]), constant([5, 7]), warm=True)
    assert part.rows.tolist() == [0, 1, 5, 7]
    assert part.start.tolist() == [1.0, -1.0, 0.0, 0.0]


def test_members_that_tell_other_classes_apart_start_nothing():
    other = member([2, 3], [2, 3], [1.0, -1.0], np.array([[1, -1]], dtype=np.int8))
    assert duals_of(member([0, 1], [0, 1], [1.0, -1.0]), other, rows=np.arange(4)) is None


def test_members_of_several_columns_start_nothing():
    code = np.eye(3, dtype=np.int8)
    assert duals_of(member([0, 1], [0, 1], [1, 2, 3, 4], code), rows=np.arange(2)) is None


def test_members_of_one_class_alone_start_nothing():
    assert duals_of(constant([0, 1]), rows=np.arange(2)) is None
