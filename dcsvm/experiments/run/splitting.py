"""Which rows are learned from, which are held out: as published, at random, in folds."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.datasets.dataset import check_learnable
from dcsvm.datasets.loading import Dataset, split
from dcsvm.experiments.recipe import Split
from dcsvm.numeric.array_types import IntArray

#: The share of rows held out, and the number of folds, where a recipe says nothing.
TEST, FOLDS = 0.25, 5


@attrs.frozen(eq=False)
class Rows:
    """The row ids to learn from, and those held out to test on."""

    train: IntArray
    test: IntArray


def rows_of(data: Dataset, asked: Split, seed: int) -> list[Rows]:
    """The ways to split the rows that [split] asks for: one, or one for every fold."""
    if asked.use == "folds":
        return _folds(data, asked.folds or FOLDS, asked.stratified, seed)
    if asked.use == "published" and data.published_test is None:
        raise DataError(
            f"{data.title} comes without test rows of its own: set use in [split] to 'random'"
        )
    if asked.use == "random":
        data = attrs.evolve(data, published_test=None)
    if asked.stratified or data.published_test is not None:
        halves = split(data, asked.test, seed)
        return [checked(data, Rows(halves.train, halves.test))]
    train, test = held_out(data.y, asked.test or TEST, False, seed)
    return [checked(data, Rows(train, test))]


def held_out(y: Any, share: float, stratified: bool, seed: int) -> tuple[IntArray, IntArray]:
    """The row numbers that stay, and the share of them that is drawn; both in order.

    Of every class alike, a row that is the only one of its class stays.
    """
    order = _dealt(y, stratified, seed)
    n_drawn = min(max(round(share * len(y)), 1), len(y) - 1)
    return np.sort(order[n_drawn:]), np.sort(order[:n_drawn])


def folds_of(y: Any, n_folds: int, stratified: bool, seed: int) -> IntArray:
    """The fold of each row, all of about the same size, and every class spread alike."""
    fold = np.empty(len(y), dtype=np.intp)
    generator = np.random.default_rng(seed)
    if not stratified:
        fold[generator.permutation(len(y))] = np.arange(len(y)) % n_folds
        return fold
    labels, codes = np.unique(y, return_inverse=True)
    order = [generator.permutation(np.flatnonzero(codes == code)) for code in range(len(labels))]
    fold[np.concatenate(order)] = np.arange(len(y)) % n_folds
    return fold


def checked(data: Dataset, rows: Rows) -> Rows:
    """Refuse a split that leaves one class to learn from, or nothing to test on."""
    if len(rows.test) == 0 or len(rows.train) == 0:
        raise DataError(
            f"{data.title}: {len(rows.train)} of {data.n_rows} rows are left to learn from and "
            f"{len(rows.test)} to test on; both need some"
        )
    check_learnable(data, rows.train)
    return rows


def _folds(data: Dataset, n_folds: int, stratified: bool, seed: int) -> list[Rows]:
    if n_folds > data.n_rows:
        raise DataError(
            f"{data.title}: {data.n_rows} rows cannot be dealt into {n_folds} folds; "
            f"set folds in [split] to {data.n_rows} or less"
        )
    fold = folds_of(data.y, n_folds, stratified, seed)
    return [
        checked(data, Rows(np.flatnonzero(fold != each), np.flatnonzero(fold == each)))
        for each in range(n_folds)
    ]


def _dealt(y: Any, stratified: bool, seed: int) -> IntArray:
    """All rows in the order in which they are drawn."""
    generator = np.random.default_rng(seed)
    if not stratified:
        return generator.permutation(len(y))
    place = np.empty(len(y))
    for label in np.unique(y):
        rows = generator.permutation(np.flatnonzero(y == label))
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return np.lexsort((generator.random(len(y)), place))
