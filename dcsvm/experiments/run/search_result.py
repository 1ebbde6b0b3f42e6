"""The result of a search, and the context that its trials share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs
from sklearn.pipeline import Pipeline

from dcsvm.drive.engine import Engine
from dcsvm.drive.executor import Done, Runnable
from dcsvm.drive.observers import Observer

#: From a cell to a classifier behind the preparation of its rows.
Maker = Callable[[Mapping[str, Any]], Pipeline]


@attrs.frozen
class ScoredCell:
    """One combination of values, and its score on held-out rows."""

    values: Mapping[str, Any]
    score: float
    seconds: float


@attrs.frozen
class LeaderboardEntry:
    """How a recipe of a portfolio did on the most rows that it learned.

    `rating` is the score as a search compares it, larger being better; `weight` the share in what
    was chosen, 0 if it was not; `outcome` why it went no further.
    """

    recipe: str
    n_rows: int = 0
    folds: int = 0
    rating: float | None = None
    log_loss: float | None = None
    seconds: float = 0.0
    rows_per_second: float | None = None
    weight: float = 0.0
    outcome: str = ""


@attrs.frozen
class SearchResult:
    """What a search chose, all that it tried, why it ended, and how many seconds it took.

    The search of a portfolio has a leaderboard, too.
    """

    values: Mapping[str, Any]
    score: float
    tried: tuple[ScoredCell, ...]
    stopped: str
    n_rows: int
    scored_by: str = "accuracy"
    seconds: float = attrs.field(default=0.0, eq=False)
    leaderboard: tuple[LeaderboardEntry, ...] = ()

    @property
    def chosen(self) -> str:
        """The recipes that a portfolio was left with, and their shares."""
        weights = {each.recipe: each.weight for each in self.leaderboard if each.weight}
        if len(weights) == 1:
            return next(iter(weights))
        return " + ".join(f"{weight:.2f} {name}" for name, weight in weights.items())

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> SearchResult:
        tried = tuple(ScoredCell(**each) for each in table["tried"])
        board = tuple(LeaderboardEntry(**each) for each in table.get("leaderboard", ()))
        return cls(**{**table, "tried": tried, "leaderboard": board})


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

    @property
    def spent(self) -> float:
        cores = self.engine.count_cores()
        return float(max(time.monotonic() - self.began, self.recorded / cores))

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        self.recorded += outcome.seconds
        self.observer.on_part_done(job, outcome)
