"""Models that learners return, and what their predictions cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from math import isfinite
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.cost import UNKNOWN, Cost
from dcsvm.base.stored_fields import PlainState
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import Expansion, evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import pair_decisions, pair_margins, pair_scores, vote
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.spilled_rows import RowSpill, SpilledRows
from dcsvm.numeric.stored_arrays import Stored, axes, check_array, check_arrays, check_matrix

#: How many decisions of pairs of classes are held at a time, up to a factor of two: 32 MB.
PAIR_VALUES = 2**22


class LocalModel(Stored, ABC):
    """A fitted classifier of the classes 0 .. k-1 of its problem.

    A subclass is an attrs class of arrays, numbers, strings and other stored types. Listed in its
    learner's `stored_types`, it can be saved and loaded without further code.
    """

    #: The kernel evaluated against the `support` rows, if there is one. Members with the same view
    #: and kernel share the evaluations of common support vectors, and the cost counts them once.
    kernel: Kernel | None = None
    #: Records of the parts trained inside the model, if it is a strategy of its own.
    ledger: Sequence[Any] = ()

    @abstractmethod
    def scores(self, X: Matrix) -> FloatArray:
        """Score rows X (n, d), as (n, k); the class with the largest score wins.

        With two classes there is one column, (n, 1), positive for the second class. Scores of
        different members are summed, so they should be about 1 for a certain class and -1 for
        one that is ruled out. The committee calls this with blocks of rows, from several threads.
        """

    def margins(self, X: Matrix) -> FloatArray:
        """The scores of rows X (n, d) that probabilities are learned from, and called for them.

        Like `scores`, but without votes, which say little about how sure a model is.
        """
        return self.scores(X)

    def probabilities(self, X: Matrix) -> FloatArray | None:
        """The probabilities of rows X (n, d), as (n, k), or None if it has none of its own.

        Rows sum to one. Without them, or if the combiner does not ask for them, the core learns
        some from margins of rows left out of training. Called by combiners that have
        `probabilities`, such as `route` and `mean`, with blocks of rows.
        """
        return None

    @property
    def support(self) -> IntArray | None:
        """The support vectors as rows of the local problem, or None; called after training."""
        return None

    @property
    def tells_support(self) -> bool:
        """Whether it knows its support vectors; called if the decomposer needs them."""
        return self.support is not None

    @property
    def duals(self) -> FloatArray | None:
        """Signed duals of the `support` rows, (m, columns), or None; called for warm starts."""
        return None

    @property
    def fixed_scores(self) -> FloatArray | None:
        """The scores (columns,) that all rows have, or None; called by `compile_tree`."""
        return None

    @property
    def facts(self) -> Mapping[str, float]:
        """Facts for the ledger, such as a solver's iterations; called once after training."""
        return {}

    @property
    def cost(self) -> Cost:
        """The cost of predicting one row; unknown by default. Called by `answer`."""
        return UNKNOWN

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Return `scores(X)` and their cost; called with rows X (n, d) if the cost is counted."""
        return self.scores(X), self.cost

    def labels(self, X: Matrix) -> IntArray:
        """The classes (n,) of rows X (n, d), from 0 .. k-1; called if scores are not needed."""
        return winners(self.scores(X))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        """Add the scores of rows with `n_features` features to a plan.

        In a plan without `votes`, add the margins. Called when single rows are first predicted.
        None means: ask `scores`, or `margins`, in Python.
        """
        fixed = self.fixed_scores
        return None if fixed is None else plan.constant(n_features, fixed)


def winners(scores: FloatArray) -> IntArray:
    """The winning column of each row; one column means two classes and a sign."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


