"""scikit-learn's callback API, where the installed version has it: progress bars in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dcsvm.drive.engine import Done, Runnable

__all__ = ["CallbackSupport", "Callbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9
    Function = TypeVar("Function", bound=Callable[..., Any])

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in where scikit-learn knows no callbacks."""

    def with_callbacks(method: Function) -> Function:
        return method


class Callbacks:
    """A watcher that tells an estimator's scikit-learn callbacks of every round and part."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.active = bool(getattr(estimator, "_skl_callbacks", ()))
        self.round: Any = None
        if self.active:
            self.root = estimator._init_callback_context(max_subtasks=None)
            self.root.call_on_fit_task_begin(estimator=estimator)

    def round_begins(self, n_jobs: int) -> None:
        if self.active:
            self.round = self.root.subcontext(task_name="parts", max_subtasks=n_jobs)
            self.round.call_on_fit_task_begin(estimator=self.estimator)

    def part_done(self, job: Runnable, outcome: Done) -> None:
        if self.active:
            part = self.round.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self.estimator)
            part.call_on_fit_task_end(estimator=self.estimator)

    def round_ends(self) -> None:
        if self.active:
            self.round.call_on_fit_task_end(estimator=self.estimator)

    def fit_ends(self) -> None:
        """Tell that all rounds are over."""
        if self.active:
            self.root.call_on_fit_task_end(estimator=self.estimator)
