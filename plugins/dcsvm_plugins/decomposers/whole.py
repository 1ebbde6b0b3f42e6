"""No division: one part with all rows."""

from collections.abc import Iterator

import numpy as np

from dcsvm import Decomposer, Problem, component, part
from dcsvm.toolbox import Level, Stages


@component
class Whole(Decomposer):
    """The whole problem as one part: the undivided model that others are compared to.

    Training costs what the learner costs on all rows; there is no routing.

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
    rows_held = 0.0

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        yield [part(np.arange(problem.n_rows))]
        return None
