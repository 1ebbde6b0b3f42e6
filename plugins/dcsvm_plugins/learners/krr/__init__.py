"""Kernel ridge regression on class codes, as a classifier."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import scipy
from sklearn.base import clone

from dcsvm import DataError, LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, Kernel, KernelMatrices
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion
from dcsvm_plugins.learners.krr.ridge_path import ridge_path

#: Kernels that may not be positive semidefinite, as `ridge_path` requires.
INDEFINITE = frozenset({"sigmoid", "callable", "precomputed"})


@component
class KRR(LocalLearner):
    """Kernel ridge regression of +1 and -1, one target for each class (one for two classes).

    Solves (K + ridge I) a = t for every target t at once; a row of weight w counts as w rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> krr = build("learner", "krr", ridge=0.1)
    >>> DivideAndConquerClassifier("whole", krr, "route").fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Saunders, Gammerman, Vovk: Ridge regression learning algorithm in dual variables (1998).
    """

    name = "krr"
    keeps_support = True

    ridge: float = setting(1.0, above=0, help="penalty on the norm of the solution")
    kernel: (
        Literal["rbf", "linear", "poly", "laplacian", "sigmoid", "trbf", "precomputed"]
        | Callable[..., Any]
    ) = setting("rbf", help="kernel name, or a function of two matrices")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    degree: int = setting(3, at_least=1, help="degree of the polynomial kernel, order of trbf")
    coef0: float = setting(0.0, help="constant of the polynomial and sigmoid kernels")
    max_rows: int = setting(
        20_000, at_least=1, help="raise if a part has more rows; its kernel matrix is n x n"
    )

    @property
    def pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def fit(self, problem: Problem) -> LocalModel:
        self._check_size(problem)
        kernel = self._kernel(problem)
        rows = np.arange(problem.n_rows)
        gram = kernel(problem.X)
        gram[rows, rows] += self.ridge / problem.masses
        return _expansion(_solve(gram, problem.targets), kernel, problem)

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model); cells share distances, and Gram matrices if kernels are equal."""
        self._check_size(problem)
        found: dict[Kernel, list[tuple[float, Mapping[str, Any]]]] = {}
        for cell in grid:
            machine = clone(self).set_params(**cell)
            found.setdefault(machine._kernel(problem), []).append((machine.ridge, cell))
        together = [kernel for kernel in found if kernel.kind not in INDEFINITE]
        targets, weights = problem.targets, problem.weights
        matrices = KernelMatrices(problem.X)
        for kernel in together:
            gram = matrices.build(kernel)
            ridges, cells = zip(*found.pop(kernel), strict=True)
            for cell, model in zip(cells, ridge_path(gram, targets, ridges, weights), strict=True):
                yield cell, _expansion(model.coefficients, kernel, problem)
        for cells in found.values():
            for _, cell in cells:
                yield cell, clone(self).set_params(**cell).fit(problem)

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the kernel matrix, of its factor and of copies on the way."""
        return 28.0 * n_rows**2

    def _kernel(self, problem: Problem) -> Kernel:
        return problem.kernel(self.kernel, self.gamma, self.degree, self.coef0)

    def _check_size(self, problem: Problem) -> None:
        if self.pairwise and problem.X.shape[1] != problem.n_rows:
            raise DataError(f"krr: a precomputed kernel must be square, got {problem.X.shape}")
        if problem.n_rows > self.max_rows:
            raise DataError(
                f"krr was given a part of {problem.n_rows} rows, but max_rows is {self.max_rows}; "
                "divide finer, or raise max_rows if the memory allows"
            )


def _expansion(duals: FloatArray, kernel: Kernel, problem: Problem) -> KernelExpansion:
    rows = np.arange(problem.n_rows)
    points = rows if kernel.kind == "precomputed" else problem.X
    return KernelExpansion(points, duals, np.zeros(duals.shape[1]), kernel, rows)


def _solve(gram: FloatArray, targets: FloatArray) -> Any:
    try:
        return scipy.linalg.solve(gram, targets, assume_a="pos")
    except scipy.linalg.LinAlgError:
        return scipy.linalg.lstsq(gram, targets)[0]
