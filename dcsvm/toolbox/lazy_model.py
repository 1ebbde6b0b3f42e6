"""Lazy models: local models that are trained at prediction, for the rows to predict."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from sklearn.utils.extmath import row_norms

from dcsvm.base.component import component, setting
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Part, Problem
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem, find_learner
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.distances import as_dense, row_slices, squared_distances
from dcsvm.numeric.stored_arrays import check_array, check_matrix

#: Memory for one block of distances.
BLOCK_BYTES = 2**26
#: Points that are this much farther, relatively, are compared exactly: rounding decides no tie.
ROUNDING = 1e-10


@attrs.frozen(eq=False)
class LazyModel(LocalModel):
    """A model that trains on some of its rows for each new row; the base of lazy strategies.

    Subclasses choose the rows of X (n, d). Each set of rows is a part, trained by the learner as
    any other: the core handles absent classes and parts of a single class. Equal sets are trained
    once per call. The cost is unknown, because it is mostly training. All parts have the same
    seed, so that predictions do not depend on the order of rows.
    """

    X: Matrix
    y: IntArray
    weights: FloatArray | None
    n_classes: int
    learner: LocalLearner
    seed: Seed

    @abstractmethod
    def choose(self, X: Matrix) -> list[IntArray]:
        """The training rows for each new row of X (n, d), as ascending ids.

        Called by `scores`. The choice for a row must not depend on the other rows.
        """

    def scores(self, X: Matrix) -> FloatArray:
        scores = np.empty((X.shape[0], self.n_classes))
        problem = Problem(self.X, self.y, self.n_classes, self.seed, self.weights)
        for chosen, rows in _find_equal(self.choose(X)):
            member = train_part(problem, Part(chosen), self.learner)
            values = member.scores(X[rows])
            known = member.code.any(axis=0)
            by_class = np.where(known, values @ member.code, np.inf)
            floor = np.minimum(by_class.min(axis=1, keepdims=True), 0.0) - 1.0
            scores[rows] = np.where(known, by_class, np.minimum(floor, -1.0))
        return scores if self.n_classes > 2 else (scores[:, 1:] - scores[:, :1]) / 2

    def check_stored(self, **sizes: int) -> dict[str, int]:
        n, k = self.X.shape[0], self.n_classes
        title = type(self).__name__
        check_matrix(f"{title}.X", self.X, sizes.get("features", "features"))
        if k < 2:
            raise ValueError(f"{title}.n_classes must be at least 2, got {k}")
        if sizes.get("columns", columns := k if k > 2 else 1) != columns:
            raise ValueError(f"{title} has {columns} columns, but must have {sizes['columns']}")
        check_array(f"{title}.y", self.y, n, dtype=np.integer, at_least=0, below=k)
        if self.weights is not None:
            check_array(f"{title}.weights", self.weights, n, at_least=0)
        sizes = super().check_stored(**sizes)
        if "features" in sizes and n:
            self._try_row()
        return sizes

    def _try_row(self) -> None:
        """Raise unless the learner can train for the first row."""
        try:
            with np.errstate(all="ignore"):
                self.scores(self.X[:1])
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            raise ValueError(f"{type(self).__name__} cannot train for a row: {error}") from error


@attrs.frozen(eq=False)
class NeighbourModel(LazyModel):
    """Trains on the nearest rows of each new row."""

    count: int

    def choose(self, X: Matrix) -> list[IntArray]:
        return list(np.sort(nearest_rows(X, self.X, self.count), axis=1))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if not 1 <= self.count <= self.X.shape[0]:
            raise ValueError(
                f"NeighbourModel.count must be 1 to {self.X.shape[0]}, got {self.count}"
            )
        return super().check_stored(**sizes)


@component
class LazyLearner(LocalLearner):
    """Makes a lazy model of a part; the strategy's learner trains at prediction.

    A decomposer names it as the learner of a part: `Part(rows, learner=LazyLearner(count=50))`.

    Examples
    --------
    >>> from dcsvm import build
    >>> from dcsvm.testing import easy_problem
    >>> problem = easy_problem()
    >>> lazy = LazyLearner(count=20).around(build("learner", "krr"))
    >>> bool((lazy.fit(problem).labels(problem.X) == problem.y).all())
    True
    """

    name = "lazy"
    stored_types = (NeighbourModel,)

    count: int = setting(100, at_least=1, help="nearest rows that are trained on")
    learner: Any = setting(None, kind="learner", help="trains the nearest rows of a new row")

    def around(self, learner: LocalLearner) -> LocalLearner:
        return LazyLearner(self.count, learner) if self.learner is None else self

    def fit(self, problem: Problem) -> LocalModel:
        return NeighbourModel(
            *(problem.X, problem.y, problem.weights, problem.n_classes),
            *(self.learner, problem.seed, min(self.count, problem.n_rows)),
        )


def nearest_rows(X: Matrix, points: Matrix, count: int) -> IntArray:
    """The ids of the nearest points of each row of X, nearest first: (n, count).

    Of equally near points the one with the lower id comes first, whatever rows are asked together.
    """
    nearest = np.empty((X.shape[0], count), dtype=np.intp)
    rounding = ROUNDING * float(row_norms(points, squared=True).max(initial=0.0))
    for rows in row_slices(X.shape[0], 8 * points.shape[0], BLOCK_BYTES):
        distances = squared_distances(X[rows], points)
        farthest = np.partition(distances, count - 1, axis=1)[:, count - 1] * (1.0 + ROUNDING)
        for row in range(rows.start, rows.stop):
            at = row - rows.start
            near = np.flatnonzero(~(distances[at] > farthest[at] + rounding))  # overflows are near
            apart = np.square(as_dense(points[near]) - as_dense(X[[row]])).sum(axis=1)
            nearest[row] = near[np.argsort(apart, kind="stable")[:count]]
    return nearest


def _find_equal(chosen: list[IntArray]) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield each different set of training rows, and the new rows that it is for."""
    rows_by_set: dict[bytes, list[int]] = {}
    for row, ids in enumerate(chosen):
        rows_by_set.setdefault(ids.tobytes(), []).append(row)
    for rows in rows_by_set.values():
        yield chosen[rows[0]], np.array(rows)


def train_part(
    problem: Problem, part: Part, learner: LocalLearner, seed: Seed | None = None
) -> Member:
    """Train one part at once, with the learner unless it has its own, and return its member.

    It has the same handling of views, tasks, labels, absent classes and single classes as a part
    of a stage, but no entry in the ledger and no checkpoint: yield parts from `divide` where that
    is possible. For models that are made at prediction, and to replace members. The seed is that
    of the problem unless one is given.

    Examples
    --------
    >>> import numpy as np
    >>> from dcsvm import build, part
    >>> from dcsvm.testing import easy_problem
    >>> from dcsvm.toolbox import train_part
    >>> problem = easy_problem()
    >>> member = train_part(problem, part(np.arange(40)), build("learner", "krr"))
    >>> member.scores(problem.X).shape
    (60, 3)
    """
    job = Subproblem(problem, part, find_learner(part, learner), seed or problem.seed)
    return job.member(job.run())
