"""One part for each class against all others."""

from collections.abc import Iterator

import numpy as np

from dcsvm import Decomposer, Part, Problem, Task, component
from dcsvm.toolbox import Level, Stages


@component
class ClassRest(Decomposer):
    """One against the rest: a part for each class, with all rows.

    K classes give K parts of the full size, so training costs K times as much as one binary
    problem; prediction asks K members. The parts are unbalanced if there are many classes.
    `argmax` combines the answers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_rest", "linear_svm", "argmax").fit(X, y)
    >>> [record.rows for record in clf.ledger_]
    [150, 150, 150]

    References
    ----------
    Rifkin, Klautau: In defense of one-vs-all classification (2004).
    """

    name = "class_rest"
    yields = frozenset({"class codes"})
    rows_held = 0.0

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
