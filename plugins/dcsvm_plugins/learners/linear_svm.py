"""The linear support vector machine."""

import threading
from contextlib import nullcontext
from typing import Literal

import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.toolbox import Hyperplanes

_DRAWING = threading.Lock()


@component
class LinearSVM(LocalLearner):
    """The linear support vector machine, trained by LIBLINEAR, one against the rest.

    Training takes time linear in the rows and features; prediction is one dot product per class.
    It has no support vectors, so it cannot be used where duals are passed on. LIBLINEAR
    regularizes the bias; see `intercept_scaling`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> DivideAndConquerClassifier("whole", "linear_svm", "route").fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR (2008).
    """

    name = "linear_svm"
    keeps_support = False

    # Outside these limits LIBLINEAR's primal solver loses precision and does not stop.
    C: float = setting(1.0, at_least=1e-12, at_most=1e12, help="cost of margin violations")
    loss: Literal["hinge", "squared_hinge"] = setting(
        "squared_hinge", help="loss of a margin violation"
    )
    intercept_scaling: float = setting(
        1.0,
        at_least=1e-12,
        at_most=1e12,
        help="the larger, the less the bias is regularized",
    )
    tol: float = setting(1e-4, above=0, help="stopping tolerance")
    max_iterations: int = setting(
        10_000, at_least=1, help="maximum number of passes over the rows"
    )

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return self.loss != "hinge"

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of two copies of the rows, and of what the solver keeps of each."""
        return 16.0 * n_rows * n_features + 120.0 * n_rows

    def fit(self, problem: Problem) -> LocalModel:
        from sklearn.svm import LinearSVC  # slow, and needed here only

        machine = LinearSVC(
            C=self.C,
            loss=self.loss,
            dual=self.loss == "hinge",
            intercept_scaling=self.intercept_scaling,
            tol=self.tol,
            max_iter=self.max_iterations,
            random_state=problem.seed.integer(),
        )
        # LIBLINEAR's dual solver, the only one for this loss, draws from one stream of random
        # numbers per process: two fits at a time would take numbers from each other.
        with _DRAWING if self.loss == "hinge" else nullcontext():
            machine.fit(problem.X, problem.y, sample_weight=problem.weights)
        return Hyperplanes(np.ascontiguousarray(machine.coef_.T), machine.intercept_)
