"""What a run is given beside its recipe: seed, observer, checkpoints, earlier searches."""

import time
from typing import Any

import attrs
from sklearn.pipeline import Pipeline

from dcsvm.base.row_splitting import TrainTestRows
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.engine import LOCAL, Checkpoints, Engine, LocalExecutor, choose_executor
from dcsvm.drive.memory_limit import MemoryLimit
from dcsvm.drive.observers import Observer
from dcsvm.experiments.recipe import Recipe
from dcsvm.experiments.run.search_result import SearchResult


@attrs.frozen(eq=False)
class RunContext:
    """The settings of a run: observer, checkpoints, and the results of earlier searches."""

    seed: int
    n_jobs: int = 1
    observer: Observer = attrs.field(factory=Observer)
    checkpoints: Checkpoints | None = None
    found: dict[str, Any] = attrs.field(factory=dict)
    #: The bytes that the run may take, if there is a limit.
    memory: float | None = None
    #: Whether a model is kept after it was measured, and learns all rows for that.
    keeps_model = False
    #: When the run began.
    began: float = attrs.field(factory=time.monotonic, kw_only=True)

    @property
    def engine(self) -> Engine:
        executor, n_jobs = choose_executor(), None  # a cluster has limits of its own
        if executor is LOCAL:
            memory = None if self.memory is None else MemoryLimit(self.memory)
            executor, n_jobs = LocalExecutor(memory), self.n_jobs
        return Engine(n_jobs, (self.observer,), self.checkpoints, executor)

    def record_plan(self, recipe: Recipe, data: Dataset, splits: list[TrainTestRows]) -> None:
        """Called before training; a run with a folder writes its plan."""

    def record_search(self, key: str, found: SearchResult) -> None:
        """Store the result of a search; a run with a folder writes it."""
        self.found[key] = found.as_dict()

    def record_best(self, model: Pipeline) -> None:
        """Keep the best model so far of a portfolio; a run with a folder saves it there."""
