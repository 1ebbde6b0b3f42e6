"""LocalLearner: turns one Problem into a LocalModel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from sklearn.base import clone

from dcsvm.base.component import Component
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem

#: A generator that yields lists of jobs and is sent the lists of their results.
Steps: TypeAlias = "Generator[list[Any], list[Any], LocalModel]"


class LocalLearner(Component):
    """Turns one Problem into a LocalModel.

    Every problem has at least two classes, and rows of each: the core handles other cases.
    """

    #: Whether fitting releases the GIL; if not, parts are trained in processes.
    releases_gil: ClassVar[bool] = True
    #: Whether it ignores X: a baseline, from which no accuracy is expected.
    labels_only: ClassVar[bool] = False
    #: Whether its models know their support vectors; None if that depends on the model.
    keeps_support: ClassVar[bool | None] = None

    @abstractmethod
    def fit(self, problem: Problem) -> LocalModel:
        """Learn from `problem`, the local problem of a part, with classes 0 .. k-1.

        Called from several threads or processes: modify neither `problem` nor `self`. Row
        weights, if given, must have the effect of repeated rows.
        """

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model) for each cell of a grid; override to share work between cells."""
        for cell in grid:
            yield cell, clone(self).set_params(**cell).fit(problem)

    def fit_together(self, problems: Sequence[Problem]) -> list[LocalModel]:
        """Learn several small problems; override to do so in one call.

        The models must be the same as from `fit`. Problems may differ in their features.
        """
        return [self.fit(problem) for problem in problems]

    def fit_in_steps(self, problem: Problem) -> Steps | None:
        """Let the engine train a learner that consists of others; None to use `fit`."""
        return None

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that fitting needs beside the problem, or 0 if unknown.

        Used to choose a smaller problem or a simpler learner, as in the fusion of many scores.
        """
        return 0.0

    def simpler(self) -> LocalLearner | None:
        """The next simpler learner of this kind that needs less memory, or None."""
        return None

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix between rows, so that parts select rows and columns."""
        return False
