"""Models that learners return, and what their predictions cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import Expansion, evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import pair_decisions, pair_scores, vote
from dcsvm.numeric.kernels.kernel import Kernel

Count = float | FloatArray


@attrs.frozen(eq=False)
class Cost:
    """The cost of a prediction: one number for all rows, or one per row. NaN means unknown.

    `kernel_evaluations` counts a support vector once per binary classifier that uses it (the TD
    paper's NSV), `unique_kernel_evaluations` once per row (as in the DAGSVM paper), and
    `hyperplanes` counts inner products with hyperplanes.
    """

    kernel_evaluations: Count = 0.0
    unique_kernel_evaluations: Count = 0.0
    hyperplanes: Count = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.kernel_evaluations + other.kernel_evaluations,
            self.unique_kernel_evaluations + other.unique_kernel_evaluations,
            self.hyperplanes + other.hyperplanes,
        )


UNKNOWN = Cost(np.nan, np.nan, np.nan)


class LocalModel(ABC):
    """A fitted classifier of the classes 0 .. k-1 of its problem.

    A subclass is an attrs class of arrays, numbers, strings and other stored types. Listed in its
    learner's `stored_types`, it can be saved and loaded without further code.
    """

    #: The kernel evaluated against the `support` rows, if there is one. Members with the same view
    #: and kernel share the evaluations of common support vectors, and the cost counts them once.
    kernel: Kernel | None = None

    @abstractmethod
    def scores(self, X: Matrix) -> FloatArray:
        """Score rows X (n, d), as (n, k); the class with the largest score wins.

        With two classes there is one column, (n, 1), positive for the second class. Scores of
        different members are summed, so they should be about 1 for a certain class and -1 for
        one that is ruled out. The committee calls this with blocks of rows, from several threads.
        """

    @property
    def support(self) -> IntArray | None:
        """The support vectors as rows of the local problem; None if there is no such notion."""
        return None

    @property
    def tells_support(self) -> bool:
        """Whether the model knows its support vectors."""
        return self.support is not None

    @property
    def duals(self) -> FloatArray | None:
        """Signed dual values of the `support` rows, (m, columns), where the model has them."""
        return None

    @property
    def facts(self) -> Mapping[str, float]:
        """Facts about the training for the ledger, such as a solver's iterations."""
        return {}

    @property
    def cost(self) -> Cost:
        """The cost of predicting one row; unknown by default."""
        return UNKNOWN

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Return `scores(X)` and their cost. Override if the cost differs by row."""
        return self.scores(X), self.cost

    def labels(self, X: Matrix) -> IntArray:
        """The predicted class of each row of X, (n,), from 0 .. k-1."""
        return winners(self.scores(X))


def winners(scores: FloatArray) -> IntArray:
    """The winning column of each row; one column means two classes and a sign."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


@attrs.frozen(eq=False)
class Constant(LocalModel):
    """The same score for every row: the model of a part with a single class."""

    value: float = 1.0

    def scores(self, X: Matrix) -> FloatArray:
        return np.full((X.shape[0], 1), self.value)

    @property
    def tells_support(self) -> bool:
        return True  # it has none

    @property
    def cost(self) -> Cost:
        return Cost()


@attrs.frozen(eq=False)
class Hyperplanes(LocalModel):
    """Linear scores `X @ weights + biases`, with weights (d, columns) and biases (columns,)."""

    weights: FloatArray
    biases: FloatArray

    def scores(self, X: Matrix) -> FloatArray:
        return np.asarray(X @ self.weights) + self.biases

    @property
    def cost(self) -> Cost:
        return Cost(hyperplanes=float(self.weights.shape[1]))


@attrs.frozen(eq=False)
class Points:
    """Support vectors: rows `ids` of a pool that several models may share, or the whole pool.

    With a precomputed kernel the pool holds (m,) column numbers instead of (m, d) rows.
    """

    pool: Matrix
    ids: IntArray | None = None

    def rows(self) -> Matrix:
        return self.pool if self.ids is None else self.pool[self.ids]


def _as_points(given: Any) -> Points:
    return given if isinstance(given, Points) else Points(given)


@attrs.frozen(eq=False, slots=False)
class KernelExpansion(LocalModel):
    """Scores `kernel(X, points) @ coefficients + biases`.

    Parameters
    ----------
    points : (m, d) array or CSR matrix, or Points
        The support vectors. With a precomputed kernel, (m,) column numbers instead.
    coefficients : (m, columns) array
    biases : (columns,) array
    kernel : Kernel
    support_rows : (m,) int array
        The points as rows of the local problem.
    class_sizes : (k,) int array, optional
        For a one-against-one expansion, the number of points of each class. Points are then
        sorted by class, coefficients (m, k - 1) hold the dual values of each point against the
        other classes in order, and biases has one entry per pair. Scores are votes, with ties
        broken by summed decision values.
    precision : {"float64", "float32"}
        The precision of `labels` of a one-against-one expansion. With float32, rows whose label
        could change by rounding are computed again in float64, so labels are the same.
    effort : mapping
        Numbers for the ledger, such as the solver's iterations and final objective.
    """

    points: Points = attrs.field(converter=_as_points)
    coefficients: FloatArray
    biases: FloatArray
    kernel: Kernel
    support_rows: IntArray
    class_sizes: IntArray | None = None
    precision: str = "float64"
    effort: Mapping[str, float] = attrs.field(factory=dict)

    @classmethod
    def of_parts(
        cls, X: FloatArray, offsets: IntArray, kernels: Sequence[Kernel], betas: Any, outcomes: Any
    ) -> Iterator[KernelExpansion]:
        """Binary models from the results of `solve_parts` or `solve_tasks` for stacked rows."""
        support = np.flatnonzero(betas)
        points, duals = X[support], betas[support][:, None]
        ends = np.searchsorted(support, offsets)
        within = support - np.repeat(offsets[:-1], np.diff(ends))
        biases = outcomes["bias"].copy()[:, None]
        efforts = zip(outcomes["iterations"].tolist(), outcomes["objective"].tolist(), strict=True)
        for number, (iterations, objective) in enumerate(efforts):
            its = slice(ends[number], ends[number + 1])
            yield cls(
                *(points[its], duals[its], biases[number], kernels[number], within[its]),
                effort={"iterations": iterations, "objective": objective},
            )

    def scores(self, X: Matrix) -> FloatArray:
        decisions = evaluate(self.prepared, X)
        if self.class_sizes is None:
            return decisions
        return pair_scores(decisions, len(self.class_sizes))

    def labels(self, X: Matrix) -> IntArray:
        if self.class_sizes is None:
            return winners(self.scores(X))
        return vote(self.prepared, X, precision=self.precision)

    @cached_property
    def prepared(self) -> Expansion:
        """The expansion with its points packed for the compiled loops."""
        return prepare(
            self.kernel, self.points.rows(), self.coefficients, self.biases, self.class_sizes
        )

    def from_gram(self, gram: FloatArray) -> FloatArray:
        """Scores from the kernel values (n, m) of n rows against the points."""
        if self.class_sizes is None:
            return np.asarray(gram @ self.coefficients + self.biases)
        decisions = pair_decisions(gram, self.coefficients, self.biases, self.class_sizes)
        return pair_scores(decisions, len(self.class_sizes))

    def with_points(self, pool: Matrix, ids: IntArray) -> KernelExpansion:
        """The same expansion over rows `ids` (m,) of a pool."""
        return KernelExpansion(
            *(Points(pool, ids), self.coefficients, self.biases, self.kernel, self.support_rows),
            *(self.class_sizes, self.precision, self.effort),
        )

    @property
    def support(self) -> IntArray:
        return self.support_rows

    @property
    def duals(self) -> FloatArray:
        return self.coefficients

    @property
    def facts(self) -> Mapping[str, float]:
        return self.effort

    @property
    def cost(self) -> Cost:
        return Cost(
            kernel_evaluations=float(np.count_nonzero(self.coefficients)),
            unique_kernel_evaluations=float(len(self.support_rows)),
        )


@attrs.frozen(eq=False)
class MappedHyperplanes(LocalModel):
    """Hyperplanes in the finite-dimensional feature space of a kernel."""

    kernel: Kernel
    hyperplanes: Hyperplanes

    def scores(self, X: Matrix) -> FloatArray:
        return self.hyperplanes.scores(self.kernel.feature_map(X))

    @property
    def cost(self) -> Cost:
        return self.hyperplanes.cost


@attrs.frozen(eq=False)
class Wrapped(LocalModel):
    """A fitted scikit-learn classifier of the classes 0 .. k-1. Its cost is unknown."""

    estimator: Any

    def scores(self, X: Matrix) -> FloatArray:
        try:
            return self._scores(X)
        # Estimators report unsuitable input in various ways.
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            name, why = type(self.estimator).__name__, " ".join(str(error).split())
            raise DataError(f"{name} cannot predict {X.shape[0]} rows: {why}") from error

    def _scores(self, X: Matrix) -> FloatArray:
        if hasattr(self.estimator, "decision_function"):
            decisions = np.asarray(self.estimator.decision_function(X), dtype=float)
            return decisions[:, None] if decisions.ndim == 1 else decisions
        if hasattr(self.estimator, "predict_proba"):
            shares = np.asarray(self.estimator.predict_proba(X), dtype=float)
            return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else shares
        k = len(self.estimator.classes_)
        hits = np.asarray(self.estimator.predict(X))[:, None] == np.arange(k)
        return np.asarray(2.0 * hits[:, 1:] - 1.0 if k == 2 else hits, dtype=float)


STORED_TYPES: tuple[type, ...] = (
    Constant,
    Hyperplanes,
    KernelExpansion,
    MappedHyperplanes,
    Points,
    Wrapped,
    Kernel,
)
