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
    """What one part was and what became of it.

    `path` holds (stage, place) pairs, one for each depth of nesting. `about` holds what the
    decomposer says of the part and the model of its learning.
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
        outcome: FitResult,
        parameters: Mapping[str, Any],
    ) -> Record:
        return cls(
            path=(stage, place),
            rows=outcome.n_rows,
            classes=int(np.count_nonzero(outcome.code.any(axis=0))),
            support_vectors=len(outcome.support),
            seconds=outcome.seconds,
            learner=job.learner.name or type(job.learner).__name__,
            parameters=parameters,
            model=type(outcome.model).__name__,
            about={**job.part.about, **outcome.model.facts},
        )

    @property
    def kept(self) -> int:
        """How many of its rows a next stage would be given, as `support_of` counts them."""
        return self.rows if self.model == Constant.__name__ else self.support_vectors

    def below(self, stage: int, place: int) -> Record:
        """The same record, seen from the pipeline that this part's pipeline is nested in."""
        return attrs.evolve(self, path=(stage, place, *self.path))
