"""Scores of held-out rows by the models of one part, for many parameter values."""

from functools import cached_property
from threading import Lock

import numpy as np

from dcsvm.base.cost import Cost
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion, LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.subproblem import LocalProblem
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.distances import Floats, rbf_values, squared_distances
from dcsvm.numeric.kernels.kernel import Kernel

#: The largest number of distances kept for all parts of a problem with overlapping parts, and the
#: number of values of gamma for which kernel values are kept, too.
SHARED_DISTANCES, SHARED_GAMMAS = 2**24, 4
#: The largest number of kernel values that are computed for all models of a part together. Above,
#: computing those of each model's support vectors is faster.
FEW_VALUES = 1_000_000


class PartQueries:
    """Held-out rows to score with every model of one part; kernel values are computed once.

    X (n, d) has the features of the divided problem, `rows` (m,) are those to score, and `cut` is
    the part.
    """

    def __init__(self, X: Matrix, rows: IntArray, cut: LocalProblem) -> None:
        self.cut, self.shares = cut, False
        self.gamma, self.values = 0.0, np.empty((0, 0))
        self.overlap: Overlap | None = None
        if cut.n_classes == 1:
            self.X: Matrix = np.empty((len(rows), 0))  # the features are not used
            return
        self.X = X[rows] if cut.view is None else cut.view.apply(X[rows])
        dense = isinstance(self.X, np.ndarray) and isinstance(cut.problem.X, np.ndarray)
        self.shares = dense and len(rows) * len(cut.rows) <= FEW_VALUES
        whole = cut.problem.whole
        everyone = dense and X.shape[0] == len(rows)
        if whole is not None and everyone and len(rows) * whole.n_rows <= SHARED_DISTANCES:
            # The overlap keeps the array, so that no other one gets its number.
            self.overlap = whole.once(("asked", id(X)), lambda: Overlap(X, whole))

    def answer(self, model: LocalModel, votes: bool = True) -> tuple[FloatArray, Cost]:
        """The scores of the rows, or their margins without `votes`, and the cost of one row."""
        if isinstance(model, KernelExpansion) and model.kernel.kind == "rbf":
            if self.overlap is not None:
                gram = self.overlap.compute_gram(
                    model.kernel.gamma, self.cut.rows[model.support_rows]
                )
                return model.from_gram(gram, votes), model.cost
            if self.shares:
                gram = self._compute_gram(model.kernel)[:, model.support_rows]
                return model.from_gram(gram, votes), model.cost
        scores, cost = Member(model, self.cut.code).answer(self.X)
        return scores if votes else model.margins(self.X), cost

    def _compute_gram(self, kernel: Kernel) -> FloatArray:
        """Kernel values between the rows to score and all training rows of the part."""
        if self.gamma != kernel.gamma:
            room = self.values if self.values.size else None
            self.gamma, self.values = kernel.gamma, rbf_values(self._distances, kernel.gamma, room)
        return self.values

    @cached_property
    def _distances(self) -> Floats:
        return squared_distances(self.X, self.cut.problem.X)


class Overlap:
    """Kernel values for rows X that overlapping parts of a problem share, such as class pairs."""

    def __init__(self, X: FloatArray, whole: Problem) -> None:
        self.X, self.lock = X, Lock()
        self.distances = squared_distances(whole.X, X)
        self.values: dict[float, FloatArray] = {}

    def compute_gram(self, gamma: float, points: IntArray) -> FloatArray:
        """Kernel values (n, m) between the rows to score and these m rows of the whole."""
        with self.lock:
            if gamma not in self.values and len(self.values) < SHARED_GAMMAS:
                self.values[gamma] = rbf_values(self.distances, gamma)
        if gamma in self.values:
            return self.values[gamma][points].T
        return rbf_values(self.distances[points], gamma).T
