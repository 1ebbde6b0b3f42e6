"""Scores of the training rows for combiners that learn, in-sample or out of fold."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from dcsvm.base.errors import CompositionError
from dcsvm.base.problem import Problem
from dcsvm.base.row_splitting import deal_folds_by_class
from dcsvm.base.seed import FOLDS
from dcsvm.base.stages import together
from dcsvm.drive.committee.committee import Committee
from dcsvm.numeric.array_types import FloatArray

if TYPE_CHECKING:
    from dcsvm.classifier import Strategy


def training_answers(
    strategy: Strategy, committee: Committee, problem: Problem
) -> Generator[list[Any], list[Any], FloatArray]:
    """Score the training rows: in-sample, or by committees trained without the row's fold.

    The only row of a class is in no fold, and scored by the whole committee.
    """
    combiner, decomposer = strategy.combiner, strategy.decomposer
    if combiner.folds < 2:
        return committee.table(problem.X)
    generator = problem.seed.child(FOLDS).generator()
    fold_of = deal_folds_by_class(problem.y, problem.n_classes, combiner.folds, generator)
    # Folds are divided with the same seed, so that random subspaces are the same.
    divisions = yield from together(
        strategy.train(
            problem.subset(np.flatnonzero(fold_of != fold)), problem.seed.child(FOLDS, fold), []
        )
        for fold in range(combiner.folds)
    )
    committees = [Committee.of(division, problem.n_classes) for division in divisions]
    fold_of[fold_of < 0] = len(committees)
    answers = np.empty((problem.n_rows, len(committee.table_code)))
    for fold, other in enumerate([*committees, committee]):
        if not np.array_equal(other.table_code, committee.table_code):
            raise CompositionError(
                f"combiner {combiner.name!r} needs scores from {combiner.folds} folds, but "
                f"decomposer {decomposer.name!r} divides each fold into different parts; set "
                "folds = 0"
            )
        rows = np.flatnonzero(fold_of == fold)
        if len(rows):
            answers[rows] = other.table(problem.X[rows])
    return answers
