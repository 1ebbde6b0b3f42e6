"""The ledger: one record for every part that was trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.base.models import Constant
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.subproblem import FitResult, Subproblem


def record_results(
    ledger: list[Record], stage: int, jobs: Sequence[Subproblem], results: Sequence[FitResult]
) -> None:
    """Add a record for every part of a stage, and for the parts of strategies nested in it."""
    learners = {id(job.learner): job.learner for job in jobs}
    parameters = {key: learners[key].get_params(deep=False) for key in learners}
    for place, (job, result) in enumerate(zip(jobs, results, strict=True)):
        ledger.append(Record.of(stage, place, job, result, parameters[id(job.learner)]))
        if isinstance(result.model, FittedStrategy):
            ledger.extend(record.below(stage, place) for record in result.model.ledger)


@attrs.frozen
class Record:
    """A part and its trained model, summarized.

    `path` holds (stage, place) pairs, one for each depth of nesting. `about` joins facts from
    the decomposer about the part and from the model about its training.
    """

    path: tuple[int, ...]
    rows: int
    classes: int
    support_vectors: int
    seconds: float
    learner: str
    parameters: Mapping[str, Any]
    model: str
    about: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        stage: int,
        place: int,
        job: Subproblem,
        result: FitResult,
        parameters: Mapping[str, Any],
    ) -> Record:
        return cls(
            path=(stage, place),
            rows=result.n_rows,
            classes=int(np.count_nonzero(result.code.any(axis=0))),
            support_vectors=len(result.support),
            seconds=result.seconds,
            learner=job.learner.name or type(job.learner).__name__,
            parameters=parameters,
            model=type(result.model).__name__,
            about={**job.part.about, **result.model.facts},
        )

    @property
    def kept(self) -> int:
        """How many of its rows `support_of` passes to the next stage."""
        return self.rows if self.model == Constant.__name__ else self.support_vectors

    def below(self, stage: int, place: int) -> Record:
        """Return the same record with its path in the enclosing strategy."""
        return attrs.evolve(self, path=(stage, place, *self.path))
