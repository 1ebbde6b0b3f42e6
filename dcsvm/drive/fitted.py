"""Fitted strategies, and their prediction in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from dcsvm.base.combiner import Combination
from dcsvm.base.errors import ContractError
from dcsvm.base.models import Cost, LocalModel, winners
from dcsvm.base.threads import ONE_BLAS_THREAD
from dcsvm.drive.absent_classes import floor_masked
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.validation import check_jobs
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix

Answer = TypeVar("Answer")

#: Rows per chunk. It grows with the number of regions, for enough rows in each, up to a limit. It
#: does not depend on the machine, so neither do the results.
CHUNK_ROWS, EACH_REGION, MOST_ROWS = 2**15, 256, 2**18
#: Below this many rows, limiting the threads of BLAS would take longer than the prediction.
SMALL = 256


@attrs.frozen(eq=False)
class FittedStrategy(LocalModel):
    """A committee with its combination: the model of a DivideAndConquerClassifier."""

    committee: Committee
    combination: Combination
    ledger: list[Any] = attrs.field(factory=list, metadata={"stored": False})

    def scores(self, X: Matrix) -> FloatArray:
        return _in_columns(self._combine(self.committee, X))

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        committee = self.committee.with_counter(X.shape[0])
        scores = _in_columns(self._combine(committee, X))
        assert committee.cost_counter is not None
        return scores, committee.cost_counter.cost(self.committee.members)

    def labels(self, X: Matrix) -> IntArray:
        labels = self.combination.labels(self.committee, X)
        return winners(self.scores(X)) if labels is None else labels

    def _combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Return a finite score for each row and class: (n, classes)."""
        scores = self.combination.combine(committee, X)
        if scores.shape != (X.shape[0], committee.n_classes):
            raise ContractError(
                f"{type(self.combination).__name__}.combine returned shape {scores.shape} "
                f"where ({X.shape[0]}, {committee.n_classes}) was expected"
            )
        return floor_masked(scores)

    def find_division(self, X: Matrix) -> tuple[Committee, Matrix]:
        """The committee below strategies of a single member, and rows X as it sees them."""
        if len(self.committee.members) == 1:
            (member,) = self.committee.members
            if isinstance(member.model, FittedStrategy):
                return member.model.find_division(
                    X if member.view is None else member.view.apply(X)
                )
        return self.committee, X

    @property
    def support(self) -> IntArray:
        return self.committee.support

    @property
    def tells_support(self) -> bool:
        """Whether all members, at any depth, know their support vectors."""
        return all(member.model.tells_support for member in self.committee.members)

    @property
    def cost(self) -> Cost:
        raise ContractError("the cost of a strategy differs by row: use answer(X)")


def ask_in_chunks(
    model: LocalModel, question: Callable[[Matrix], Answer], X: Matrix, n_jobs: int | None = None
) -> list[Answer]:
    """Call a method of the model on chunks of rows X; results are in order."""
    if n_jobs is not None:
        check_jobs(n_jobs)
    if X.shape[0] < SMALL:
        return [question(X)]
    with threadpool_limits(**ONE_BLAS_THREAD):
        if X.shape[0] <= CHUNK_ROWS or X.shape[0] <= (size := chunk_size(model)):
            return [question(X)]
        chunks = (X[start : start + size] for start in range(0, X.shape[0], size))
        parallel = joblib.Parallel(n_jobs, prefer="threads", return_as="generator")
        return list(parallel(joblib.delayed(question)(chunk) for chunk in chunks))


def chunk_size(model: LocalModel) -> int:
    """The number of rows per chunk: small chunks are slow with thousands of regions."""
    if not isinstance(model, FittedStrategy):
        return CHUNK_ROWS
    groups = model.committee.groups
    regions = [group.last - group.first for group in groups if group.router is not None]
    inside = [chunk_size(member.model) for member in model.committee.members]
    return max(CHUNK_ROWS, *inside, *(min(EACH_REGION * each, MOST_ROWS) for each in regions))


def count_cost(model: LocalModel, X: Matrix, n_jobs: int | None = None) -> Cost:
    """The cost of predicting each row of X."""
    answers = ask_in_chunks(model, model.answer, X, n_jobs)
    return Cost(*np.hstack([_by_row(cost, len(scores)) for scores, cost in answers]))


def _in_columns(scores: FloatArray) -> FloatArray:
    """Turn scores by class into a model's columns: one for two classes."""
    return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores


def _by_row(cost: Cost, n_rows: int) -> FloatArray:
    counts = (cost.kernel_evaluations, cost.unique_kernel_evaluations, cost.hyperplanes)
    return np.stack([np.broadcast_to(count, (n_rows,)) for count in counts])
