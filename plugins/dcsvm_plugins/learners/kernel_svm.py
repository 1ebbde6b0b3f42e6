"""The kernel support vector machine."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.svm import SVC

from dcsvm import KernelExpansion, LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import Kernel, kernel_of


@component
class KernelSVM(LocalLearner):
    """The soft-margin support vector machine with a kernel, one against one for several classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = build("learner", "kernel_svm", C=10.0, gamma=0.5)
    >>> DivideAndConquerClassifier("whole", svm, "route").fit(X, y).score(X, y) > 0.95
    True

    References
    ----------
    Cortes, Vapnik: Support-vector networks (1995). Solved by libsvm: Chang, Lin (2011).
    """

    name = "kernel_svm"

    C: float = setting(1.0, above=0, help="how much a row inside the margin costs")
    kernel: Literal["rbf", "linear", "poly", "sigmoid", "precomputed"] | Callable[..., Any] = (
        setting("rbf", help="the kernel, or a function of two matrices")
    )
    gamma: Literal["scale", "auto"] | float = setting(
        "scale", above=0, help="kernel width; 'scale' is 1 / (features * variance)"
    )
    degree: int = setting(3, at_least=1, help="of the polynomial kernel")
    coef0: float = setting(0.0, help="constant of the polynomial and sigmoid kernels")
    tol: float = setting(1e-3, above=0, help="largest violation of optimality to stop at")
    cache_size: float = setting(200.0, above=0, help="megabytes for kernel rows")

    @property
    def pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def fit(self, problem: Problem) -> LocalModel:
        kernel = kernel_of(
            self.kernel, self.gamma, self.degree, self.coef0, problem.X, problem.weights
        )
        machine = SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=kernel.gamma,
            degree=self.degree,
            coef0=self.coef0,
            tol=self.tol,
            cache_size=self.cache_size,
        ).fit(problem.X, problem.y, sample_weight=problem.weights)
        return _expansion(machine, kernel, problem)


def _expansion(machine: SVC, kernel: Kernel, problem: Problem) -> KernelExpansion:
    duals = machine.dual_coef_
    duals = duals.toarray() if hasattr(duals, "toarray") else duals
    support = machine.support_.astype(np.intp)
    return KernelExpansion(
        points=support if kernel.kind == "precomputed" else problem.X[support],
        coefficients=np.ascontiguousarray(duals.T),
        biases=machine.intercept_.copy(),
        kernel=kernel,
        support_rows=support,
        class_sizes=machine.n_support_.astype(np.intp) if problem.n_classes > 2 else None,
    )
