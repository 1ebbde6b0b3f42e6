"""Kernel ridge regression on class codes, as a classifier."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import linalg

from dcsvm import DataError, KernelExpansion, LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import kernel_of


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

    ridge: float = setting(1.0, above=0, help="how much the norm of the solution costs")
    kernel: (
        Literal["rbf", "linear", "poly", "laplacian", "sigmoid", "trbf", "precomputed"]
        | Callable[..., Any]
    ) = setting("rbf", help="the kernel, or a function of two matrices")
    gamma: Literal["scale", "auto"] | float = setting(
        "scale", above=0, help="kernel width; 'scale' is 1 / (features * variance)"
    )
    degree: int = setting(3, at_least=1, help="of the polynomial kernel, order of trbf")
    coef0: float = setting(0.0, help="constant of the polynomial and sigmoid kernels")
    max_rows: int = setting(
        20_000, at_least=1, help="a part with more rows is refused: its kernel matrix is n x n"
    )

    @property
    def pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def fit(self, problem: Problem) -> LocalModel:
        if problem.n_rows > self.max_rows:
            raise DataError(
                f"krr was given a part of {problem.n_rows} rows, but max_rows is {self.max_rows}; "
                "divide finer, or raise max_rows if the memory allows"
            )
        kernel = kernel_of(
            self.kernel, self.gamma, self.degree, self.coef0, problem.X, problem.weights
        )
        rows = np.arange(problem.n_rows)
        points = rows if kernel.kind == "precomputed" else problem.X
        gram = kernel(problem.X, points)
        weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        gram[rows, rows] += self.ridge / weights
        labels = np.arange(1, 2) if problem.n_classes == 2 else np.arange(problem.n_classes)
        targets = np.where(problem.y[:, None] == labels, 1.0, -1.0)
        duals = _solve(gram, targets)
        return KernelExpansion(points, duals, np.zeros(len(labels)), kernel, rows)


def _solve(gram: Any, targets: Any) -> Any:
    try:
        return linalg.solve(gram, targets, assume_a="pos")
    except linalg.LinAlgError:  # sigmoid and callable kernels need not be positive definite
        return linalg.lstsq(gram, targets)[0]
