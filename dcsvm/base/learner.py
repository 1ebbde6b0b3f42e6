"""LocalLearner: turns one Problem into a LocalModel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from sklearn.base import clone

from dcsvm.base.component import Component
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem

#: Work in steps: lists of jobs go out, the list of their outcomes comes back.
Steps: TypeAlias = "Generator[list[Any], list[Any], LocalModel]"


class LocalLearner(Component):
    """Turns one Problem into a LocalModel.

    It never sees a problem of one class, nor a class without rows: the core answers those.
    """

    #: Whether fitting lets other threads run; if not, parts are trained in processes.
    releases_gil: ClassVar[bool] = True
    #: Whether it looks at labels and weights only: a baseline, which need not learn what is easy.
    labels_only: ClassVar[bool] = False
    #: Whether its models say which training rows they kept; None: seen when they are learned.
    keeps_support: ClassVar[bool | None] = None

    @abstractmethod
    def fit(self, problem: Problem) -> LocalModel:
        """Learn from `problem` (already cut, viewed and encoded 0 .. k-1), which stays unchanged.

        Called from worker threads or processes, several at once: keep nothing on `self`.
        Row weights, where given, must count as repeated rows would.
        """

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model) for many parameter values; override to share work between cells."""
        for cell in grid:
            yield cell, clone(self).set_params(**cell).fit(problem)

    def fit_together(self, problems: Sequence[Problem]) -> list[LocalModel]:
        """Learn several small problems; override to do so in one call.

        The models must be those that `fit` makes of each: the engine may put any together, also
        problems with other features.
        """
        return [self.fit(problem) for problem in problems]

    def fit_in_steps(self, problem: Problem) -> Steps | None:
        """Hand the work to the one engine, for a learner made of others; None: `fit` does it."""
        return None

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that fitting takes beside the problem, where they are known; 0 where not.

        Asked by those who can choose what is learned, such as the fusion of many answers.
        """
        return 0.0

    def simpler(self) -> LocalLearner | None:
        """The next simpler learner of this kind, one that takes less memory, if there is one."""
        return None

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix between rows, to be cut in both directions."""
        return False