@attrs.frozen(eq=False)
class Constant(LocalModel):
    """The same score for every row: the model of a part with a single class."""

    value: float = 1.0

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if not isfinite(self.value) or sizes.get("columns", 1) != 1:
            raise ValueError(
                f"Constant.value must be finite, for one column of scores, got {self.value} for "
                f"{sizes.get('columns', 1)}"
            )
        return sizes

    def scores(self, X: Matrix) -> FloatArray:
        return np.full((X.shape[0], 1), self.value)

    @property
    def fixed_scores(self) -> FloatArray:
        return np.array([self.value])

    @property
    def tells_support(self) -> bool:
        return True  # it has none

    @property
    def cost(self) -> Cost:
        return Cost()


@attrs.frozen(eq=False)
class Hyperplanes(LocalModel):
    """Linear scores `X @ weights + biases`, with weights (d, columns) and biases (columns,)."""

    weights: FloatArray = attrs.field(metadata=axes("features", "columns"))
    biases: FloatArray = attrs.field(metadata=axes("columns"))

    def scores(self, X: Matrix) -> FloatArray:
        return np.asarray(X @ self.weights) + self.biases

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.affine(self.weights, self.biases)

    @property
    def cost(self) -> Cost:
        return Cost(hyperplanes=float(self.weights.shape[1]))


@attrs.frozen(eq=False)
class Points(Stored):
    """Support vectors: rows `ids` of a pool that several models may share, or the whole pool.

    With a precomputed kernel the pool holds (m,) column numbers instead of (m, d) rows.
    """

    pool: Matrix
    ids: IntArray | None = attrs.field(
        default=None, metadata=axes("points", dtype=np.integer, at_least=0)
    )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if sparse.issparse(self.pool) or np.ndim(self.pool) == 2:
            check_matrix("Points.pool", self.pool, sizes.get("features", "features"))
            sizes["features"] = self.pool.shape[1]
        else:  # column numbers of a precomputed kernel
            below = sizes.get("features")
            rule = {"dtype": np.integer, "at_least": 0, "below": below}
            check_array("Points.pool", self.pool, "points", **rule)
        if self.ids is None:
            return sizes | {"points": self.pool.shape[0]}
        found = check_arrays(self)["points"]
        check_array("Points.ids", self.ids, found, dtype=np.integer, below=self.pool.shape[0])
        return sizes | {"points": found}

    def rows(self) -> Matrix:
        return self.pool if self.ids is None else self.pool[self.ids]


def _as_points(given: Any) -> Points:
    return given if isinstance(given, Points) else Points(given)


