"""LocalLearner: turns one Problem into a LocalModel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from sklearn.base import clone

from dcsvm.base.component import Component
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem

#: A generator that yields lists of jobs and is sent the lists of their results.
Steps: TypeAlias = "Generator[list[Any], list[Any], LocalModel]"


class LocalLearner(Component):
    """Turns one Problem into a LocalModel.

    Every problem has at least two classes, and rows of each: a part of one class gets a
    `Constant` from `base/subproblem.py`.
    """

    #: Whether fitting releases the GIL; if not, parts are trained in processes.
    releases_gil: ClassVar[bool] = True
    #: Whether it ignores X: a baseline, from which no accuracy is expected.
    labels_only: ClassVar[bool] = False
    #: Whether its models know their support vectors; None if that depends on the model.
    keeps_support: ClassVar[bool | None] = None
    #: What row weights do: "exact" as repeated rows, "approximate" in the same direction, as for
    #: learners that draw rows or landmarks, or "refused" with a SettingError.
    row_weights: ClassVar[Literal["exact", "approximate", "refused"]] = "exact"

    @abstractmethod
    def fit(self, problem: Problem) -> LocalModel:
        """Learn from `problem`, the local problem of a part, with classes 0 .. k-1.

        Called from several threads or processes: modify neither `problem` nor `self`. Row
        weights, if given, must have the effect that `row_weights` says.
        """

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model) for each cell of a grid; override to share work between cells.

        Called by searches, once per part, with the part's problem; it must not be modified.
        """
        for cell in grid:
            yield cell, clone(self).set_params(**cell).fit(problem)

    def fit_together(self, problems: Sequence[Problem]) -> list[LocalModel]:
        """Learn several small problems; override to do so in one call.

        The models must be the same as from `fit`. Problems may differ in their features. Called
        by the engine with up to 256 parts of a stage, in a worker. Parts with tasks come as a
        `ProblemStack`, whose arrays hold the rows of all; `ProblemStack.of` makes one of others.
        """
        return [self.fit(problem) for problem in problems]

    def fit_in_steps(self, problem: Problem) -> Steps | None:
        """Let the engine train a learner that consists of others; None to use `fit`.

        Called by the engine with the problem of a part, instead of `fit`.
        """
        return None

    def coarse(self) -> LocalLearner:
        """The learner of models that only score rows held out from them, or itself.

        Called by the core for strategies that learn probabilities. Override it to stop earlier,
        as solvers with a tolerance do.
        """
        return self

    def around(self, learner: LocalLearner) -> LocalLearner:
        """The learner of a part that names this one; `learner` is the strategy's.

        Called by the core for every part with a learner of its own. Override it to wrap the
        strategy's learner, as lazy models do. The default ignores it.
        """
        return self

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that fitting needs beside the problem; by default, a copy of its rows.

        Called before training by combiners that choose a smaller problem or a simpler learner,
        and by runs with a limit of memory.
        """
        return 8.0 * n_rows * n_features

    def memory_like(self, sample: Problem, n_rows: int) -> float:
        """The bytes that fitting needs for `n_rows` rows like those of a sample.

        Called by runs with a limit of memory for large parts for which `memory`, the most it can
        be, does not fit. Override it if easy rows need less. The default asks `memory`.
        """
        return self.memory(n_rows, sample.n_features)

    def simpler(self) -> LocalLearner | None:
        """The next simpler learner of this kind that needs less memory, or None.

        Called by combiners if `memory` says that a problem is too large.
        """
        return None

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix between rows, so that parts select rows and columns.

        Called by the core before it cuts rows out of X.
        """
        return False
