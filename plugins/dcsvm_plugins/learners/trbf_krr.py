"""Kernel ridge regression with a truncated RBF kernel, solved in the cheaper space."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import comb
from operator import attrgetter
from typing import Any, Literal

import attrs
import numpy as np
import scipy
from sklearn.base import clone

from dcsvm import DataError, LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, Kernel, make_kernel
from dcsvm.toolbox import GAMMA_HELP, Gamma, Hyperplanes, KernelExpansion, MappedHyperplanes

#: Bytes of mapped rows at a time; fixed, so that no bit depends on the machine.
BLOCK_BYTES = 2**22


@component
class TRBFKRR(LocalLearner):
    """Kernel ridge regression of +1 and -1 with a truncated RBF kernel.

    The series of the RBF kernel is cut after the term of order p, so with m features the feature
    space has only J = C(m + p, p) dimensions. The regression is solved there in time N J^2 + J^3
    and memory J^2 for N rows, or with the N x N kernel matrix if that is cheaper; both give the
    same function. J grows fast with the features: use it on few features or subspaces.

    A row of weight w counts as w rows. Unlike the RBF kernel, the truncated one depends on the
    origin, so features should be centred (`scale = "standard"` in a recipe).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> learner = build("learner", "trbf_krr", order=3, ridge=0.1)
    >>> DivideAndConquerClassifier("whole", learner, "route").fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Kung, Wu: On efficient learning and classification kernel methods (2012).
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "trbf_krr"

    order: int = setting(2, at_least=1, help="order after which the series of the kernel is cut")
    ridge: float = setting(1.0, above=0, help="penalty on the norm of the solution")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    balance: bool = setting(False, help="give all classes the same total weight")
    space: Literal["auto", "intrinsic", "empirical"] = setting(
        "auto", help="solve in the feature space or with the kernel matrix; auto takes the cheaper"
    )
    max_size: int = setting(
        20_000, at_least=1, help="raise if the system of equations has more unknowns"
    )

    @property
    def keeps_support(self) -> bool | None:  # type: ignore[override]
        """Only the rows' kernel matrix keeps them; "auto" chooses by the size of a part."""
        return None if self.space == "auto" else self.space == "empirical"

    def fit(self, problem: Problem) -> LocalModel:
        return self._build_equations(problem).solve(self.ridge)

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model); cells in a row that differ in their ridge share the equations."""
        machines = ((cell, clone(self).set_params(**cell)) for cell in grid)
        kind = attrgetter("order", "gamma", "balance", "space", "max_size")
        for _, same in groupby(machines, key=lambda pair: kind(pair[1])):
            equations = None
            for cell, machine in same:
                if equations is None:
                    equations = machine._build_equations(problem)
                yield cell, equations.solve(machine.ridge)

    def dimensions(self, n_features: int) -> int:
        """The dimensions of the kernel's feature space, J."""
        return comb(n_features + self.order, self.order)

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that fitting so many rows and features takes beside the rows."""
        size = min(self._count_unknowns(n_rows, n_features), 10**9)
        return 32.0 * size**2 + 2.5 * BLOCK_BYTES

    def simpler(self) -> LocalLearner | None:
        """The same learner with an order less, which needs less memory; None at order 1."""
        return None if self.order == 1 else clone(self).set_params(order=self.order - 1)

    def _count_unknowns(self, n_rows: int, n_features: int) -> int:
        """How many unknowns the equations have."""
        intrinsic = self._is_intrinsic(n_rows, n_features)
        return self.dimensions(n_features) if intrinsic else n_rows

    def _is_intrinsic(self, n_rows: int, n_features: int) -> bool:
        if self.space != "auto":
            return self.space == "intrinsic"
        J = self.dimensions(n_features)
        return J**2 * n_rows + J**3 <= n_rows**3

    def _balance_weights(self, problem: Problem) -> FloatArray | None:
        if not self.balance:
            return problem.weights
        weights = problem.masses
        masses = np.bincount(problem.y, weights, minlength=problem.n_classes)
        return np.asarray(weights * (weights.sum() / (len(masses) * masses))[problem.y])

    def _build_equations(self, problem: Problem) -> "Intrinsic | Empirical":
        n, d = problem.X.shape
        unknowns = self._count_unknowns(n, d)
        if unknowns > self.max_size:
            raise DataError(
                f"trbf_krr of order {self.order} on {n} rows of {d} features has "
                f"{unknowns} unknowns, but max_size is {self.max_size}; lower the order, "
                "use smaller parts, or raise max_size if memory allows"
            )
        targets = problem.targets
        weights: Any = self._balance_weights(problem)
        kernel = make_kernel("trbf", self.gamma, self.order, 0.0, problem.X, weights)
        weights = np.ones(n) if weights is None else weights
        kind = Intrinsic if self._is_intrinsic(n, d) else Empirical
        return kind.of(problem.X, targets, weights, kernel)


@attrs.frozen(eq=False)
class Intrinsic:
    """Normal equations (J, J) in the feature space, with right-hand sides (J, targets)."""

    kernel: Kernel
    matrix: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, X: Any, targets: FloatArray, weights: FloatArray, kernel: Kernel) -> "Intrinsic":
        """Sum the equations over blocks of rows, so that only one block is mapped at a time."""
        J = comb(X.shape[1] + kernel.degree, kernel.degree)
        matrix, right = np.zeros((J, J)), np.zeros((J, targets.shape[1]))
        roots = np.sqrt(weights)[:, None]
        size = max(256, BLOCK_BYTES // (8 * J))
        for start in range(0, X.shape[0], size):
            rows = slice(start, start + size)
            mapped = kernel.feature_map(X[rows]) * roots[rows]
            matrix += mapped.T @ mapped
            right += mapped.T @ (targets[rows] * roots[rows])
        return cls(kernel, matrix, right)

    def solve(self, ridge: float) -> LocalModel:
        weights = _solve(self.matrix, np.full(len(self.matrix), ridge), self.right)
        planes = Hyperplanes(np.ascontiguousarray(weights), np.zeros(weights.shape[1]))
        return MappedHyperplanes(self.kernel, planes)


@attrs.frozen(eq=False)
class Empirical:
    """Equations (n, n) by the kernel matrix of the rows, and the targets (n, targets)."""

    kernel: Kernel
    points: Any
    matrix: FloatArray
    weights: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, X: Any, targets: FloatArray, weights: FloatArray, kernel: Kernel) -> "Empirical":
        return cls(kernel, X, kernel(X), weights, targets)

    def solve(self, ridge: float) -> LocalModel:
        duals = np.ascontiguousarray(_solve(self.matrix, ridge / self.weights, self.right))
        rows = np.arange(len(duals))
        return KernelExpansion(self.points, duals, np.zeros(duals.shape[1]), self.kernel, rows)


def _solve(matrix: FloatArray, diagonal: FloatArray, right: FloatArray) -> Any:
    """Solve with a shifted diagonal; by least squares if the matrix is still singular."""
    if not np.isfinite(matrix).all():
        raise DataError(
            "trbf_krr: the kernel values of these rows overflow; scale the features, or lower "
            "gamma or the order"
        )
    shifted = matrix.copy()
    np.fill_diagonal(shifted, shifted.diagonal() + diagonal)
    try:
        return scipy.linalg.solve(shifted, right, assume_a="pos")
    except scipy.linalg.LinAlgError:
        return scipy.linalg.lstsq(shifted, right)[0]
