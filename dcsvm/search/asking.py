"""The models that one part makes for many parameter values, asked about the same rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dcsvm.job import Cut
from dcsvm.member import Member
from dcsvm.models import Cost, KernelExpansion, LocalModel
from dcsvm.numeric.backend import rbf_values
from dcsvm.numeric.distances import Floats, squared_distances
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.matrix import FloatArray, IntArray, Matrix

#: Kernel values between asked and learned rows that are worked out for all models together.
#: Beyond, each model's own points are fewer and packing them pays.
FEW_VALUES = 1_000_000


class Asked:
    """Rows that ask every model of one part; what their answers share is worked out once.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Features as the divided problem has them.
    rows : (m,) int array
        The rows of X that ask.
    cut : Cut
        The part.
    """

    def __init__(self, X: Matrix, rows: IntArray, cut: Cut) -> None:
        self.cut, self.shares = cut, False
        self.gamma, self.values = 0.0, np.empty((0, 0))
        if cut.n_classes == 1:
            self.X: Matrix = np.empty((len(rows), 0))  # no feature is looked at
            return
        self.X = X[rows] if cut.view is None else cut.view.apply(X[rows])
        dense = isinstance(self.X, np.ndarray) and isinstance(cut.problem.X, np.ndarray)
        self.shares = dense and len(rows) * len(cut.rows) <= FEW_VALUES

    def answer(self, model: LocalModel) -> tuple[FloatArray, Cost]:
        """The model's scores of the rows, and what one row's answer takes."""
        if isinstance(model, KernelExpansion) and model.kernel.kind == "rbf" and self.shares:
            return model.from_gram(self._gram(model.kernel)[:, model.support_rows]), model.cost
        return Member(model, self.cut.code).answer(self.X)

    def _gram(self, kernel: Kernel) -> FloatArray:
        """Kernel values between the asked rows and all that were learned."""
        if self.gamma != kernel.gamma:
            room = self.values if self.values.size else None
            self.gamma, self.values = kernel.gamma, rbf_values(self._distances, kernel.gamma, room)
        return self.values

    @cached_property
    def _distances(self) -> Floats:
        return squared_distances(self.X, self.cut.problem.X)
