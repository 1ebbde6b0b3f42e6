"""No division: the global model that everything is compared to."""

from collections.abc import Iterator

import numpy as np

from dcsvm import Decomposer, Problem, component, part
from dcsvm.toolbox import Level, Stages


@component
class Whole(Decomposer):
    """The whole problem as one part: the undivided model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> len(DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X, y).ledger_)
    1
    """

    name = "whole"
    yields = frozenset({"one part"})

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        yield [part(np.arange(problem.n_rows))]
        return None
