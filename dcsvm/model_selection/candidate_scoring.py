"""Scores of the same rows by the models of one part, for many parameter values."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

import numpy as np

from dcsvm.base.member import Member
from dcsvm.base.models import Cost, KernelExpansion, LocalModel
from dcsvm.base.problem import Problem
from dcsvm.drive.subproblem import LocalProblem
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.backend import rbf_values
from dcsvm.numeric.kernels.distances import Floats, squared_distances
from dcsvm.numeric.kernels.kernel import Kernel

#: Distances between asked rows and all of a problem whose parts overlap that are kept for all of
#: these, and for how many values of gamma kernel values are kept with them.
SHARED_DISTANCES, SHARED_GAMMAS = 2**24, 4
#: Kernel values between asked and learned rows that are worked out for all models together.
#: Beyond, each model's own points are fewer and packing them pays.
FEW_VALUES = 1_000_000


class PartQueries:
    """Rows to score with every model of one part; shared kernel values are computed once.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Features as the divided problem has them.
    rows : (m,) int array
        The rows of X that ask.
    cut : LocalProblem
        The part.
    """

    def __init__(self, X: Matrix, rows: IntArray, cut: LocalProblem) -> None:
        self.cut, self.shares = cut, False
        self.gamma, self.values = 0.0, np.empty((0, 0))
        self.overlap: Overlap | None = None
        if cut.n_classes == 1:
            self.X: Matrix = np.empty((len(rows), 0))  # no feature is looked at
            return
        self.X = X[rows] if cut.view is None else cut.view.apply(X[rows])
        dense = isinstance(self.X, np.ndarray) and isinstance(cut.problem.X, np.ndarray)
        self.shares = dense and len(rows) * len(cut.rows) <= FEW_VALUES
        whole = cut.problem.whole
        everyone = dense and X.shape[0] == len(rows)
        if whole is not None and everyone and len(rows) * whole.n_rows <= SHARED_DISTANCES:
            # The overlap keeps the array, so that no other one gets its number.
            self.overlap = whole.once(("asked", id(X)), lambda: Overlap(X, whole))

    def answer(self, model: LocalModel) -> tuple[FloatArray, Cost]:
        """The model's scores of the rows, and what one row's answer takes."""
        if isinstance(model, KernelExpansion) and model.kernel.kind == "rbf":
            if self.overlap is not None:
                gram = self.overlap.compute_gram(
                    model.kernel.gamma, self.cut.rows[model.support_rows]
                )
                return model.from_gram(gram), model.cost
            if self.shares:
                return model.from_gram(
                    self._compute_gram(model.kernel)[:, model.support_rows]
                ), model.cost
        return Member(model, self.cut.code).answer(self.X)

    def _compute_gram(self, kernel: Kernel) -> FloatArray:
        """Kernel values between the asked rows and all that were learned."""
        if self.gamma != kernel.gamma:
            room = self.values if self.values.size else None
            self.gamma, self.values = kernel.gamma, rbf_values(self._distances, kernel.gamma, room)
        return self.values

    @cached_property
    def _distances(self) -> Floats:
        return squared_distances(self.X, self.cut.problem.X)


class Overlap:
    """Kernel values that overlapping parts share, such as pairs of classes, for the same rows.

    Parameters
    ----------
    X : (n, d) array
        The rows that ask.
    whole : Problem
        The problem that the parts were cut from.
    """

    def __init__(self, X: FloatArray, whole: Problem) -> None:
        self.X, self.lock = X, Lock()
        self.distances = squared_distances(whole.X, X)
        self.values: dict[float, FloatArray] = {}

    def compute_gram(self, gamma: float, points: IntArray) -> FloatArray:
        """Kernel values (n, m) between the rows that ask and these m rows of the whole."""
        with self.lock:
            if gamma not in self.values and len(self.values) < SHARED_GAMMAS:
                self.values[gamma] = rbf_values(self.distances, gamma)
        if gamma in self.values:
            return self.values[gamma][points].T
        return rbf_values(self.distances[points], gamma).T
