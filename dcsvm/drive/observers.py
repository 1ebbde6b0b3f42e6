"""Observers of training: progress bars, logs and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dcsvm.drive.executor import Done, Runnable

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9
    Function = TypeVar("Function", bound=Callable[..., Any])

    class CallbackSupport:  # type: ignore[no-redef]
        """Placeholder for scikit-learn without callbacks."""

    def with_callbacks(method: Function) -> Function:
        return method


__all__ = ["CallbackSupport", "Observer", "ObserverGroup", "SklearnCallbacks", "with_callbacks"]


class Observer:
    """Base class for observers of training and runs: every method does nothing.

    The engine calls the first three methods, a run also the others. The progress of a step is
    counted in rows, in what `on_count_begin` names (`n` items, for at most `seconds`), or else in
    the parts of each round.
    """

    def on_round_begin(self, n_jobs: int) -> None:
        """The engine starts a round of `n_jobs` jobs."""

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        """A job is done, or its result was loaded from a checkpoint."""

    def on_round_end(self) -> None:
        """All jobs of the round are done."""

    def on_step_begin(self, title: str, n_rows: int = 0) -> None:
        """A run starts its next step."""

    def on_rows_done(self, n_rows: int) -> None:
        """`n_rows` more rows of the step are done."""

    def on_count_begin(self, what: str, n: int, seconds: float | None = None) -> None:
        """The step counts `n` items other than rows."""

    def on_count(self) -> None:
        """One more item is done."""

    def wants_pilot(self) -> bool:
        """Whether to train on a few rows first, to estimate the total time."""
        return False


class ObserverGroup(Observer):
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers

    def on_round_begin(self, n_jobs: int) -> None:
        for each in self.observers:
            each.on_round_begin(n_jobs)

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        for each in self.observers:
            each.on_part_done(job, outcome)

    def on_round_end(self) -> None:
        for each in self.observers:
            each.on_round_end()

    def on_step_begin(self, title: str, n_rows: int = 0) -> None:
        for each in self.observers:
            each.on_step_begin(title, n_rows)

    def on_rows_done(self, n_rows: int) -> None:
        for each in self.observers:
            each.on_rows_done(n_rows)

    def on_count_begin(self, what: str, n: int, seconds: float | None = None) -> None:
        for each in self.observers:
            each.on_count_begin(what, n, seconds)

    def on_count(self) -> None:
        for each in self.observers:
            each.on_count()

    def wants_pilot(self) -> bool:
        return any(each.wants_pilot() for each in self.observers)


class SklearnCallbacks(Observer):
    """Calls the scikit-learn callbacks of an estimator for every round and part."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.round: Any = None
        self.root = estimator._init_callback_context(max_subtasks=None)
        self.root.call_on_fit_task_begin(estimator=estimator)

    def on_round_begin(self, n_jobs: int) -> None:
        self.round = self.root.subcontext(task_name="parts", max_subtasks=n_jobs)
        self.round.call_on_fit_task_begin(estimator=self.estimator)

    def on_part_done(self, job: Runnable, outcome: Done) -> None:
        part = self.round.subcontext(task_name="part")
        part.call_on_fit_task_begin(estimator=self.estimator)
        part.call_on_fit_task_end(estimator=self.estimator)

    def on_round_end(self) -> None:
        self.round.call_on_fit_task_end(estimator=self.estimator)

    def on_fit_end(self) -> None:
        """All rounds are over."""
        self.root.call_on_fit_task_end(estimator=self.estimator)
