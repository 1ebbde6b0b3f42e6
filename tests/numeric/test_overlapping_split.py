"""Splits at the median with a band: how many values are on both sides."""

import numpy as np
import pytest

from dcsvm.numeric import check_binary_tree, grow_overlapping
from dcsvm.numeric.overlapping_split import split_with_overlap

VALUES = np.random.default_rng(0).normal(size=1000)


@pytest.mark.parametrize("overlap", [0.0, 0.1, 0.4])
def test_both_sides_hold_the_band_and_half_of_the_rest(overlap):
    border, width, left, right = split_with_overlap(VALUES, overlap)
    assert np.sum(border > VALUES) in (499, 500, 501)
    assert set(left) | set(right) == set(range(1000))
    assert len(set(left) & set(right)) == pytest.approx(1000 * overlap, abs=2)
    assert np.abs(VALUES[np.intersect1d(left, right)] - border).max(initial=0.0) < width + 1e-12
    assert (VALUES[left] < border + width).all() or width == 0.0


def test_values_that_are_alike_are_not_split():
    assert split_with_overlap(np.full(9, 3.0), 0.2) is None


def test_no_side_is_empty_or_holds_all_values():
    generator = np.random.default_rng(1)
    for _ in range(300):
        values = np.round(generator.normal(size=generator.integers(2, 9)), 1)
        split = split_with_overlap(values, generator.uniform(0.0, 0.5))
        if len(np.unique(values)) > 1:
            _, _, left, right = split
            assert 0 < len(left) < len(values)
            assert 0 < len(right) < len(values)


@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.45])
@pytest.mark.parametrize("ceiling", [5, 60, 500])
def test_leaves_hold_the_rows_that_walk_down_to_them(ceiling, overlap):
    X = np.random.default_rng(1).normal(size=(200, 3))
    generator = np.random.default_rng(0)
    directions, borders, widths, children, leaves = grow_overlapping(
        X, generator, ceiling, overlap
    )
    check_binary_tree("tree", children, len(leaves))

    def walk(row, node, margin):
        """The leaves of a row, if bands are wider by a margin that rounding may make."""
        if node < 0:
            return {~node}
        away = X[row] @ directions[node] - borders[node]
        left = walk(row, children[node, 0], margin) if away < widths[node] + margin else set()
        return left | (
            walk(row, children[node, 1], margin) if away > -widths[node] - margin else set()
        )

    root = 0 if len(children) else ~0
    held = [set() for _ in range(200)]
    for leaf, rows in enumerate(leaves):
        for row in rows:
            held[row].add(leaf)
    for row in range(200):
        assert walk(row, root, -1e-9) <= held[row] <= walk(row, root, 1e-9)
    assert max(len(rows) for rows in leaves) <= ceiling
    assert len(children) == (0 if ceiling == 500 else len(leaves) - 1)


def test_rows_that_are_alike_stay_in_one_leaf():
    *_, children, leaves = grow_overlapping(np.ones((9, 2)), np.random.default_rng(0), 2, 0.2)
    assert children.shape == (0, 2)
    assert [rows.tolist() for rows in leaves] == [list(range(9))]


def test_trees_that_are_none_are_refused():
    good = np.array([[1, -1], [-2, -3]])
    check_binary_tree("tree", good, 3)
    for wrong in (
        [[1, -1], [0, -2]],
        [[1, -1], [-1, -3]],
        [[1, -1], [-2, -4]],
        [[2, -1], [-2, -3]],
    ):
        with pytest.raises(ValueError, match=r"tree\.children must name"):
            check_binary_tree("tree", np.array(wrong))
    with pytest.raises(ValueError, match="once each"):
        check_binary_tree("tree", good, 4)
