"""Row splitting: held-out shares and folds, stratified or not."""

from typing import Any

import attrs
import numpy as np

from dcsvm.numeric.array_types import IntArray


@attrs.frozen(eq=False)
class TrainTestRows:
    """The ids of training and test rows."""

    train: IntArray
    test: IntArray


def hold_out(y: Any, share: float, stratified: bool, seed: int) -> TrainTestRows:
    """Hold out a share of the rows, at least one and not all; ids are ascending.

    If stratified, the only row of a class is a training row.
    """
    n_test = min(max(round(share * len(y)), 1), len(y) - 1)
    generator = np.random.default_rng(seed)
    if stratified:
        # Each row's rank in its shuffled class, as a share; the lowest are held out.
        place = np.empty(len(y))
        for label in np.unique(y):
            rows = generator.permutation(np.flatnonzero(y == label))
            place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        order = np.lexsort((generator.random(len(y)), place))
    else:
        order = generator.permutation(len(y))
    return TrainTestRows(np.sort(order[n_test:]), np.sort(order[:n_test]))


def hold_out_by_class(y: Any, share: float, random_state: np.random.RandomState) -> IntArray:
    """Hold out a share of every class, but never all of its rows; ids are ascending."""
    held_out = []
    for label in np.unique(y):
        rows = random_state.permutation(np.flatnonzero(y == label))
        held_out.append(rows[: min(round(share * len(rows)), len(rows) - 1)])
    return np.sort(np.concatenate(held_out))


def deal_folds(y: Any, n_folds: int, stratified: bool, seed: int) -> IntArray:
    """Return the fold of each row; folds are of about equal size, stratified or not."""
    fold = np.empty(len(y), dtype=np.intp)
    generator = np.random.default_rng(seed)
    if not stratified:
        fold[generator.permutation(len(y))] = np.arange(len(y)) % n_folds
        return fold
    labels, codes = np.unique(y, return_inverse=True)
    order = [generator.permutation(np.flatnonzero(codes == code)) for code in range(len(labels))]
    fold[np.concatenate(order)] = np.arange(len(y)) % n_folds
    return fold


def deal_folds_by_class(
    y: IntArray, n_classes: int, n_folds: int, generator: np.random.Generator
) -> IntArray:
    """Return the fold of each row, stratified; -1 for the only row of a class."""
    fold = np.full(len(y), -1)
    for label in range(n_classes):
        rows = np.flatnonzero(y == label)
        if len(rows) > 1:
            fold[generator.permutation(rows)] = np.arange(len(rows)) % n_folds
    return fold


def deal_rows(y: IntArray, n_sets: int, generator: np.random.Generator) -> list[IntArray]:
    """Deal row ids at random into sets of equal size, each class spread evenly; ids ascend."""
    order = generator.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    return [np.sort(order[start::n_sets]) for start in range(min(n_sets, len(y)))]