@attrs.frozen(eq=False, slots=False)
class KernelExpansion(PlainState, LocalModel):
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
    spilled: SpilledRows | None = attrs.field(default=None, metadata={"stored": False})

    def check_stored(self, **sizes: int) -> dict[str, int]:
        self.kernel.check_stored()
        if self.spilled is not None:
            self.spilled.count_used(self.points.pool.nbytes)
        numbered = not sparse.issparse(self.points.pool) and self.points.pool.ndim == 1
        if numbered != (self.kernel.kind == "precomputed"):
            raise ValueError(
                "KernelExpansion.points must be column numbers for a precomputed kernel, and "
                "rows for any other"
            )
        if self.precision not in ("float64", "float32"):
            raise ValueError(
                f"KernelExpansion.precision must be 'float64' or 'float32', got {self.precision!r}"
            )
        place = {key: sizes[key] for key in ("features",) if key in sizes}
        points = self.points.check_stored(**place)["points"]
        columns = self._check_pairs(points) if self.class_sizes is not None else None
        width = sizes.get("columns", "columns")
        if columns is not None and columns != sizes.get("columns", columns):
            raise ValueError(
                f"KernelExpansion.class_sizes has {columns} classes, but must have {width}"
            )
        if columns is None:
            check_array("KernelExpansion.coefficients", self.coefficients, points, width)
            width = self.coefficients.shape[1]
            check_array("KernelExpansion.biases", self.biases, width)
        check_array(
            *("KernelExpansion.support_rows", self.support_rows, points),
            dtype=np.integer,
            at_least=0,
        )
        return sizes

    def _check_pairs(self, points: int) -> int:
        """Raise unless a one-against-one expansion has what all pairs need; return the classes."""
        sizes: Any = self.class_sizes
        title = "KernelExpansion"
        check_array(f"{title}.class_sizes", sizes, "classes", dtype=np.integer, at_least=0)
        k = len(sizes)
        if k < 2 or sizes.max() > points or sizes.sum() != points:
            raise ValueError(
                f"{title}.class_sizes must be those of two or more classes with {points} points "
                f"in all, got {k} with {sizes.sum()}"
            )
        check_array(f"{title}.coefficients", self.coefficients, points, k - 1)
        check_array(f"{title}.biases", self.biases, k * (k - 1) // 2)
        return k

    @classmethod
    def of_parts(
        cls, X: FloatArray, offsets: IntArray, kernels: Sequence[Kernel], betas: Any, outcomes: Any
    ) -> Iterator[KernelExpansion]:
        """Binary models from the results of `solve_parts` or `solve_tasks` for stacked rows."""
        support = np.flatnonzero(betas)
        points, duals = X[support], betas[support][:, None]
        ends = np.searchsorted(support, offsets)
        within = support - np.repeat(offsets[:-1], np.diff(ends))
        spans, biases = pairwise(ends.tolist()), outcomes["bias"].copy()[:, None]
        efforts = zip(outcomes["iterations"].tolist(), outcomes["objective"].tolist(), strict=True)
        for kernel, bias, (start, end), (iterations, objective) in zip(
            kernels, biases, spans, efforts, strict=True
        ):
            effort = {"iterations": iterations, "objective": objective}
            mine = Points(points[start:end])
            yield cls(
                *(mine, duals[start:end], bias, kernel, within[start:end], None, "float64", effort)
            )

    def scores(self, X: Matrix) -> FloatArray:
        return self._combine(partial(evaluate, self.prepared), X, pair_scores)

    def margins(self, X: Matrix) -> FloatArray:
        return self._combine(partial(evaluate, self.prepared), X, pair_margins)

    def labels(self, X: Matrix) -> IntArray:
        if self.class_sizes is None:
            return winners(self.scores(X))
        return vote(self.prepared, X, precision=self.precision)

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.expansion(self.prepared, n_features)

    def _pack(self) -> Expansion:
        rows = self.points.rows()
        return prepare(self.kernel, rows, self.coefficients, self.biases, self.class_sizes)

    _packed = cached_property(_pack)

    @property
    def prepared(self) -> Expansion:
        """The expansion with packed points: packed once, or each time if they left memory."""
        if self.spilled is None:
            return self._packed
        self.spilled.count_used(self.points.pool.nbytes)
        return self._pack()

    def spill(self, to: RowSpill) -> KernelExpansion:
        """The same expansion with its points moved out of memory, if there is room for them."""
        if self.points.ids is not None or not to.has_room(self.points.pool):
            return self
        return attrs.evolve(self, points=to.add(self.points.pool), spilled=to.mapped)

    def from_gram(self, gram: FloatArray, votes: bool = True) -> FloatArray:
        """Scores, or margins, from the kernel values (n, m) of n rows against the points."""
        if self.class_sizes is None:
            return np.asarray(gram @ self.coefficients + self.biases)
        parts = {"coefficients": self.coefficients, "biases": self.biases}
        decide = partial(pair_decisions, class_sizes=self.class_sizes, **parts)
        return self._combine(decide, gram, pair_scores if votes else pair_margins)

    def _combine(
        self,
        decide: Callable[[Any], FloatArray],
        rows: Any,
        combine: Callable[[FloatArray, int], FloatArray],
    ) -> FloatArray:
        """Decisions of pairs as scores of classes, a few rows at a time; others as they are."""
        if self.class_sizes is None:
            return decide(rows)
        k = len(self.class_sizes)
        step = 1 + PAIR_VALUES // (k * k)
        starts = range(0, max(rows.shape[0], 1), step)
        return np.concatenate([combine(decide(rows[i : i + step]), k) for i in starts])

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
