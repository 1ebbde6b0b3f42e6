"""Splits at a median, with a band that belongs to both sides, and trees of random ones."""

import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix


def split_with_overlap(
    values: FloatArray, overlap: float
) -> tuple[float, float, IntArray, IntArray] | None:
    """Split values (n,) at their median, the share `overlap` of them nearest to it on both sides.

    The border, half the width of the band, and the ids of both sides. None if all values are
    alike. There is no band if a side would hold all values.
    """
    distinct = np.unique(values)
    if np.ptp(values) <= 1e-9 * np.abs(values).max():
        return None
    middle = int(np.clip(np.searchsorted(distinct, np.median(values)), 1, len(distinct) - 1))
    border = float(distinct[middle - 1 : middle + 1].mean())
    width = float(np.quantile(np.abs(values - border), overlap)) if overlap else 0.0
    left, right = np.flatnonzero(values < border + width), np.flatnonzero(values > border - width)
    if max(len(left), len(right)) == len(values):
        width = 0.0
        left, right = np.flatnonzero(values < border), np.flatnonzero(values > border)
    return border, width, left, right


def grow_overlapping(
    X: Matrix, generator: np.random.Generator, ceiling: int, overlap: float
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, list[IntArray]]:
    """Grow a tree that splits rows X (n, d) along random directions, with overlap.

    The directions (nodes, d), borders and half widths of the bands (nodes,), the children
    (nodes, 2) as later nodes or ~leaf, and the rows of each leaf: at most `ceiling` of them,
    unless a direction does not tell them apart.
    """
    nodes: list[tuple[FloatArray, float, float]] = []
    leaves: list[IntArray] = []
    numbers: list[int] = []
    queue = [np.arange(X.shape[0])]
    for rows in queue:
        direction = generator.normal(size=X.shape[1])
        found = split_with_overlap(np.asarray(X[rows] @ direction), overlap)
        if len(rows) <= ceiling or found is None:
            numbers.append(~len(leaves))
            leaves.append(rows)
        else:
            border, width, left, right = found
            numbers.append(len(nodes))
            nodes.append((direction, border, width))
            queue += [rows[left], rows[right]]
    directions, borders, widths = (np.array([each[i] for each in nodes]) for i in range(3))
    # The sides of a node follow each other in the queue, after those of earlier nodes.
    children = np.array(numbers[1:], dtype=int).reshape(-1, 2)
    return directions.reshape(-1, X.shape[1]), borders, widths, children, leaves
