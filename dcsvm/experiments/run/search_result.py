"""The result of a search, and the context that its trials share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import joblib
from sklearn.pipeline import Pipeline

from dcsvm.drive.engine import Done, Engine, Runnable
from dcsvm.drive.observers import Observer
from dcsvm.experiments.recipe import Search

#: From a cell to a classifier behind the preparation of its rows.
Maker = Callable[[Mapping[str, Any]], Pipeline]


@attrs.frozen
class ScoredCell:
    """One combination of values, and what it was worth on rows held out."""

    values: Mapping[str, Any]
    score: float
    seconds: float


#: How a sentence begins that says that a search had no time left.
BUDGET = "the time budget of"


def explain_used_up(asked: Search, after: str = "") -> str:
    """Say that the time budget was used up, and how to extend it."""
    seconds = asked.seconds or 0.0
    more = f"--set search.seconds={4 * seconds:g} gives it more"
    return f"{BUDGET} {seconds:g} s was used up{after}; {more}"


@attrs.frozen
class SearchResult:
    """What a search chose, all that it tried, why it ended, and how many seconds it took."""

    values: Mapping[str, Any]
    score: float
    tried: tuple[ScoredCell, ...]
    stopped: str
    n_rows: int
    scored_by: str = "accuracy"
    seconds: float = attrs.field(default=0.0, eq=False)

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> SearchResult:
        tried = tuple(ScoredCell(**each) for each in table["tried"])
        return cls(**{**table, "tried": tried})


@attrs.define(eq=False)
class SearchContext(Observer):
    """What all trials of a search share: engine, seed, observer and time spent.

    Seconds are added up from the outcomes of parts, checkpoints included, so that a resumed run
    does not get a fresh time budget.
    """

    engine: Engine
    seed: int
    observer: Observer = attrs.field(factory=Observer)
    began: float = attrs.field(factory=time.monotonic)
    recorded: float = 0.0

    def __deepcopy__(self, memo: Any) -> SearchContext:
        return self  # scikit-learn copies an estimator's parameters, and this must stay one

    @property
    def spent(self) -> float:
        jobs = joblib.effective_n_jobs(self.engine.n_jobs)
        return float(max(time.monotonic() - self.began, self.recorded / jobs))

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        self.recorded += outcome.seconds
        self.observer.on_part_done(job, outcome)
