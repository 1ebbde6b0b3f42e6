"""Ordered classes: one binary task for each step of the order."""

import numpy as np

from dcsvm import Decomposer, Part, Problem, Task, component
from dcsvm.toolbox import Stages


@component
class Ordinal(Decomposer):
    """For classes with an order, such as grades: is a row above this step of the order?

    K classes take K - 1 parts, each of all rows. The order is that of the labels: numbers by size,
    texts by the alphabet. With `decode`, a class wins by its thermometer code, so a single wrong
    answer leads to a neighbouring class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("ordinal", "kernel_svm", "decode").fit(X, y)
    >>> clf.model_.committee.code.toarray().tolist()
    [[-1, 1, 1], [-1, -1, 1]]

    References
    ----------
    Frank, Hall: A simple approach to ordinal classification (2001).
    """

    name = "ordinal"
    yields = frozenset({"class codes"})
    rows_held = 0.0

    def divide(self, problem: Problem) -> Stages:
        present = np.unique(problem.y).tolist()
        everyone = np.arange(problem.n_rows)
        yield [
            Part(everyone, task=Task(tuple(present[step:]), tuple(present[:step])))
            for step in range(1, len(present))
        ]
        return None
