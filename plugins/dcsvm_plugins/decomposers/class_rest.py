"""One part for every class, against all others."""

from collections.abc import Iterator

import numpy as np

from dcsvm import Decomposer, Part, Problem, Task, component
from dcsvm.toolbox import Level, Stages


@component
class ClassRest(Decomposer):
    """One part for every class, with all rows: one against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_rest", "linear_svm", "argmax").fit(X, y)
    >>> [record.rows for record in clf.ledger_]
    [150, 150, 150]
    """

    name = "class_rest"
    yields = frozenset({"class codes"})

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        everyone = np.arange(problem.n_rows)
        present = np.unique(problem.y).tolist()
        yield [
            Part(
                everyone, task=Task((label,), tuple(other for other in present if other != label))
            )
            for label in present
        ]
        return None
