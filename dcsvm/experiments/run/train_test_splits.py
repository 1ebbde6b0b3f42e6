"""The train-test splits of a recipe: as published, at random or in folds."""

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.base.row_splitting import TrainTestRows, deal_folds, hold_out
from dcsvm.datasets.dataset import Dataset, check_learnable
from dcsvm.datasets.loading import split
from dcsvm.experiments.recipe import Split

#: The share of rows held out, and the number of folds, where a recipe says nothing.
TEST, FOLDS = 0.25, 5


def split_rows(data: Dataset, wanted: Split, seed: int) -> list[TrainTestRows]:
    """The train-test splits of the table [split]: one, or one for every fold."""
    if wanted.use == "folds":
        return _split_folds(data, wanted.folds or FOLDS, wanted.stratified, seed)
    if wanted.use == "published" and data.published_test is None:
        raise DataError(
            f"{data.title} comes without test rows of its own: set use in [split] to 'random'"
        )
    if wanted.test == 0:  # whatever rows were published for testing
        return [_learn_all(data)]
    if wanted.use == "random":
        data = attrs.evolve(data, published_test=None)
    if wanted.stratified or data.published_test is not None:
        return [check_split(data, split(data, wanted.test, seed))]
    return [check_split(data, hold_out(data.y, wanted.test or TEST, False, seed))]


def _learn_all(data: Dataset) -> TrainTestRows:
    everyone = np.arange(data.n_rows)
    check_learnable(data, everyone)
    return TrainTestRows(everyone, everyone[:0])


def check_split(data: Dataset, rows: TrainTestRows) -> TrainTestRows:
    """Raise if the training rows have a single class, or a side of the split is empty."""
    if len(rows.test) == 0 or len(rows.train) == 0:
        raise DataError(
            f"{data.title}: the split of {data.n_rows} rows gives {len(rows.train)} training rows "
            f"and {len(rows.test)} test rows; both must be at least one"
        )
    check_learnable(data, rows.train)
    return rows


def _split_folds(data: Dataset, n_folds: int, stratified: bool, seed: int) -> list[TrainTestRows]:
    if n_folds > data.n_rows:
        raise DataError(
            f"{data.title}: {data.n_rows} rows cannot be split into {n_folds} folds; "
            f"set folds in [split] to {data.n_rows} or less"
        )
    fold = deal_folds(data.y, n_folds, stratified, seed)
    return [
        check_split(
            data, TrainTestRows(np.flatnonzero(fold != each), np.flatnonzero(fold == each))
        )
        for each in range(n_folds)
    ]
