"""A fitted pipeline: what a classifier keeps, and what nests in another pipeline."""

from __future__ import annotations

from typing import Any

import attrs
import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from dcsvm.committee import Committee
from dcsvm.errors import ContractError
from dcsvm.interfaces import Combination
from dcsvm.models import Cost, LocalModel
from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix

#: Rows answered at a time. A constant, so that the bits of an answer depend on nothing else.
CHUNK_ROWS = 2**15
#: Below this many rows BLAS stays as it is: capping its threads would take longer than answering.
SMALL = 256


@attrs.frozen(eq=False)
class Composite(LocalModel):
    """A fitted pipeline: a committee and the combination of its answers. This is what nests."""

    committee: Committee
    combination: Combination
    ledger: list[Any] = attrs.field(factory=list, metadata={"stored": False})

    def scores(self, X: Matrix) -> FloatArray:
        return self.answer(X)[0]

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        scores, cost = self.class_scores(X)
        return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores, cost

    def class_scores(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """One finite score for each row and class, (n, classes), and what it took by row."""
        committee = self.committee.counted(X.shape[0])
        scores = self.combination.combine(committee, X)
        if scores.shape != (X.shape[0], committee.n_classes):
            raise ContractError(
                f"{type(self.combination).__name__}.combine returned shape {scores.shape} "
                f"where ({X.shape[0]}, {committee.n_classes}) was expected"
            )
        assert committee.tally is not None
        return floored(scores), committee.tally.cost(self.committee.members)

    @property
    def support(self) -> IntArray:
        return self.committee.support

    @property
    def cost(self) -> Cost:
        raise ContractError("a pipeline's cost differs by row: use answer(X)")


def answer_in_chunks(
    model: LocalModel, X: Matrix, n_jobs: int | None = None
) -> tuple[FloatArray, Cost]:
    """Like `model.answer(X)`, chunks of rows side by side, with memory for a few chunks only."""
    if X.shape[0] < SMALL:
        return model.answer(X)
    chunks = (X[start : start + CHUNK_ROWS] for start in range(0, X.shape[0], CHUNK_ROWS))
    with threadpool_limits(limits=1, user_api="blas"):
        if X.shape[0] <= CHUNK_ROWS:
            return model.answer(X)
        parallel = joblib.Parallel(n_jobs, prefer="threads", return_as="generator")
        answers = list(parallel(joblib.delayed(model.answer)(chunk) for chunk in chunks))
    counts = [_by_row(cost, len(scores)) for scores, cost in answers]
    return np.concatenate([scores for scores, _ in answers]), Cost(*np.hstack(counts))


def _by_row(cost: Cost, n_rows: int) -> FloatArray:
    counts = (cost.kernel_evaluations, cost.unique_kernel_evaluations, cost.hyperplanes)
    return np.stack([np.broadcast_to(count, (n_rows,)) for count in counts])


def floored(scores: FloatArray) -> FloatArray:
    """Put a class that no member spoke for below all that were, at a certain no: -1 or less.

    Members mask such classes with NaN. Only here, at the last door, where scikit-learn wants
    finite numbers, does a masked class get one.
    """
    masked = np.isnan(scores)
    if not masked.any():
        return scores
    lowest = np.where(masked, np.inf, scores).min(axis=1, keepdims=True)
    floor = np.minimum(np.where(np.isfinite(lowest), lowest, 0.0), 0.0) - 1.0
    return np.where(masked, floor, scores)
